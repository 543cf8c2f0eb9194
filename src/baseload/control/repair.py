"""Gives up nodes that have been unwell for too long (disruption and lifecycle spec 24.3; gate NodeRepair)."""

from collections.abc import Iterator
from typing import Final

import msgspec

from baseload.control.controller import Controller
from baseload.control.informer import Transition
from baseload.control.means import Means
from baseload.control.observed import NODE, is_provided
from baseload.decide.lifecycle import repair
from baseload.decide.lifecycle.repair_policies import AWS
from baseload.kube.client.errors import NotFound
from baseload.kube.client.objects import Object
from baseload.kube.types.core import Node
from baseload.values.instant import SECOND
from baseload.values.label import NODEPOOL


class _Condition(msgspec.Struct, rename="camel"):
    type: str = ""
    status: str = ""
    last_transition_time: str = ""


class _Status(msgspec.Struct):
    conditions: list[_Condition] = []


class _Said(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


_read: Final = msgspec.json.Decoder(_Said).decode


class Repair:
    """The controller of nodes that are unwell."""

    def __init__(self, means: Means) -> None:
        self._observed, self._objects, self._events = means.observed, means.objects, means.events
        asked = means.settings.options.repair_policies
        self._clock, self._policies = means.clock, AWS if asked is None else asked
        self.controller: Final = Controller(self._clock, self.reconcile, workers=means.settings.workers)
        means.observed.informer.listen(self._note)

    async def reconcile(self, name: str) -> float | None:
        """Gives a node up, or says when to look again."""
        node = self._observed.node(name)
        claims = self._observed.claims_of(node.spec.provider_id) if node is not None else ()
        if node is None or len(claims) != 1 or not is_provided(claims[0].spec.node_class_ref):
            return None
        [claim] = claims
        at, now = repair.repaired_at(node, self._policies), self._clock.now()
        if at is None or claim.metadata.deletion_timestamp:
            return None
        if now < at:
            return (at - now) / SECOND
        pool = claim.metadata.labels.get(NODEPOOL, "")
        if repair.is_held_back(self._among(pool), self._policies):
            self._events.tell(node, repair.blocked(pool))
            return repair.BLOCKED_AGAIN / SECOND
        try:
            await self._objects.delete(await self._objects.write(claim, repair.made_to_end(claim, now)))
        except NotFound:
            return None
        return None

    def _among(self, pool: str) -> Iterator[Node]:
        """The nodes of a pool, or of the cluster."""
        for node in self._observed.nodes():
            if not pool or node.metadata.labels.get(NODEPOOL) == pool:
                yield node

    def _note(self, change: Transition) -> None:
        if change.kind is NODE and change.after is not None and _said(change.before) != _said(change.after):
            self.controller.queue.add(change.after.metadata.name)


def _said(held: Object | None) -> list[_Condition]:
    if held is None:
        return []
    try:
        return _read(held.raw).status.conditions
    except msgspec.ValidationError:
        return []
