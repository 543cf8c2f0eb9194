"""Web pages are kept out of a server that asks nobody who he is.

A browser on this machine reaches loopback too, on behalf of whatever page it shows. A page whose name is made to point
here (DNS rebinding) sends that name as Host; one that sends across sites says whence it comes in Origin. Requests whose
Host or Origin is another place than this machine are refused. kubectl and client libraries send no Origin.
"""

from typing import Final
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from baseload.embedded.api import answers, status
from baseload.embedded.store.errors import Forbidden

OWN: Final = ("127.0.0.1", "localhost", "::1")
_SHOWN: Final = 100


def of_this_machine(app: ASGIApp) -> ASGIApp:
    """An application that only hears requests meant for this machine, and sent from it."""

    async def heard(scope: Scope, receive: Receive, send: Send) -> None:
        wrong = _foreign(scope) if scope["type"] == "http" else ""
        if not wrong:
            await app(scope, receive, send)
            return
        answer = answers.json(status.failure(Forbidden(wrong)), code=Forbidden.code)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer.body)).encode())]
        await send({"type": "http.response.start", "status": answer.code, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer.body})

    return heard


def _foreign(scope: Scope) -> str:
    """Why a request is refused; nothing where it is not."""
    for name, value in scope["headers"]:
        text = value.decode("latin-1")
        if (name == b"host" and _host(f"//{text}") not in OWN) or (name == b"origin" and _host(text) not in OWN):
            what = name.decode().capitalize()
            return f"{what} {text[:_SHOWN]} is not this machine: without --tls only {', '.join(OWN)} are answered"
    return ""


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
