"""Commands and flags cannot change unnoticed: golden/cli-tree.txt lists them (`pytest --update-golden` writes it)."""

from collections.abc import Iterator
from pathlib import Path

import click

from baseload.cli.main import BASELOAD
from tests.conftest import Golden


def described(parameter: click.Parameter) -> str:
    """One line of the tree: names, type, and what else decides what may be written."""
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if isinstance(parameter, click.Option):
        if parameter.is_flag or parameter.count:
            return f"{names} (repeatable)" if parameter.count else names
        default = f" (default {parameter.default})" if isinstance(parameter.default, str | int | float) else ""
    else:
        default = ""
    kind = (
        "|".join(map(str, parameter.type.choices)) if isinstance(parameter.type, click.Choice) else parameter.type.name
    )
    required = " (required)" if parameter.required else ""
    repeatable = " (repeatable)" if getattr(parameter, "multiple", False) or parameter.nargs == -1 else ""
    return f"{names} {kind}{default}{required}{repeatable}"


def tree(command: click.Command, path: str) -> Iterator[str]:
    yield path
    for parameter in command.params:
        yield f"    {described(parameter)}"
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from tree(child, f"{path} {name}")


def test_the_command_tree_is_the_one_on_record(golden: Golden) -> None:
    text = "".join(f"{line}\n" for line in tree(BASELOAD, "baseload"))

    golden(Path(__file__).with_name("golden") / "cli-tree.txt", text)
