"""Deletes claims that are as old as they may become (disruption and lifecycle spec 24.1).

Nobody is asked: no budget, no pod, no annotation. No replacement is launched before; whoever has no place is planned
for when the node is drained.
"""

from typing import Final

from baseload.control.controller import Controller
from baseload.control.informer import Transition
from baseload.control.means import Means
from baseload.control.observed import CLAIM, is_provided
from baseload.decide.lifecycle import expiration
from baseload.values.instant import SECOND


class Expiration:
    """The controller of age."""

    def __init__(self, means: Means) -> None:
        self._observed, self._objects, self._clock = means.observed, means.objects, means.clock
        self.controller: Final = Controller(self._clock, self.reconcile, workers=means.settings.workers)
        means.observed.informer.listen(self._note)

    async def reconcile(self, name: str) -> float | None:
        """Ends a claim that is too old; when to look again at one that is not."""
        claim = self._observed.claim(name)
        if claim is None or claim.metadata.deletion_timestamp or not is_provided(claim.spec.node_class_ref):
            return None
        at, now = expiration.expires_at(claim), self._clock.now()
        if at is None:
            return None
        if now < at:
            return (at - now) / SECOND
        await self._objects.delete(claim)
        return None

    def _note(self, change: Transition) -> None:
        if change.kind is CLAIM and change.before is None and change.after is not None:
            self.controller.queue.add(change.after.metadata.name)
