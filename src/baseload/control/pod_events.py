"""Notes on claims when something last happened to a pod of their node (disruption and lifecycle spec 4.4).

It counts when a pod is bound, finishes, begins to go or is gone. Pods that are there when the controllers start count
as if they came, as they do with Karpenter: its restart begins the windows of all nodes anew.
"""

from contextlib import suppress
from typing import Final

from baseload.control.controller import Controller
from baseload.control.informer import Transition
from baseload.control.markers import REACTS_AFTER
from baseload.control.means import Means
from baseload.control.observed import POD, POOL, is_provided
from baseload.decide.lifecycle import pod_events
from baseload.kube.client.errors import NotFound
from baseload.kube.client.objects import Object
from baseload.values.label import NODEPOOL

_OVER: Final = ("Succeeded", "Failed")


class PodEvents:
    """The controller of what happens to pods; its keys are nodes."""

    def __init__(self, means: Means) -> None:
        self._observed, self._objects, self._clock = means.observed, means.objects, means.clock
        self._last: dict[str, int] = {}  # node -> the event that is not written yet
        self.controller: Final = Controller(self._clock, self.reconcile, workers=means.settings.workers)
        means.observed.informer.listen(self._note)

    async def reconcile(self, name: str) -> float | None:
        """Notes that something happened on a node, unless something did a moment ago."""
        at = self._last.get(name)
        node = self._observed.node(name)
        claims = self._observed.claims_of(node.spec.provider_id) if node is not None else ()
        if at is None or len(claims) != 1 or not is_provided(claims[0].spec.node_class_ref):
            self._last.pop(name, None)
            return None
        [claim] = claims
        if pod_events.waits(claim, self._observed.pool(claim.metadata.labels.get(NODEPOOL, "")), at):
            return None
        with suppress(NotFound):
            await self._objects.write(claim, pod_events.noted(claim, at))
        if self._last.get(name) == at:
            del self._last[name]
        return None

    def _note(self, change: Transition) -> None:
        if change.kind is POD:
            pod = change.after or change.before
            assert pod is not None
            if pod.node_name and _counts(change.before, change.after) and not _is_daemon(pod):
                self._last[pod.node_name] = self._clock.now()
                self.controller.queue.add(pod.node_name, REACTS_AFTER)
        elif change.kind is POOL and _generation(change.before) != _generation(change.after):
            for node in self._last:  # the pool may have a window now
                self.controller.queue.add(node, REACTS_AFTER)


def _counts(before: Object | None, after: Object | None) -> bool:
    """Whether a pod that is bound was just bound, finished, began to go, came or went."""
    if before is None or after is None:
        return True
    if not before.node_name:
        return True
    if not before.metadata.deletion_timestamp and after.metadata.deletion_timestamp:
        return True
    return before.phase not in _OVER and after.phase in _OVER


def _is_daemon(pod: Object) -> bool:
    return any(it.kind == "DaemonSet" and it.api_version == "apps/v1" for it in pod.metadata.owner_references)


def _generation(held: Object | None) -> int | None:
    return held.metadata.generation if held is not None else None
