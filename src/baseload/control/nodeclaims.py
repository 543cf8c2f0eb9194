"""The life of NodeClaims: launched, registered, initialised, given up where that takes too long, and ended.

What is to be done is decided in `decide.lifecycle`; here it is done, in an order in which being ended between two steps
loses nothing: the finalizer before the launch, the launch by a token, the end of the machine before the finalizer goes.
"""

from typing import Final

from baseload.cloud.errors import CloudError
from baseload.control.controller import Controller
from baseload.control.health import RegistrationHealth
from baseload.control.informer import Transition
from baseload.control.means import Means
from baseload.control.observed import CLAIM, NODE, is_provided, place_of
from baseload.decide.lifecycle import conditions, progress, termination
from baseload.decide.lifecycle.changed import claim_with
from baseload.decide.lifecycle.launch import Refused
from baseload.decide.lifecycle.names import FINALIZER, LAUNCHED, REGISTERED, TERMINATION
from baseload.decide.lifecycle.progress import Machine
from baseload.kube.client.errors import NotFound
from baseload.kube.types.karpenter import NodeClaim
from baseload.plan.lifecycle import Told
from baseload.values.instant import SECOND

RESTS: Final = 1.0
"""Seconds after a write in which a claim is left alone, so that what happens meanwhile is looked at together"""
ASKED_AGAIN: Final = 5.0  # seconds between two looks at a machine that ends


class NodeClaims:
    """The controller of claims."""

    def __init__(self, means: Means, health: RegistrationHealth) -> None:
        self._observed, self._objects, self._instances = means.observed, means.objects, means.instances
        self._events, self._health, self._clock = means.events, health, means.clock
        self._machines: dict[str, Machine] = {}  # uid of a claim -> what was launched and is not written yet
        self.controller: Final = Controller(self._clock, self.reconcile, workers=means.settings.workers)
        means.observed.informer.listen(self._note, CLAIM, NODE)

    async def reconcile(self, name: str) -> float | None:
        """Brings a claim a step further; when to look again."""
        claim = self._observed.claim(name)
        if claim is None or not is_provided(claim.spec.node_class_ref):
            return None
        try:
            if claim.metadata.deletion_timestamp:
                return await self._end(claim)
            return await self._advance(claim)
        except NotFound:
            return None

    async def _advance(self, claim: NodeClaim) -> float | None:
        if progress.needs_finalizer(claim):
            claim = await self._objects.write(
                claim, claim_with(claim, finalizers=(*claim.metadata.finalizers, FINALIZER))
            )
        wanted, retry = claim, None
        if progress.needs_launch(claim):
            outcome = await self._launch(claim)
            if outcome is None:
                return None
            wanted, retry = outcome
        nodes = self._observed.nodes_of(wanted.status.provider_id)
        step = progress.look(wanted, nodes, self._clock.now())
        for told in step.told:
            self._events.tell(claim, told)
        if step.node is not None:
            await self._objects.write(nodes[0], step.node)
        written = await self._write(claim, step.claim)
        if step.deletion:
            await self._give_up(written, step.deletion)
            return None
        if not _is(claim, REGISTERED) and _is(written, REGISTERED):
            await self._health.note(written, success=True)
        if retry is not None:
            raise retry
        return None if step.again is None else step.again / SECOND

    async def _write(self, claim: NodeClaim, wanted: NodeClaim) -> NodeClaim:
        """The claim as it is after that, and left alone for a while where it is another."""
        written = await self._objects.write(claim, wanted)
        if written is not claim:
            self.controller.queue.rest(claim.metadata.name, RESTS)
        if written.status.provider_id:
            self._machines.pop(claim.metadata.uid, None)
        return written

    async def _launch(self, claim: NodeClaim) -> tuple[NodeClaim, CloudError | None] | None:
        """The claim with its machine, or with why it has none yet; None where it was given up."""
        uid, now = claim.metadata.uid, self._clock.now
        machine = self._machines.get(uid)
        if machine is None:
            try:
                found = await self._instances.launch(claim, self._observed.node_class(claim.spec.node_class_ref.name))
            except CloudError as error:
                return progress.launch_failed(claim, *progress.failure(error.code, str(error)), now()), error
            if isinstance(found, Refused):
                return await self._refused(claim, found)
            machine = self._machines[uid] = found
        return progress.launched(claim, machine, now()), None

    async def _refused(self, claim: NodeClaim, refused: Refused) -> tuple[NodeClaim, CloudError] | None:
        if refused.why == "later":
            failed = progress.launch_failed(claim, "NodeClassReadinessUnknown", refused.message, self._clock.now())
            return failed, CloudError(refused.message)
        if refused.why == "insufficient_capacity":
            message = f"NodeClaim {claim.metadata.name} event: {progress.cut(refused.message)}"
            self._events.tell(claim, Told("InsufficientCapacityError", message, "Warning"))
        await self._objects.delete(claim)
        return None

    async def _give_up(self, claim: NodeClaim, reason: str) -> None:
        """Ends a claim that took too long."""
        held = conditions.find(claim.status.conditions, LAUNCHED)
        launched = held is not None and held.status == "True"
        why, message = ("", "") if launched or held is None else (held.reason, held.message)
        await self._health.note(claim, success=False, reason=why, message=message)
        await self._objects.delete(claim)

    async def _end(self, claim: NodeClaim) -> float | None:
        """A claim that is being deleted: its Nodes first, then its machine, then itself."""
        if FINALIZER not in claim.metadata.finalizers:
            return None
        dated = termination.with_deadline(claim)
        if dated is not claim:
            claim = await self._objects.write(claim, dated)
            message = f"All pods will be deleted by {claim.metadata.annotations[TERMINATION]}"
            self._events.tell(claim, Told("TerminationGracePeriodExpiring", message, "Warning"))
        machine = self._machines.get(claim.metadata.uid)
        provider_id = claim.status.provider_id or (machine.provider_id if machine else "")
        nodes = self._observed.nodes_of(provider_id)
        for node in termination.nodes_to_delete(claim, nodes):
            await self._objects.delete(node)
        if termination.awaits_nodes(claim, nodes):
            return None
        if provider_id:
            is_over = await self._instances.end(provider_id)
            claim = await self._objects.write(claim, termination.terminating(claim, self._clock.now()))
            if not is_over:
                return ASKED_AGAIN
        await self._objects.write(claim, termination.released(claim))
        self._machines.pop(claim.metadata.uid, None)
        return None

    def _note(self, change: Transition) -> None:
        if change.kind is CLAIM:
            if change.after is not None:
                self.controller.queue.add(change.after.metadata.name)
        elif change.kind is NODE:
            for held in {place_of(NODE, change.before): None, place_of(NODE, change.after): None}:
                for claim in self._observed.claims_of(held):
                    self.controller.queue.add(claim.metadata.name)


def _is(claim: NodeClaim, type: str) -> bool:
    return conditions.is_true(claim.status.conditions, type)
