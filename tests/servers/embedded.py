"""The embedded server on a port of its own, for a test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, ClassVar

from baseload.embedded import server
from baseload.embedded.api import verbs
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.identity import Identity
from baseload.world import embedded, kubeconfig, tls
from tests.embedded.clock import Standing


@dataclass(frozen=True, slots=True)
class Embedded:
    """A server of this program; its clock stands, so that ages are the same in every run."""

    address: str
    clock: Standing
    admission: kubeconfig.Admission | None = None

    is_real: ClassVar[bool] = False

    def write_kubeconfig(self, file: Path) -> None:
        kubeconfig.write(file, self.address, self.admission)

    @property
    def headers(self) -> dict[str, str]:
        return {}

    def connect(self) -> HTTPConnection:
        return HTTPConnection(self.address.removeprefix("http://"), timeout=20)


def definitions() -> list[dict[str, Any]]:
    """The definitions of custom resources that a new server has."""
    world = embedded.build(None, None, clock=Standing())
    kind = world.cluster.kinds.named("apiextensions.k8s.io", "CustomResourceDefinition")
    assert kind is not None
    return [_definition(verbs.tree_of(record)) for record in world.cluster.store.list(kind.resource).records]


def objects(group: str) -> list[dict[str, Any]]:
    """The objects of an API group that a new server has."""
    world = embedded.build(None, None, clock=Standing())
    kinds = [kind for kind in world.cluster.kinds if kind.is_stored and kind.resource.group == group]
    return [verbs.tree_of(record) for kind in kinds for record in world.cluster.store.list(kind.resource).records]


def _definition(tree: dict[str, Any]) -> dict[str, Any]:
    """The definition as a user would write it."""
    name = tree["metadata"]["name"]
    return {"apiVersion": tree["apiVersion"], "kind": tree["kind"], "metadata": {"name": name}, "spec": tree["spec"]}


@contextmanager
def running(keys: Path | None = None, tokens: dict[str, Identity] | None = None) -> Iterator[Embedded]:
    """A new server that answers; with a folder for its keys, over TLS, and with those static tokens."""
    clock = Standing()
    world = embedded.build(None, None, clock=clock, tokens=tokens)
    secured = tls.prepare(keys) if keys is not None else None
    try:
        with answering(world.cluster, files=secured.files if secured is not None else None) as address:
            yield Embedded(address, clock, secured.admission if secured is not None else None)
    finally:
        world.close()


@contextmanager
def answering(cluster: Cluster, port: int = 0, *, files: server.Tls | None = None) -> Iterator[str]:
    """The address of a server before a cluster; with files for it, over TLS."""
    listener = server.listening(port)
    answers = threading.Event()
    stops: list[server.Stop] = []

    def started(stop: server.Stop) -> None:
        stops.append(stop)
        answers.set()

    thread = threading.Thread(target=server.serve, args=(cluster, listener, started), kwargs={"tls": files})
    thread.start()
    assert answers.wait(20)
    try:
        yield f"http{'s' if files else ''}://{server.LOOPBACK}:{listener.getsockname()[1]}"
    finally:
        for stop in stops:
            stop()
        thread.join(20)
    assert not thread.is_alive()
