"""The embedded API on a loopback port, from the first answer to a clean stop."""

import asyncio
import logging
import resource
import signal
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from types import FrameType
from typing import Any, Final

import uvicorn

from baseload.embedded import connection, hosts
from baseload.embedded.api.app import Api, Committed
from baseload.embedded.api.authenticate import Credentials, everybody
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.watch import Closing
from baseload.embedded.connection import Limits
from baseload.embedded.store.ports import Clock
from baseload.embedded.store.turns import Turns

LOOPBACK: Final = "127.0.0.1"
DEFAULT: Final = Limits()
_OTHER_FILES: Final = 100  # what a server has open beside connections: the store, libraries, pipes
_GRACE: Final = 3  # seconds that open requests have left when the server stops


def listening(port: int) -> socket.socket:
    """A socket that listens on loopback; 0 is a free port. OSError where the port is taken."""
    # The protocol is named because asyncio turns Nagle's delay off only where it is.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    """A server that lets go of its watches when it is told to stop, and tells when it answers."""

    def __init__(self, config: uvicorn.Config, closing: Closing, clock: Clock, answers: Callable[[], None]) -> None:
        super().__init__(config)
        self._closing, self._clock, self._answers = closing, clock, answers

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._answers()

    async def on_tick(self, counter: int) -> bool:
        """Has answers carry the cluster's time as their Date, whatever time this machine has."""
        is_over = await super().on_tick(counter)
        date = formatdate(self._clock.now() // 10**9, usegmt=True).encode()
        self.server_state.default_headers = [(b"date", date), *self.config.encoded_headers]
        return is_over

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stop(force=self.should_exit and sig == signal.SIGINT)

    def stop(self, *, force: bool = False) -> None:
        """Ends the serving; with `force` without waiting for anybody."""
        self.should_exit, self.force_exit = True, self.force_exit or force
        self._closing.set()


Stop = Callable[[], object]
Alongside = Callable[[Committed], Coroutine[Any, Any, None]]
"""Makes what is to run beside the API, from the way to wait until a write is durable"""


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of a server that speaks TLS, and asks its clients who they are."""

    certificate: Path
    key: Path
    authority: Path


def serve(
    cluster: Cluster,
    listener: socket.socket,
    started: Callable[[Stop], None],
    limits: Limits = DEFAULT,
    *,
    tls: Tls | None = None,
    alongside: Alongside | None = None,
) -> None:
    """Serves until a signal, or until `started`'s argument is called in this thread's loop.

    `alongside` runs in the same loop meanwhile; where it fails, the serving ends and its error is raised.
    Broken where the disk refused a commit: what was answered before is kept, and nobody is served after it.
    """
    make_room(limits.connections)
    asyncio.run(_serve(cluster, listener, started, limits, tls, alongside))


def make_room(connections: int) -> None:
    """Lets this process have as many files open as that many connections need, as far as it may."""
    wanted = connections + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _serve(
    cluster: Cluster,
    listener: socket.socket,
    started: Callable[[Stop], None],
    limits: Limits,
    tls: Tls | None,
    alongside: Alongside | None,
) -> None:
    loop = asyncio.get_running_loop()
    closing = Closing()
    turns = Turns(cluster.store, lambda: server.stop())
    api = Api(cluster, closing, turns.committed, authenticate=Credentials(cluster.tokens) if tls else everybody)
    config = uvicorn.Config(
        api if tls else hosts.of_this_machine(api),
        log_config=None,
        log_level=logging.ERROR,
        access_log=False,
        lifespan="off",
        http=connection.within(limits),
        ws="none",
        server_header=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_GRACE,
        limit_concurrency=None,
        h11_max_incomplete_event_size=64 * 1024,
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=tls.key if tls else None,
        ssl_ca_certs=str(tls.authority) if tls else None,
        ssl_cert_reqs=ssl.CERT_OPTIONAL if tls else ssl.CERT_NONE,
    )
    server = _Server(config, closing, cluster.clock, lambda: started(lambda: loop.call_soon_threadsafe(server.stop)))
    _stop_with_terminal(loop, server)
    try:
        async with _beside(alongside(turns.committed) if alongside else None, server.stop):
            await server.serve([listener])
    finally:
        turns.close()


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None] | None, failed: Callable[[], None]) -> AsyncIterator[None]:
    """Has something run meanwhile; its error is raised at the end, which it brings about by `failed`."""
    if work is None:
        yield
        return
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _: failed())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _stop_with_terminal(loop: asyncio.AbstractEventLoop, server: _Server) -> None:
    """Ends the serving cleanly when the terminal goes, unless this process was started to outlive it (nohup)."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        loop.add_signal_handler(signal.SIGHUP, server.stop)
