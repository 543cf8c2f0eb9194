"""Host ports: two pods on one node must not listen on the same address, port and protocol (provisioning spec 15)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_UNSPECIFIED: Final = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class HostPort:
    ip: str
    port: int
    protocol: str

    def clashes(self, other: "HostPort") -> bool:
        if self.port != other.port or self.protocol != other.protocol:
            return False
        return self.ip == other.ip or self.ip in _UNSPECIFIED or other.ip in _UNSPECIFIED

    def __str__(self) -> str:
        return f"{self.ip}:{self.port}/{self.protocol}"


def clash(wanted: Iterable[HostPort], used: Iterable[HostPort]) -> HostPort | None:
    """The first wanted port that is taken."""
    held = tuple(used)
    return next((port for port in wanted if any(port.clashes(other) for other in held)), None)
