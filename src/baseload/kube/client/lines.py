"""Lines out of pieces: each whole, none beyond a bound."""

from collections.abc import Iterator
from typing import Final

from baseload.kube.client.errors import ServerFailed

LONGEST: Final = 16 * 1024 * 1024  # bytes; etcd takes objects of about a tenth of that


class Splitter:
    """Takes pieces, gives lines; what is no whole line yet stays for the next piece."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._rest: list[bytes] = []
        self._size = 0

    def take(self, piece: bytes) -> Iterator[bytes]:
        """The lines that a piece completes; empty ones are left out."""
        *whole, rest = piece.split(b"\n")
        for line in whole:
            if self._rest:
                self._rest.append(line)
                line = b"".join(self._rest)
                self._rest, self._size = [], 0
            if line.strip():
                yield line
        if rest:
            self._rest.append(rest)
            self._size += len(rest)
            if self._size > self._longest:
                raise ServerFailed(f"a watch sent a line of more than {self._longest} bytes")

    @property
    def is_between_lines(self) -> bool:
        """Whether the last line was whole."""
        return not self._size
