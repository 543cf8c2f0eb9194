"""One client's connection: how long it may take to ask, and what it hears when what it sends is no HTTP.

uvicorn waits for a request for as long as a client likes to take. Here a request's head must be there soon after its
first byte (or after the connection was made), and its body soon after the head, each by one deadline that no trickle
of bytes puts off. Whoever misses it, sends what cannot be read, or comes when there is no room, gets a Status and an
end. What he still sends is dropped for a moment, since a connection closed on unread bytes loses its last answer.
"""

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from baseload.embedded.api import authenticate

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

_REASONS: Final = {
    400: "BadRequest",
    408: "Timeout",
    431: "RequestHeaderFieldsTooLarge",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}
_SLOW_HEAD: Final = "the request's headers did not arrive in time"
_SLOW_BODY: Final = "the request's body did not arrive in time"
_FULL: Final = "the server has as many connections as it takes: try again later"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a client may take."""

    head: float = 10  # seconds until a request's head is there
    body: float = 60  # seconds from there until its body is
    linger: float = 2  # seconds in which what comes after a refusal is dropped
    connections: int = 5_000  # at once; a further one is refused


class Connection(H11Protocol):
    """A connection with deadlines; `limits` is a class's, see `within`."""

    limits = Limits()

    def __init__(
        self,
        config: "Config",
        server_state: "ServerState",
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadline: asyncio.TimerHandle | None = None
        self._awaited: type[h11.SEND_BODY] | type[h11.IDLE] | None = None  # what the deadline is for
        self._is_refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]  # asyncio's own way to say it
        identity = authenticate.of_certificate(transport.get_extra_info("ssl_object"))
        if identity is not None:
            self.app = authenticate.introduced(self.app, identity)
        if len(self.connections) > self.limits.connections:
            self._refuse(503, _FULL)
        else:
            self._expect(h11.IDLE)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_refused:
            super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        if self._is_refused or self.transport.is_closing():
            return
        theirs = self.conn.their_state
        if theirs is h11.IDLE:
            # Between two requests uvicorn's own time for idle connections runs, until the next one begins.
            self._expect(h11.IDLE if self.conn.trailing_data[0] else None)
        else:
            self._expect(h11.SEND_BODY if theirs is h11.SEND_BODY else None)

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn while it handles the error of the reader: that knows better what is wrong."""
        error = sys.exception()
        code = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        self._refuse(code, f"{msg.removesuffix('.')}: {error}" if error else msg)

    def _expect(self, what: "type[h11.SEND_BODY] | type[h11.IDLE] | None") -> None:
        """Sets the deadline for what the client sends next; one that runs already goes on."""
        if what is self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited, self._deadline = what, None
        if what is h11.IDLE:
            self._deadline = self.loop.call_later(self.limits.head, self._refuse, 408, _SLOW_HEAD)
        elif what is h11.SEND_BODY:
            self._deadline = self.loop.call_later(self.limits.body, self._refuse, 408, _SLOW_BODY)

    def _refuse(self, code: int, why: str) -> None:
        """Answers with a Status, where no answer has begun, and ends the connection."""
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        self._expect(None)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._say(code, why)
            if self.transport.can_write_eof():
                self.transport.write_eof()
                self.flow.resume_reading()
                self.loop.call_later(self.limits.linger, self.transport.close)
            else:
                self.transport.close()
        else:
            self.transport.close()
        self._abandon()

    def _abandon(self) -> None:
        """Tells a request that is being worked on that nobody waits for its answer."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()

    def _say(self, code: int, why: str) -> None:
        told = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": why,
            "reason": _REASONS.get(code, "BadRequest"),
            "code": code,
        }
        body = msgspec.json.encode(told)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if code == 503:
            headers.append((b"retry-after", b"1"))
        events: list[h11.Event] = [
            h11.Response(status_code=code, headers=[*headers, (b"connection", b"close")]),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ]
        for event in events:
            self.transport.write(self.conn.send(event) or b"")


def within(limits: Limits) -> type[Connection]:
    """Connections with these limits."""
    return type("Connection", (Connection,), {"limits": limits})
