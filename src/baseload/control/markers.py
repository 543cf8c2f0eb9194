"""Marks claims for disruption: that they drifted, that they may be consolidated (disruption and lifecycle spec 4).

A claim is looked at when it changes, or its pool or its NodeClass, and when the window of its node ends. Every 5
minutes all are held against what the cloud has by now. One is written where its marks are not as they should be.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from baseload.act.offerings import Offerings
from baseload.act.placements import Placements
from baseload.control.controller import Controller, every
from baseload.control.informer import Transition
from baseload.control.means import Means
from baseload.control.observed import CLAIM, CLASS, POOL, is_provided
from baseload.decide.lifecycle import conditions, markers
from baseload.decide.lifecycle.drift import TRUSTED, Known, Verdicts
from baseload.decide.lifecycle.launch import Choice
from baseload.decide.lifecycle.names import INITIALIZED
from baseload.kube.client.errors import NotFound
from baseload.kube.client.objects import Object
from baseload.kube.types.ec2 import AMI, EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim
from baseload.values.instant import SECOND
from baseload.values.label import NODEPOOL

LOOKS_EVERY: Final = 300.0
REACTS_AFTER: Final = 0.05
"""Seconds until a change is looked at, so that those that come together are looked at together"""


class Markers:
    """The controller of what claims are marked with."""

    def __init__(self, means: Means, offerings: Offerings, placements: Placements) -> None:
        self._observed, self._objects, self._clock = means.observed, means.objects, means.clock
        self._offerings, self._placements = offerings, placements
        self._verdicts = Verdicts()
        self._images: dict[str, tuple[Choice, tuple[AMI, ...], Mapping[str, str]]] = {}
        self.controller: Final = Controller(self._clock, self.reconcile, workers=means.settings.workers)
        means.observed.informer.listen(self._note)

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(self.controller.run(), every(self._clock, lambda: LOOKS_EVERY, self._look))

    async def reconcile(self, name: str) -> float | None:
        """Brings the marks of a claim up to date; when to look again."""
        claim = self._observed.claim(name)
        if claim is None or claim.metadata.deletion_timestamp or not is_provided(claim.spec.node_class_ref):
            return None
        pool = self._observed.pool(claim.metadata.labels.get(NODEPOOL, ""))
        if pool is None:
            return None
        known = await self._known(claim) if claim.status.provider_id else Known()
        now = self._clock.now()
        step = markers.marked(claim, pool, self._verdicts.reason(claim, pool, known, now), now)
        try:
            await self._objects.write(claim, step.claim)
        except NotFound:
            return None
        return None if step.again is None else step.again / SECOND

    async def _look(self) -> None:
        """Has those claims looked at that drifted by what the cloud has, or do so no longer."""
        for claim in self._observed.claims():
            pool = self._observed.pool(claim.metadata.labels.get(NODEPOOL, ""))
            if pool is None or claim.metadata.deletion_timestamp or not claim.status.provider_id:
                continue
            known, now = await self._known(claim), self._clock.now()
            if not markers.says(claim, self._verdicts.reason(claim, pool, known, now)):
                self.controller.queue.add(claim.metadata.name)

    async def _known(self, claim: NodeClaim) -> Known:
        node_class = self._observed.node_class(claim.spec.node_class_ref.name)
        if node_class is None:
            return Known()
        choice = await self._offerings.choice(node_class, no_older_than=TRUSTED)
        # While it boots nobody asks the cloud where it stands: it was launched a moment ago, and may not be seen yet.
        is_up = conditions.is_true(claim.status.conditions, INITIALIZED)
        machine = await self._placements.of(claim.status.provider_id) if is_up else None
        return Known(choice.table, node_class, self._images_of(choice, node_class), machine)

    def _images_of(self, choice: Choice, node_class: EC2NodeClass) -> Mapping[str, str]:
        """What each type is started from; the same mapping while nothing changed."""
        name, amis = node_class.metadata.name, node_class.status.amis
        held = self._images.get(name)
        if held is None or held[0] is not choice or held[1] != amis:
            images: Mapping[str, str] = choice.images(amis)
            if held is not None and held[2] == images:
                images = held[2]
            held = self._images[name] = choice, amis, images
        return held[2]

    def _note(self, change: Transition) -> None:
        if change.kind is CLAIM:
            if change.after is not None:
                self.controller.queue.add(change.after.metadata.name, REACTS_AFTER)
            elif change.before is not None:
                self._verdicts.forget(change.before.metadata.uid)
        elif change.kind is POOL and change.after is not None and _says_something_else(change.before, change.after):
            name = change.after.metadata.name
            self._add(claim for claim in self._observed.claims() if claim.metadata.labels.get(NODEPOOL) == name)
        elif change.kind is CLASS and change.after is not None:
            name = change.after.metadata.name
            self._add(claim for claim in self._observed.claims() if claim.spec.node_class_ref.name == name)

    def _add(self, claims: Iterable[NodeClaim]) -> None:
        for claim in claims:
            self.controller.queue.add(claim.metadata.name, REACTS_AFTER)


def _says_something_else(before: Object | None, after: Object) -> bool:
    """Whether more of a pool changed than its status."""
    if before is None:
        return True
    one, other = before.metadata, after.metadata
    return one.generation != other.generation or one.annotations != other.annotations
