"""While something long goes on, a terminal says what; nobody else sees it."""

import io
import sys

import pytest

from baseload.cli.inputs import progress
from baseload.cli.main import main


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_says_what_goes_on_and_is_clean_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")

    with progress("planning"):
        assert terminal.getvalue().endswith("planning …")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_the_line_is_gone_after_a_fault_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")

    with pytest.raises(RuntimeError), progress("planning"):
        raise RuntimeError
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_pipe_sees_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("planning"):
        pass

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("flag", ["-f", "--catalog", "--options", "--region"])
def test_a_flag_of_an_unset_shell_variable_is_wrong_usage(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "provision", "-f", ".", flag, ""]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.endswith("is empty\n")


def test_options_are_not_read_from_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "provision", "-f", "/dev/null", "--options", "-"]) == 2
    assert capsys.readouterr().err.splitlines()[0] == "-: no such file or folder"
