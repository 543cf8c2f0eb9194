"""Notes on claims when something last happened to a pod of their node (disruption and lifecycle spec 4.4).

It counts when a pod is bound, finishes, begins to go or is gone. Pods that are there when the controllers start count
as if they came, as they do with Karpenter: its restart begins the windows of all nodes anew.
"""

from typing import Final

from baseload.control.controller import Controller
from baseload.control.informer import Transition
from baseload.control.markers import REACTS_AFTER
from baseload.control.means import Means
from baseload.control.observed import POD, is_provided
from baseload.decide.lifecycle import pod_events
from baseload.kube.client.errors import NotFound
from baseload.kube.client.objects import Object

_OVER: Final = ("Succeeded", "Failed")


class PodEvents:
    """The controller of what happens to pods; its keys are nodes."""

    def __init__(self, means: Means) -> None:
        self._observed, self._objects, self._clock = means.observed, means.objects, means.clock
        self.controller: Final = Controller(self._clock, self.reconcile, workers=means.settings.workers)
        means.observed.informer.listen(self._note)

    async def reconcile(self, name: str) -> float | None:
        """Notes that something happened on a node, unless something did a moment ago."""
        node = self._observed.node(name)
        claims = self._observed.claims_of(node.spec.provider_id) if node is not None else ()
        if len(claims) != 1 or not is_provided(claims[0].spec.node_class_ref):
            return None
        try:
            await self._objects.write(claims[0], pod_events.noted(claims[0], self._clock.now()))
        except NotFound:
            return None
        return None

    def _note(self, change: Transition) -> None:
        if change.kind is not POD:
            return
        pod = change.after or change.before
        assert pod is not None
        if pod.node_name and _counts(change.before, change.after) and not _is_daemon(pod):
            self.controller.queue.add(pod.node_name, REACTS_AFTER)


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
