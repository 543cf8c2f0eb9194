"""A terminal that shows a picture until its user has seen enough, and is as it was afterwards.

The picture stands on the terminal's second screen, and keys are read one by one meanwhile. `q`, Ctrl-C, SIGTERM and a
terminal that goes away end it; Ctrl-Z gives the terminal back for a while; another size is heeded at once.
"""

import asyncio
import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from baseload.report.overview import Line

Picture = Callable[[int, int], list[Line]]
"""(width, height) -> the lines to show"""
_ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def is_there() -> bool:
    """Whether the output goes to a terminal that can be written anew."""
    out = sys.__stdout__
    return out is not None and out.isatty() and os.environ.get("TERM", "dumb") != "dumb"


async def show(picture: Picture, *, every: float) -> None:
    """Shows pictures, one each so many seconds, until it is ended by the user."""
    assert sys.__stdout__ is not None
    console = Console(file=sys.__stdout__, highlight=False)
    live = Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
    keyboard = _Keyboard()
    events = _Events(live, keyboard)
    with keyboard.taken(events.pressed), events.heard(), live:
        while not events.is_over:
            size = console.size
            live.update(_rendered(picture(size.width, size.height)), refresh=True)
            await events.wait(every)


class _Keyboard:
    """The input, where it is a terminal: keys come at once and are not shown."""

    def __init__(self) -> None:
        keyboard: TextIO | None = sys.__stdin__
        self._number = keyboard.fileno() if keyboard is not None and keyboard.isatty() else None
        self._before = None if self._number is None else termios.tcgetattr(self._number)

    @contextmanager
    def taken(self, pressed: Callable[[bytes], None]) -> Iterator[None]:
        """Hands on what is typed meanwhile."""
        number = self._number
        if number is None:
            yield
            return
        loop = asyncio.get_running_loop()
        loop.add_reader(number, lambda: pressed(_typed(number)))
        self.take()
        try:
            yield
        finally:
            loop.remove_reader(number)
            self.give_back()

    def take(self) -> None:
        if self._number is not None:
            tty.setcbreak(self._number, termios.TCSANOW)

    def give_back(self) -> None:
        """The terminal reads and shows what is typed as it did before."""
        if self._number is not None and self._before is not None:
            termios.tcsetattr(self._number, termios.TCSADRAIN, self._before)


class _Events:
    """What the user does meanwhile."""

    def __init__(self, live: Live, keyboard: _Keyboard) -> None:
        self.is_over = False
        self._live, self._keyboard, self._bell = live, keyboard, asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Waits so long, or until something happens."""
        try:
            async with asyncio.timeout(seconds):
                await self._bell.wait()
        except TimeoutError:
            return
        self._bell.clear()

    def pressed(self, keys: bytes) -> None:
        if b"q" in keys or not keys:  # nothing: the terminal has gone
            self.end()

    def end(self) -> None:
        self.is_over = True
        self._bell.set()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Listens to signals meanwhile."""
        loop = asyncio.get_running_loop()
        handlers: dict[signal.Signals, Callable[[], None]] = dict.fromkeys(_ENDS, self.end)
        handlers[signal.SIGWINCH], handlers[signal.SIGTSTP] = self._bell.set, self._step_aside
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def _step_aside(self) -> None:
        """The shell has the terminal until the user comes back."""
        self._live.stop()
        self._keyboard.give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._keyboard.take()
        self._live.start()
        self._bell.set()


def _typed(number: int) -> bytes:
    try:
        return os.read(number, 1024)
    except OSError:
        return b""


def _rendered(lines: list[Line]) -> Text:
    return Text("\n", no_wrap=True).join(Text.assemble(*line, no_wrap=True) for line in lines)
