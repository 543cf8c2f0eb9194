"""Commands on a terminal, as somebody sees them who sits before it."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Terminal:
    """A terminal on which a command runs."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self._master, self._process = master, process
        self.written = b""

    def until(self, text: str, after: int = 0, seconds: float = 30) -> int:
        """Waits until a text was written; where the next search begins."""
        end = time.monotonic() + seconds
        while text.encode() not in self.written[after:]:
            assert time.monotonic() < end, f"{text!r} never came: {self.written[after:][-2000:]!r}"
            self._read(0.2)
        return self.written.index(text.encode(), after) + 1

    def wait_for(self, holds: Callable[[], bool], seconds: float = 30) -> None:
        """Waits until something holds, and reads on meanwhile."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, "it did not come to that"
            self._read(0.1)

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._process.send_signal(signal.SIGWINCH)

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self._master)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def ended(self) -> int:
        """Waits for the end; the exit status."""
        status = self._process.wait(20)
        while self._read(0.2):
            pass
        return status

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # the other end is closed
            return False
        self.written += piece
        return bool(piece)


@contextmanager
def on_terminal(*arguments: str, columns: int = 130, environment: dict[str, str] | None = None) -> Iterator[Terminal]:
    """A command on a terminal of its own."""
    master, slave = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "baseload", *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**inherited, "TERM": "xterm", **(environment or {})},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    try:
        yield Terminal(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(slave)
        os.close(master)
