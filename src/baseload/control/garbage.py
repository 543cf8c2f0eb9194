"""Garbage both ways, and nodes that are less than their claims were promised: what is looked at now and then."""

from typing import Final

from baseload.control.controller import every
from baseload.control.means import Means
from baseload.control.observed import CLAIM, NODE
from baseload.decide.lifecycle import consistency, garbage
from baseload.decide.lifecycle.garbage import Held
from baseload.kube.client.errors import Conflict
from baseload.values.instant import SECOND

CLAIMS_EVERY: Final = 120.0
FIRST_INSTANCES: Final = 20
"""So many looks at the instances come sooner one after the other, as after a start there may be some left over"""
SOON: Final = 10.0
INSTANCES_EVERY: Final = 120.0


_Seen = tuple[tuple[Held, ...], tuple[int, ...]]
"""The cloud's instances, and how often the cluster's objects changed: where a look found nothing, the next one need not
look at the same"""
NOTHING_SEEN: Final[_Seen] = (), ()


class Garbage:
    """The controller of what has lost its other half."""

    def __init__(self, means: Means) -> None:
        self._observed, self._objects, self._instances = means.observed, means.objects, means.instances
        self._events, self._clock = means.events, means.clock
        self._successes = 0
        self._claims_well, self._instances_well, self._nodes_well = NOTHING_SEEN, NOTHING_SEEN, NOTHING_SEEN
        self._compared: dict[str, tuple[str, str]] = {}  # uid of a claim -> the versions in which all was well

    async def run(self) -> None:
        """Works for ever."""
        clock = self._clock
        await clock.together(
            every(clock, lambda: CLAIMS_EVERY, self.collect_claims),
            every(
                clock, lambda: SOON if self._successes < FIRST_INSTANCES else INSTANCES_EVERY, self.collect_instances
            ),
            every(clock, lambda: consistency.EVERY / SECOND, self.compare),
        )

    async def collect_claims(self) -> None:
        """Deletes registered claims whose machine is gone."""
        claims = self._observed.claims()
        if not claims:
            return
        before = self._observed.changes(CLAIM)
        held = await self._instances.held()
        seen = held, (*before, *self._observed.changes(NODE))
        if seen == self._claims_well:
            return
        nodes = {it.status.provider_id: self._observed.nodes_of(it.status.provider_id) for it in claims}
        lost = garbage.claims_without_instance(claims, nodes, held)
        for claim in lost:
            await self._objects.delete(claim)
        self._claims_well = NOTHING_SEEN if lost else seen

    async def collect_instances(self) -> None:
        """Ends machines that no claim stands for, and deletes their Nodes."""
        held = await self._instances.held()
        seen, now = (held, self._observed.changes(CLAIM)), self._clock.now()
        if seen != self._instances_well:
            lost = garbage.instances_without_claim(held, self._observed.claims(), now)
            for one in lost:
                await self._instances.end(one.provider_id)
                for node in self._observed.nodes_of(one.provider_id):
                    await self._objects.delete(node)
            self._instances_well = NOTHING_SEEN if lost or garbage.any_young(held, now) else seen
        self._successes += 1

    async def compare(self) -> None:
        """Holds initialised nodes against what their claims were promised."""
        seen: _Seen = (), self._observed.changes(CLAIM, NODE)
        if seen == self._nodes_well:
            return
        pairs = 0
        before, self._compared = self._compared, {}
        for claim in self._observed.claims():
            for node in self._observed.nodes_of(claim.status.provider_id)[:1]:
                pairs += 1
                pair = claim.metadata.resource_version, node.metadata.resource_version
                if before.get(claim.metadata.uid) == pair:
                    self._compared[claim.metadata.uid] = pair
                    continue  # both are as they were when nothing was found
                found = consistency.consistency(claim, node, self._clock.now())
                for told in found.told:
                    self._events.tell(claim, told)
                try:
                    await self._objects.write(claim, found.claim)
                except Conflict:
                    continue  # the claim changed; the next look will tell
                if found.claim == claim and not found.told:
                    self._compared[claim.metadata.uid] = pair
        self._nodes_well = seen if len(self._compared) == pairs else NOTHING_SEEN
