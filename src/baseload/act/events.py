"""Events about objects, as Karpenter publishes them and client-go writes them.

An event is kept back while one of the same reason about the same object is recent, and nominations beyond their rate.
What is published waits in a queue of bounded length; one writer takes from it. Equal events are counted in one object.
That one cannot be told stops nobody.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from baseload.decide.lifecycle.conditions import written
from baseload.kube.client.client import Client
from baseload.kube.client.errors import ApiError, NotFound
from baseload.kube.client.port import Resource
from baseload.kube.types.core import Node, Pod
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.plan.lifecycle import Told
from baseload.values.instant import SECOND

EVENTS: Final = Resource("", "v1", "events")
PACE: Final = SECOND // 5
"""Nominations: one in this time (5 a second) …"""
BURST: Final = 10
"""… and so many at once."""
WAITING: Final = 1025
"""So many events wait to be written, as in client-go's broadcaster and before it; further ones are dropped."""
REMEMBERED: Final = 4096  # events that equal ones are counted in, as client-go's cache
_LONG: Final = 3600.0
_VERSIONS: Final[dict[type, tuple[str, str]]] = {
    Node: ("v1", "Node"),
    Pod: ("v1", "Pod"),
    NodeClaim: ("karpenter.sh/v1", "NodeClaim"),
    NodePool: ("karpenter.sh/v1", "NodePool"),
    EC2NodeClass: ("karpenter.k8s.aws/v1", "EC2NodeClass"),
}
About = Node | Pod | NodeClaim | NodePool | EC2NodeClass
_Key = tuple[str, str, str]
"""(uid of the object, reason, message)"""


@dataclass(frozen=True, slots=True)
class _Draft:
    about: About
    told: Told
    at: int


@dataclass(slots=True)
class _Kept:
    """An Event object that equal ones are counted in."""

    namespace: str
    name: str
    count: int


class Events:
    """What one component tells."""

    def __init__(self, client: Client, component: str = "karpenter") -> None:
        self._client, self._component = client, component
        self._quiet: dict[_Key, int] = {}  # until when nothing more is told; most often whatever the message
        self._swept = 0
        self._tokens, self._since = BURST, 0  # nominations that may be told, and since when that is known
        self._waiting: deque[_Draft] = deque()
        self._bell = client.clock.bell()
        self._kept: dict[_Key, _Kept] = {}
        self._count = 0  # keeps the names apart of what is told at one moment

    def tell(self, about: About, told: Told) -> None:
        """Tells it, unless the same was told a moment ago or too much waits to be told."""
        now = self._client.clock.now()
        key = about.metadata.uid, told.reason, told.message if told.each_by_words else ""
        if self._quiet.get(key, 0) > now:
            return
        self._sweep(now)
        if told.quiet:
            self._quiet[key] = now + told.quiet
        if told.is_paced and not self._is_let_through(now):
            return
        if len(self._waiting) < WAITING:
            self._waiting.append(_Draft(about, told, now))
            self._bell.ring()

    async def run(self) -> None:
        """Writes for ever."""
        while True:
            if not self._waiting:
                await self._bell.wait(_LONG)
                continue
            draft = self._waiting.popleft()
            try:
                await self._write(draft)
            except ApiError:
                continue

    def _is_let_through(self, now: int) -> bool:
        back = (now - self._since) // PACE
        if self._tokens + back >= BURST:
            self._tokens, self._since = BURST, now
        else:
            self._tokens, self._since = self._tokens + back, self._since + back * PACE
        if not self._tokens:
            return False
        self._tokens -= 1
        return True

    def _sweep(self, now: int) -> None:
        """Forgets once a minute what is quiet no longer."""
        if now - self._swept >= 60 * SECOND:
            self._swept = now
            self._quiet = {key: until for key, until in self._quiet.items() if until > now}

    async def _write(self, draft: _Draft) -> None:
        told, about = draft.told, draft.about.metadata
        key = about.uid, told.reason, told.message
        kept = self._kept.get(key)
        if kept is not None:
            change = {"count": kept.count + 1, "lastTimestamp": written(draft.at)}
            try:
                await self._client.patch(EVENTS, kept.name, change, kind="merge", namespace=kept.namespace)
            except NotFound:
                del self._kept[key]  # the API server has forgotten it
            else:
                kept.count += 1
                return
        namespace = about.namespace or "default"
        self._count += 1
        name = f"{about.name}.{draft.at + self._count:x}"
        await self._client.create(EVENTS, self._tree(draft, namespace, name), namespace=namespace)
        if len(self._kept) >= REMEMBERED:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = _Kept(namespace, name, 1)

    def _tree(self, draft: _Draft, namespace: str, name: str) -> dict[str, Any]:
        about, told, moment = draft.about.metadata, draft.told, written(draft.at)
        api_version, kind = _VERSIONS[type(draft.about)]
        involved = {"apiVersion": api_version, "kind": kind, "name": about.name, "uid": about.uid}
        if about.namespace:
            involved["namespace"] = about.namespace
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": involved,
            "type": told.type,
            "reason": told.reason,
            "message": told.message,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
