"""Shells complete commands and flags by the script that `baseload completion` prints."""

from pathlib import Path

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


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("baseload plan provision --context ", ["plain,baseload", "plain,prod"]),
        ("baseload plan provision --context p", ["plain,prod"]),
        ("baseload plan provision --kubeconfig other --context ", ["plain,elsewhere"]),
        ("baseload plan provision --kubeconfig none --context ", []),
    ],
)
def test_contexts_of_the_kubeconfig_are_completed(
    words: str,
    completions: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "{apiVersion: v1, kind: Config, contexts: [{name: prod}, {name: baseload}]}"
    (tmp_path / "config").write_text(text)
    (tmp_path / "other").write_text("{contexts: [{name: elsewhere}]}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))

    assert main() == 0
    assert capsys.readouterr().out.split() == completions
