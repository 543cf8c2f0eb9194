"""The end of Nodes: cordoned, drained, their volumes let go of, their machine ended, then released (spec 23.2)."""

from typing import Final

from baseload.act.evict import Evictions
from baseload.control.controller import Controller
from baseload.control.informer import Transition
from baseload.control.means import Means
from baseload.control.observed import CLAIM, NODE, place_of
from baseload.decide.lifecycle import conditions, drain, termination
from baseload.decide.lifecycle.initialization import is_ready
from baseload.decide.lifecycle.launch import CLASS_LABEL
from baseload.decide.lifecycle.names import DRAINED, FINALIZER
from baseload.kube.client.errors import NotFound
from baseload.kube.types.core import Node, PersistentVolumeClaim, Pod
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.view import claim_name
from baseload.plan.lifecycle import Told
from baseload.values import instant

LOOKS: Final = 1.0  # seconds between two looks at a node that is drained
ASKED_AGAIN: Final = 5.0  # seconds between two looks at a machine that ends


class Termination:
    """The controller of Nodes that go away."""

    def __init__(self, means: Means, evictions: Evictions) -> None:
        self._evictions = evictions
        self._observed, self._objects = means.observed, means.objects
        self._instances, self._events = means.instances, means.events
        self._clock = means.clock
        self.controller: Final = Controller(self._clock, self.reconcile, workers=means.settings.workers)
        means.observed.informer.listen(self._note, NODE, CLAIM)

    async def reconcile(self, name: str) -> float | None:
        """Brings a Node a step nearer to its end; when to look again."""
        node = self._observed.node(name)
        if node is None or not node.metadata.deletion_timestamp or FINALIZER not in node.metadata.finalizers:
            return None
        if not termination.is_managed(node, (CLASS_LABEL,)):
            return None
        claims = self._observed.claims_of(node.spec.provider_id)
        claim = claims[0] if len(claims) == 1 else None
        try:
            return await self._end(node, claim)
        except NotFound:
            return ASKED_AGAIN

    async def _end(self, node: Node, claim: NodeClaim | None) -> float | None:
        if claim is not None and not claim.metadata.deletion_timestamp:
            await self._objects.delete(claim)
        if not is_ready(node) and await self._instances.is_gone(node.spec.provider_id):
            await self._release(node)
            return None
        deadline = termination.deadline_of(claim)
        if deadline is not None:
            message = f"All pods will be deleted by {instant.format(deadline)}"
            self._events.tell(node, Told("TerminationGracePeriodExpiring", message, "Warning"))
        node = await self._objects.write(node, termination.cordoned(node))
        after, again = await self._step(node, claim, deadline)
        if claim is not None and after is not None:
            await self._objects.write(claim, after)
        if again is None:
            await self._release(node)
        return again

    async def _step(
        self, node: Node, claim: NodeClaim | None, deadline: int | None
    ) -> tuple[NodeClaim | None, float | None]:
        """The claim after drain, volumes and machine, as far as they go; and when to look again, None at the end."""
        on_node = self._observed.pods_on(node.metadata.name)
        claim, is_drained = self._drain(node, claim, on_node, deadline)
        if not is_drained:
            return claim, LOOKS
        claim, is_detached = self._detach(node, claim, on_node, deadline)
        if not is_detached:
            return claim, LOOKS
        if claim is None:
            return None, None  # its machine is left to the collector of garbage
        is_over = await self._instances.end(node.spec.provider_id)
        return termination.terminating(claim, self._clock.now()), None if is_over else ASKED_AGAIN

    async def _release(self, node: Node) -> None:
        await self._objects.write(node, termination.freed(node))

    def _drain(
        self, node: Node, claim: NodeClaim | None, on_node: tuple[Pod, ...], deadline: int | None
    ) -> tuple[NodeClaim | None, bool]:
        """The claim after a step of the drain, and whether nobody is left."""
        now = self._clock.now()
        step = drain.drain(on_node, deadline, now)
        leaving = (*step.evict, *step.held, *(pod for pod, _ in step.delete))
        self._evictions.add(leaving, node, deadline, termination.eviction_reason(claim))
        is_over = not step.waiting and (claim is None or _is_settled(claim, now))
        if claim is not None:
            claim = termination.draining(claim, is_over=is_over, now=now)
        if step.waiting:
            message = f"Failed to drain node, {step.waiting} pods are waiting to be evicted"
            self._events.tell(node, Told("FailedDraining", message, "Warning"))
        return claim, is_over

    def _detach(
        self, node: Node, claim: NodeClaim | None, on_node: tuple[Pod, ...], deadline: int | None
    ) -> tuple[NodeClaim | None, bool]:
        """The claim after a look at the volumes, and whether they hold the machine no longer."""
        now = self._clock.now()
        attachments = self._observed.attachments()
        pending = termination.attached(attachments, node, on_node, self._volume_claims(on_node), now)
        if claim is not None:
            claim = termination.detaching(claim, pending, deadline, now)
        if pending and (deadline is None or now <= deadline):
            message = f"Awaiting deletion of bound volumeattachments ({termination.listed(pending)})"
            self._events.tell(node, Told("AwaitingVolumeDetachment", message))
            return claim, False
        return claim, True

    def _volume_claims(self, on_node: tuple[Pod, ...]) -> dict[tuple[str, str], PersistentVolumeClaim]:
        found: dict[tuple[str, str], PersistentVolumeClaim] = {}
        for pod in on_node:
            for volume in pod.spec.volumes:
                name = claim_name(pod, volume)
                held = self._observed.volume_claim(pod.metadata.namespace, name) if name else None
                if name and held is not None:
                    found[pod.metadata.namespace, name] = held
        return found

    def _note(self, change: Transition) -> None:
        if change.kind is NODE and change.after is not None and change.after.metadata.deletion_timestamp:
            self.controller.queue.add(change.after.metadata.name)
        elif change.kind is CLAIM:
            for node in self._observed.nodes_of(place_of(CLAIM, change.after)):
                if node.metadata.deletion_timestamp:
                    self.controller.queue.add(node.metadata.name)


def _is_settled(claim: NodeClaim, now: int) -> bool:
    held = claim.status.conditions
    return conditions.is_true(held, DRAINED) or drain.is_settled(conditions.since(held, DRAINED), now)
