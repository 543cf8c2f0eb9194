"""The forceful controllers and the lifecycle, run once before a pass: where their part of a plan comes from.

What they delete is on its way out by the time that the pass looks at the nodes, so a pass plans for its pods. What else
the lifecycle would write (a node that is initialised by now, a mark) is told and left out of the pass, which takes the
conditions of its input as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt import overlay
from baseload.decide.disrupt.forceful import by_provider_id, commands_of, forced, ours
from baseload.decide.lifecycle import drain, markers, progress, termination
from baseload.decide.lifecycle.drift import Known, Verdicts
from baseload.decide.lifecycle.initialization import is_ready
from baseload.decide.lifecycle.launch import Choice
from baseload.decide.lifecycle.names import FINALIZER
from baseload.decide.provision.options import Options
from baseload.decide.provision.pools import PROVIDERS
from baseload.kube.types.core import Node
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.view import View, name_of
from baseload.plan.disrupt import NO_DRAIN, ClaimStep, Command, DrainStep, Offering
from baseload.values.label import NODEPOOL

CLASS_LABELS = tuple(f"{group}/{kind.lower()}" for group, kind in PROVIDERS)


@dataclass(frozen=True, slots=True)
class Stepped:
    """The view after the step, and what it did."""

    view: View
    commands: tuple[Command, ...] = ()
    node_claims: tuple[ClaimStep, ...] = ()
    drain: DrainStep = NO_DRAIN
    unavailable_offerings: tuple[Offering, ...] = ()


def step(view: View, tables: Mapping[str, InstanceTypes], options: Options) -> Stepped:
    """One run of expiry, repair, interruption, garbage collection, liveness and drains."""
    assert options.now is not None
    found = forced(view, options)
    looked = _Looked(view, tables, options.now)
    claims = {claim.metadata.name: claim for claim in ours(view)}
    steps = [looked.step(claim, found.reasons.get(name)) for name, claim in sorted(claims.items())]
    deleted = {it.name for it in steps if it.deleted is not None}
    return Stepped(
        view=_after(view, deleted, options.now),
        commands=commands_of(view, found.reasons, tables, options.now),
        node_claims=tuple(steps),
        drain=_drain(view, options),
        unavailable_offerings=found.offerings,
    )


class _Looked:
    """Claims as the controllers of the lifecycle and the markers leave them."""

    def __init__(self, view: View, tables: Mapping[str, InstanceTypes], now: int) -> None:
        self._nodes, self._tables, self._now = by_provider_id(view), tables, now
        self._pools = {pool.metadata.name: pool for pool in view.node_pools}
        self._classes = {it.metadata.name: it for it in view.node_classes}
        self._verdicts = Verdicts()
        self._images: dict[str, Mapping[str, str]] = {}

    def step(self, claim: NodeClaim, forced: str | None) -> ClaimStep:
        name = claim.metadata.name
        if claim.metadata.deletion_timestamp:
            return ClaimStep(name, None, claim.status.conditions)
        looked = progress.look(claim, self._nodes.get(claim.status.provider_id, ()), self._now)
        pool = self._pools.get(claim.metadata.labels.get(NODEPOOL, ""))
        after = looked.claim
        if pool is not None:
            drifted = self._verdicts.reason(after, pool, self._known(after, pool.metadata.name), self._now)
            after = markers.marked(after, pool, drifted, self._now).claim
        return ClaimStep(name, forced or looked.deletion or None, after.status.conditions)

    def _known(self, claim: NodeClaim, pool: str) -> Known:
        """What manifests tell of the world around a claim; where its machine stands they do not."""
        table, node_class = self._tables.get(pool), self._classes.get(claim.spec.node_class_ref.name)
        if table is None or node_class is None:
            return Known(table, node_class)
        if pool not in self._images:
            self._images[pool] = _images(table, node_class)
        return Known(table, node_class, self._images[pool])


def _images(table: InstanceTypes, node_class: EC2NodeClass) -> Mapping[str, str]:
    return Choice(table).images(node_class.status.amis) if node_class.status.amis else {}


def _after(view: View, deleted: set[str], now: int) -> View:
    """The view without what has gone at once, and with the rest on its way."""
    at_once = {it.metadata.name for it in view.node_claims if it.metadata.name in deleted and not it.status.provider_id}
    if at_once:
        left = tuple(it for it in view.node_claims if it.metadata.name not in at_once)
        view = replace(view, node_claims=left)
    return overlay.deleting(view, deleted - at_once, now)


def _drain(view: View, options: Options) -> DrainStep:
    """The next step of every node that is being deleted."""
    assert options.now is not None
    evict: list[str] = []
    delete: list[tuple[str, int]] = []
    for node in view.nodes:
        if not _is_ending(node):
            continue
        claims = [it for it in view.node_claims if it.status.provider_id == node.spec.provider_id != ""]
        claim = claims[0] if len(claims) == 1 else None
        if not is_ready(node) and _is_gone(node, options):
            continue
        pods = view.pods_on.get(node.metadata.name, ())
        found = drain.drain(pods, termination.deadline_of(claim), options.now)
        evict += map(name_of, found.evict)
        delete += ((name_of(pod), grace) for pod, grace in found.delete)
    return DrainStep(tuple(evict), tuple(delete))


def _is_ending(node: Node) -> bool:
    if not node.metadata.deletion_timestamp or FINALIZER not in node.metadata.finalizers:
        return False
    return termination.is_managed(node, CLASS_LABELS)


def _is_gone(node: Node, options: Options) -> bool:
    """Whether the node's instance is known to be gone, so that nobody waits for its pods."""
    return options.cloud_instances is not None and node.spec.provider_id not in options.cloud_instances
