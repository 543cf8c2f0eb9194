"""Shells complete commands and flags by the script that `baseload completion` prints."""

import pytest

from baseload.cli.main import COMPLETE, main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_calls_baseload_back(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert f"{COMPLETE}={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("baseload pl", ["plain,plan"]),
        ("baseload catalog ", ["plain,list", "plain,show", "plain,compare", "plain,refresh"]),
        ("baseload --ver", ["plain,--version"]),
        ("baseload plan provision -f web", ["file,web"]),
    ],
)
def test_commands_and_flags_are_completed(
    words: str, completions: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))

    assert main() == 0
    assert capsys.readouterr().out.split() == completions
