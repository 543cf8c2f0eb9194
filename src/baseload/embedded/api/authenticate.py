"""Who asks: by a client certificate, by a bearer token, or nobody that is known.

A server without TLS asks nobody: it listens on loopback alone, and whoever reaches it is its administrator.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from baseload.embedded.api.identity import ADMIN, ANONYMOUS, AUTHENTICATED, Identity
from baseload.embedded.api.refusals import Unauthorized
from baseload.embedded.api.tokens import Refused, Tokens

if TYPE_CHECKING:
    import ssl

_PEER: Final = "baseload.peer"
"""The extension of a scope that holds the identity of a client certificate"""
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"

Authenticate = Callable[[Scope], Identity]


def everybody(scope: Scope) -> Identity:
    """Takes everybody for the administrator."""
    return ADMIN


@dataclass(frozen=True, slots=True)
class Credentials:
    """Takes certificates first, then tokens; who shows neither is anonymous."""

    tokens: Tokens

    def __call__(self, scope: Scope) -> Identity:
        peer = scope.get("extensions", {}).get(_PEER)
        if isinstance(peer, Identity):
            return peer
        token = _bearer(scope)
        if not token:
            return ANONYMOUS
        try:
            return self.tokens.identity(token)[0]
        except Refused as error:
            raise Unauthorized("Unauthorized") from error


def of_certificate(connection: "ssl.SSLObject | None") -> Identity | None:
    """Who a client is by the certificate that it showed and the handshake has verified; None without one."""
    told = connection.getpeercert() if connection is not None else None
    if connection is None or not told:
        return None
    subject = cast("tuple[tuple[tuple[str, str], ...], ...]", told.get("subject", ()))
    named = [pair for parts in subject for pair in parts]
    name = next((value for key, value in named if key == "commonName"), "")
    if not name:
        return None
    groups = [value for key, value in named if key == "organizationName"]
    digest = hashlib.sha256(connection.getpeercert(binary_form=True) or b"").hexdigest()
    return Identity(name, (*groups, AUTHENTICATED), extra={_CREDENTIAL: (f"X509SHA256={digest}",)})


def introduced(app: ASGIApp, identity: Identity) -> ASGIApp:
    """An application that is told who its client is."""

    async def told(scope: Scope, receive: Receive, send: Send) -> None:
        extensions = {**scope.get("extensions", {}), _PEER: identity}
        await app({**scope, "extensions": extensions}, receive, send)

    return told


def _bearer(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").strip().partition(" ")
            return token.strip() if scheme.lower() == "bearer" else ""
    return ""
