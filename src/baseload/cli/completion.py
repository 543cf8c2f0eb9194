"""`baseload completion`: the script that makes a shell complete baseload's commands and flags."""

import click
from click.shell_completion import get_completion_class

from baseload.cli import main


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> str:
    """Print the completion script of a shell.

    Load it where the shell starts: `source <(baseload completion bash)` in ~/.bashrc, the same with zsh in ~/.zshrc, or
    `baseload completion fish | source` in ~/.config/fish/config.fish.
    """
    script = get_completion_class(shell)
    assert script is not None, f"click knows no {shell}"
    return script(main.BASELOAD, {}, "baseload", main.COMPLETE).source()
