"""A watch's answer: events as lines, for as long as client and server both want.

A reader is a cursor on the store's log; it reads a bounded number of events, sends them, and waits until the client
has taken them before it reads on. One that stays behind longer than the log reaches is told so (410) and ends. Events
are encoded once for all readers.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
from starlette.types import Receive, Scope, Send

from baseload.embedded.api import status
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.watch import Watch

Frame = Callable[[Event], bytes]

AT_ONCE: Final = 200  # events in one piece of the answer
LONGEST: Final = 3600  # seconds that a watch lasts where the client names no time
BOOKMARK_EVERY: Final = 60  # seconds


class Closing:
    """Tells all watches that the server stops."""

    def __init__(self) -> None:
        self.is_set = False
        self._wakes: set[Callable[[], None]] = set()

    def set(self) -> None:
        self.is_set = True
        for wake in list(self._wakes):
            wake()

    def add(self, wake: Callable[[], None]) -> None:
        self._wakes.add(wake)

    def discard(self, wake: Callable[[], None]) -> None:
        self._wakes.discard(wake)


class Stream:
    """An answer in the making: an ASGI application."""

    def __init__(
        self, watch: Watch, frame: Frame, closing: Closing, *, seconds: int, bookmarks: bool, media_type: str
    ) -> None:
        self._watch, self._frame, self._closing = watch, frame, closing
        self._seconds, self._bookmarks, self._media_type = seconds or LONGEST, bookmarks, media_type

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        bell = asyncio.Event()
        self._closing.add(bell.set)
        gone = asyncio.ensure_future(_disconnected(receive, bell))
        headers = [(b"content-type", self._media_type.encode()), (b"cache-control", b"no-cache, private")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        # An empty piece sends the headers: the client is told that the watch is on before anything happens.
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        end = loop.time() + self._seconds
        try:
            while not (gone.done() or self._closing.is_set or self._watch.is_over or loop.time() >= end):
                bell.clear()
                piece = self._next(bell)
                if piece is not None:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    await asyncio.sleep(0)
                elif not await _rung(bell, min(end - loop.time(), BOOKMARK_EVERY)) and self._bookmarks:
                    await self._mark(send)
        except StatusError as error:
            line = msgspec.json.encode({"type": "ERROR", "object": status.failure(error)}) + b"\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})
        finally:
            self._watch.close()
            self._closing.discard(bell.set)
            gone.cancel()
        await send({"type": "http.response.body", "body": b""})

    def _next(self, bell: asyncio.Event) -> bytes | None:
        """The next piece; None, with the bell hung up, where there is nothing."""
        if self._watch.sleep(bell.set):
            return None
        return b"".join(map(self._frame, self._watch.read(AT_ONCE)))

    async def _mark(self, send: Send) -> None:
        line = self._frame(self._watch.bookmark())
        await send({"type": "http.response.body", "body": line, "more_body": True})


async def _disconnected(receive: Receive, bell: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    bell.set()


async def _rung(bell: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(bell.wait(), seconds)
    except TimeoutError:
        return False
    return True
