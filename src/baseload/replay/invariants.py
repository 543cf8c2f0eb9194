"""What must hold in every life of a cluster, looked at after every change that the API saw.

Five rules: an eviction leaves a PodDisruptionBudget what it wants; no graceful method takes a node with a pod that
do-not-disrupt protects; no NodePool grows beyond its limits by more than the claim that crosses them; whoever is moved
by choice finds a place again; no command ends a node before what replaces it is initialised. Each is worked out anew
from pods, budgets, claims and what a command said that it would do, and from nothing that a controller has counted.

The changes of one moment are gone through in the order of their versions, upon a picture of the pods of its own: so an
eviction is judged by the pods as they were when it was granted.
"""

from operator import attrgetter
from typing import Final

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.api.ledger import Row
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.plan.disrupt import Command
from baseload.replay.claims_held import ClaimsHeld, Faults
from baseload.replay.evictions_held import EvictionsHeld, Pods, is_evicted
from baseload.replay.moves_held import MovesHeld
from baseload.world.living import Living

PRIORITY: Final = 1001
"""After whoever notes what happened"""
_ALL: Final = ("added", "bound", "marked", "spec", "status", "other", "removed")
_TERMINATING: Final = "DisruptionTerminating"
_LONG: Final = 1e9
_version: Final = attrgetter("version")


class _Decided:
    """A command, and the version of what was written before it was decided."""

    __slots__ = ("command", "version")

    def __init__(self, command: Command, version: int) -> None:
        self.command, self.version = command, version


class _Ended:
    """A claim that a command deleted, and the version of that."""

    __slots__ = ("claim", "version")

    def __init__(self, claim: str, version: int) -> None:
        self.claim, self.version = claim, version


class Invariants:
    """Looks at one living cluster; `found` are the faults."""

    def __init__(self, living: Living) -> None:
        self._living = living
        self._bell = living.clock.bell()
        client = ActorClient(living.cluster, "baseload")
        self._client = client
        self._pods = client.subscribe("", "Pod", _ALL, self._bell.ring)
        self._claims = client.subscribe("karpenter.sh", "NodeClaim", _ALL, self._bell.ring)
        self._told: list[_Decided | _Ended] = []
        self._faults = Faults(living.clock)
        self._held = Pods(living.clock)
        self._evictions = EvictionsHeld(client, self._held, self._faults)
        self._moves = MovesHeld(self._held, self._faults)
        self._nodes = ClaimsHeld(client, self._faults)
        self.count = 0
        """Changes that were looked at"""
        living.cluster.events.followers.append(self._followed)
        after = living.disrupted

        def decided(command: Command) -> None:
            self._told.append(_Decided(command, client.store.version))
            self._bell.ring()
            after(command)

        living.disrupted = decided

    @property
    def found(self) -> list[str]:
        return self._faults.found

    async def run(self) -> None:
        """Looks whenever something happened, until the end."""
        self._begin()
        while True:
            self.look()
            await self._bell.wait(_LONG)

    def finish(self) -> None:
        """The run ends now."""
        self.look()

    def look(self) -> None:
        """Goes through what happened since the last time."""
        told, self._told = self._told, []
        happened: list[Event | _Decided | _Ended] = [*self._pods.take(), *self._claims.take(), *told]
        happened.sort(key=_version)  # a stable order: what was told comes after what it was told of
        self.count += len(happened)
        for one in happened:
            if isinstance(one, Event):
                self._hear(one)
            elif isinstance(one, _Decided):
                self._moves.decide(one.command)
                self._nodes.decide(one.command)
            else:
                self._moves.end(one.claim, self._nodes.claim(one.claim))
                self._nodes.end(one.claim)
        self._moves.look()

    def _begin(self) -> None:
        """What is there at the start."""
        self._pods.take(), self._claims.take()
        for record in self._sorted("karpenter.sh", "NodeClaim"):
            self._nodes.meet(record)
        for record in self._sorted("", "Pod"):
            self._held.put(record)

    def _sorted(self, group: str, kind: str) -> list[Record]:
        held = self._client.records(group, kind)
        return [held[key] for key in sorted(held)]

    def _hear(self, event: Event) -> None:
        record = event.record
        if record.resource.kind != "Pod":
            self._nodes.hear(event)
            return
        if is_evicted(event):
            self._evictions.judge(record)
            self._moves.evict(record)
        if event.type == "DELETED":
            self._held.drop(record)
            self._moves.leave(record)
            return
        is_new, is_bound = self._held.put(record)
        if is_new:
            self._moves.come(record)
        if is_bound:
            self._moves.bind(record)

    def _followed(self, row: Row, is_new: bool) -> None:
        if row.reason == _TERMINATING and row.kind == "NodeClaim":
            self._told.append(_Ended(row.name, self._client.store.version))
            self._bell.ring()
