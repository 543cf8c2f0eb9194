"""What a test may ask of a server, whichever it is."""

from http.client import HTTPConnection
from pathlib import Path
from typing import Protocol

from tests.embedded.clock import Standing


class Server(Protocol):
    """A Kubernetes API server that answers."""

    @property
    def is_real(self) -> bool: ...

    @property
    def address(self) -> str: ...

    @property
    def clock(self) -> Standing:
        """The embedded server's time, which a test may move."""
        ...

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        ...

    def connect(self) -> HTTPConnection:
        """A connection of its own."""
        ...

    def write_kubeconfig(self, file: Path) -> None:
        """Writes a kubeconfig in which whoever has it may do everything."""
        ...
