"""What is said to the user beside the output: on stderr, a line each, whatever stands in it.

Names and values of a hostile input may hold line breaks and control characters; a terminal must not obey them. A stderr
that is closed or full takes nothing from the output or the exit status.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click


def say(text: str) -> None:
    """One line."""
    with unheard():
        click.echo(_printable(" ".join(text.splitlines())), err=True)


def show(text: str) -> None:
    """One line of a terminal that the next one replaces; an empty one clears it."""
    with unheard():
        width = shutil.get_terminal_size().columns
        click.echo(f"\r\x1b[K{_printable(text)[: width - 1]}", err=True, nl=False)


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
    """Whether somebody looks on; a stderr that was closed before the start is None."""
    return sys.stderr is not None and sys.stderr.isatty()


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
