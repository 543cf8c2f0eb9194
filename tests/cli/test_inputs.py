"""While something long goes on, a terminal says what; nobody else sees it."""

import io
import sys

import pytest

from baseload.cli.inputs import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_says_what_goes_on_and_is_clean_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    with progress("planning"):
        assert terminal.getvalue().endswith("planning …")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_the_line_is_gone_after_a_fault_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    with pytest.raises(RuntimeError), progress("planning"):
        raise RuntimeError
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_pipe_sees_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("planning"):
        pass

    assert capsys.readouterr() == ("", "")
