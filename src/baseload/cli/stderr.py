"""What is said to the user beside the output: on stderr, a line each, whatever stands in it.

Names and values of a hostile input may hold line breaks and control characters; a terminal must not obey them. A stderr
that is closed or full takes nothing from the output or the exit status.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click

_ERASED = "\r\x1b[K"


class _Shown:
    """The line that a terminal shows at its bottom now."""

    text = ""


def say(text: str) -> None:
    """One line; what is shown at the bottom stays there."""
    with unheard():
        line = _printable(" ".join(text.splitlines()))
        if _Shown.text:
            click.echo(f"{_ERASED}{line}\n{_fitting(_Shown.text)}", err=True, nl=False)
        else:
            click.echo(line, err=True)


def show(text: str) -> None:
    """One line at the bottom of a terminal, which the next one replaces; an empty one clears it."""
    _Shown.text = _printable(text)
    with unheard():
        click.echo(f"{_ERASED}{_fitting(_Shown.text)}", err=True, nl=False)


def _fitting(text: str) -> str:
    """As much as the terminal is wide: a longer line would go on in the next one, and stay there."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        width = 80
    return text[: max(width, 1) - 1] if width else text


@contextmanager
def unheard() -> Iterator[None]:
    """Whatever is said while nobody can hear it is lost, and no error."""
    try:
        yield
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """What is still buffered would fail once more when the interpreter closes the stream: let it go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_terminal() -> bool:
    """Whether somebody looks on, and lines can be replaced; a stderr that was closed before the start is None."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
