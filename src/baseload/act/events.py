"""Events about objects, as Karpenter publishes them: what is told, how often, and how much of it at once.

An event is kept back while one of the same reason about the same object is recent, and nominations beyond their rate.
What is published waits in a queue of bounded length; one writer takes from it (`act.event_objects` where there is an
API to write to). That one cannot be told stops nobody.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final, Protocol

from baseload.kube.client.errors import ApiError
from baseload.kube.types.core import Node, Pod
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.plan.lifecycle import Told
from baseload.values.clock import Clock
from baseload.values.instant import SECOND

PACE: Final = SECOND // 5
"""Nominations: one in this time (5 a second) …"""
BURST: Final = 10
"""… and so many at once."""
WAITING: Final = 1025
"""So many events wait to be written, as in client-go's broadcaster and before it; further ones are dropped."""
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
class Draft:
    """An event that is to be written; `at` is when it was told."""

    about: About
    told: Told
    at: int

    @property
    def named(self) -> tuple[str, str]:
        """(apiVersion, kind) of what it is about"""
        return _VERSIONS[type(self.about)]


class Writer(Protocol):
    """Where events go."""

    async def write(self, draft: Draft) -> None:
        """Makes an Event of it, or counts it in the one of its equals. Raises ApiError where it cannot be."""
        ...


class Events:
    """What one component tells."""

    def __init__(self, clock: Clock, writer: Writer) -> None:
        self._clock, self._writer = clock, writer
        self._quiet: dict[_Key, int] = {}  # until when nothing more is told; most often whatever the message
        self._swept = 0
        self._tokens, self._since = BURST, 0  # nominations that may be told, and since when that is known
        self._waiting: deque[Draft] = deque()
        self._bell = clock.bell()

    def tell(self, about: About, told: Told) -> None:
        """Tells it, unless the same was told a moment ago or too much waits to be told."""
        now = self._clock.now()
        key = about.metadata.uid, told.reason, told.message if told.each_by_words else ""
        if self._quiet.get(key, 0) > now:
            return
        self._sweep(now)
        if told.quiet:
            self._quiet[key] = now + told.quiet
        if told.is_paced and not self._is_let_through(now):
            return
        if len(self._waiting) < WAITING:
            self._waiting.append(Draft(about, told, now))
            self._bell.ring()

    async def run(self) -> None:
        """Writes for ever."""
        while True:
            if not self._waiting:
                await self._bell.wait(_LONG)
                continue
            draft = self._waiting.popleft()
            try:
                await self._writer.write(draft)
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
