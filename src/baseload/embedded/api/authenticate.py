"""Who asks: by a client certificate, by a bearer token, or nobody that is known.

A server without TLS asks nobody: it listens on loopback alone, and whoever reaches it is its administrator.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.types import Scope

from baseload.embedded.api.identity import ADMIN, ANONYMOUS, Identity
from baseload.embedded.api.refusals import Unauthorized
from baseload.embedded.api.tokens import Refused, Tokens

PEER: Final = "baseload.peer"
"""The extension of a scope that holds the identity of a client certificate"""

Authenticate = Callable[[Scope], Identity]


def everybody(scope: Scope) -> Identity:
    """Takes everybody for the administrator."""
    return ADMIN


@dataclass(frozen=True, slots=True)
class Credentials:
    """Takes certificates first, then tokens; who shows neither is anonymous."""

    tokens: Tokens

    def __call__(self, scope: Scope) -> Identity:
        peer = scope.get("extensions", {}).get(PEER)
        if isinstance(peer, Identity):
            return peer
        token = _bearer(scope)
        if not token:
            return ANONYMOUS
        try:
            return self.tokens.identity(token)[0]
        except Refused as error:
            raise Unauthorized("Unauthorized") from error


def _bearer(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").strip().partition(" ")
            return token.strip() if scheme.lower() == "bearer" else ""
    return ""
