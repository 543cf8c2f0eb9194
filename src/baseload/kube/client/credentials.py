"""What a client shows a server to be let in, beside the certificates of a kubeconfig: tokens and passwords."""

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from baseload.values import instant
from baseload.values.clock import Clock
from baseload.values.errors import BadInput, Fault

_FRESH: Final = 60 * instant.SECOND  # how long a token that was read from a file is taken as the one in it


@dataclass(frozen=True, slots=True)
class Credential:
    """The value of an Authorization header, a client certificate with its key, or both."""

    authorization: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)  # PEM
    key: str = field(default="", repr=False)
    expires: int | None = None  # nanoseconds since the epoch


class Credentials(Protocol):
    """Where a credential comes from."""

    async def credential(self, refused: Credential | None = None) -> Credential:
        """The present one; another one, if there is any, than that which the server refused."""
        ...


class Fixed:
    """A credential that stays."""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def credential(self, refused: Credential | None = None) -> Credential:
        return self._credential


class TokenFile:
    """A token in a file that others write anew, as kubelets do."""

    def __init__(self, file: Path, clock: Clock) -> None:
        self._file, self._clock = file, clock
        self._last = Credential()

    async def credential(self, refused: Credential | None = None) -> Credential:
        held, now = self._last, self._clock.now()
        if held is refused or held.expires is None or held.expires <= now:
            self._last = held = Credential(f"Bearer {self._read()}", expires=now + _FRESH)
        return held

    def _read(self) -> str:
        try:
            return self._file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
            raise BadInput([Fault(f"the token cannot be read: {why}", file=str(self._file))]) from error


def bearer(token: str) -> Fixed:
    """A token that stays."""
    return Fixed(Credential(f"Bearer {token}"))


def basic(name: str, password: str) -> Fixed:
    """A name and a password."""
    return Fixed(Credential(f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"))
