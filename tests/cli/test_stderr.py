"""What is said beside the output, and the line that a terminal shows at its bottom."""

import io
import sys

import pytest

from baseload.cli import stderr

ERASED = "\r\x1b[K"


def heard(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is said from now on; within the test, since pytest puts its own stderr in place before it."""
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(stderr._Shown, "text", "")
    return stream


def test_what_is_said_meanwhile_stands_above_the_line_at_the_bottom(monkeypatch: pytest.MonkeyPatch) -> None:
    said = heard(monkeypatch)
    stderr.show("2 nodes")
    stderr.say("a warning")
    stderr.show("3 nodes")
    stderr.show("")
    stderr.say("stopped")
    assert said.getvalue() == (f"{ERASED}2 nodes{ERASED}a warning\n2 nodes{ERASED}3 nodes{ERASED}stopped\n")


def test_the_line_at_the_bottom_is_no_longer_than_the_terminal_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    said = heard(monkeypatch)
    stderr.show("x" * 200)
    assert said.getvalue() == ERASED + "x" * 79


def test_what_a_terminal_would_obey_is_shown_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    said = heard(monkeypatch)
    stderr.show("a\x1b[2Jb")
    stderr.say("one\ntwo\x07")
    assert said.getvalue() == f"{ERASED}a\\x1b[2Jb{ERASED}one two\\x07\na\\x1b[2Jb"


@pytest.mark.parametrize(("term", "is_one"), [("xterm", True), ("dumb", False)])
def test_a_dumb_terminal_gets_no_line_that_changes(monkeypatch: pytest.MonkeyPatch, term: str, is_one: bool) -> None:
    heard(monkeypatch)
    monkeypatch.setenv("TERM", term)
    assert stderr.is_terminal() is is_one
