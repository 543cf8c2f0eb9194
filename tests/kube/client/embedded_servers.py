"""An embedded cluster that answers over HTTP, in a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from baseload.embedded import server
from baseload.embedded.api.cluster import Cluster


@contextmanager
def serving(cluster: Cluster) -> Iterator[str]:
    """The address of a server before a cluster."""
    listener = server.listening(0)
    answers = threading.Event()
    stops: list[server.Stop] = []

    def started(stop: server.Stop) -> None:
        stops.append(stop)
        answers.set()

    thread = threading.Thread(target=server.serve, args=(cluster, listener, started))
    thread.start()
    assert answers.wait(20)
    try:
        yield f"http://{server.LOOPBACK}:{listener.getsockname()[1]}"
    finally:
        for stop in stops:
            stop()
        thread.join(20)
        assert not thread.is_alive()
