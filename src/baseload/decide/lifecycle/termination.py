"""The end of a claim and of its Node: deadlines, marks and what is still attached (spec 23.1, 23.2, 23.6)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle import pods as of_pods
from baseload.decide.lifecycle.changed import claim_saying, claim_with, is_same_taint, node_with, without_finalizer
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.names import (
    DISRUPTED,
    DISRUPTION_REASON,
    DRAINED,
    EXCLUDE_BALANCERS,
    FINALIZER,
    INSTANCE_TERMINATING,
    REGISTERED,
    TERMINATION,
    VOLUMES_DETACHED,
)
from baseload.kube.types.core import Node, PersistentVolumeClaim, Pod
from baseload.kube.types.karpenter import NodeClaim
from baseload.kube.types.storage import VolumeAttachment
from baseload.model.view import claim_name
from baseload.values import duration, instant

EXCLUDED_BY: Final = "karpenter"
FORCEFUL: Final = "Forceful Termination"
LISTED: Final = 5
"""attachments that an event names"""


def deadline_of(claim: NodeClaim | None) -> int | None:
    """The moment after which nothing may hold the node, None where it may take as long as it takes."""
    text = claim.metadata.annotations.get(TERMINATION) if claim else None
    try:
        return instant.parse(text) if text else None
    except instant.InstantError:
        return None


def with_deadline(claim: NodeClaim) -> NodeClaim:
    """A claim that is being deleted, with the end of its grace period; one that has a deadline keeps it."""
    grace = claim.spec.termination_grace_period
    if not grace or TERMINATION in claim.metadata.annotations or not claim.metadata.deletion_timestamp:
        return claim
    end = instant.parse(claim.metadata.deletion_timestamp) + duration.parse(grace)
    return claim_with(claim, annotations={**claim.metadata.annotations, TERMINATION: conditions.written(end)})


def nodes_to_delete(claim: NodeClaim, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The Nodes that go with a claim; those of a claim that never registered are left to the cloud's controller."""
    if not conditions.is_true(claim.status.conditions, REGISTERED):
        return ()
    return tuple(node for node in nodes if not node.metadata.deletion_timestamp)


def awaits_nodes(claim: NodeClaim, nodes: Sequence[Node]) -> bool:
    return bool(nodes) and conditions.is_true(claim.status.conditions, REGISTERED)


def terminating(claim: NodeClaim, now: int) -> NodeClaim:
    """A claim whose instance has been asked to end."""
    return claim_saying(claim, Said(INSTANCE_TERMINATING), now=now)


def released(claim: NodeClaim) -> NodeClaim:
    """A claim that nothing holds any longer."""
    return claim_with(claim, finalizers=without_finalizer(claim.metadata, FINALIZER))


def is_managed(node: Node, class_labels: Sequence[str]) -> bool:
    """Whether a Node is one of this provider's."""
    return any(label in node.metadata.labels for label in class_labels)


def cordoned(node: Node) -> Node:
    """A Node that takes no pods and no traffic any more."""
    others = tuple(t for t in node.spec.taints if t.key != DISRUPTED.key or is_same_taint(t, DISRUPTED))
    taints = others if any(is_same_taint(t, DISRUPTED) for t in others) else (*others, DISRUPTED)
    return node_with(node, taints=taints, labels={**node.metadata.labels, EXCLUDE_BALANCERS: EXCLUDED_BY})


def freed(node: Node) -> Node:
    """A Node that may go."""
    return node_with(node, finalizers=without_finalizer(node.metadata, FINALIZER))


def draining(claim: NodeClaim, *, is_over: bool, now: int) -> NodeClaim:
    """A claim whose Node is being drained, or has been; who comes after that is drained and takes nothing back."""
    if is_over:
        return claim_saying(claim, Said(DRAINED), now=now)
    if conditions.find(claim.status.conditions, DRAINED) is not None:
        return claim
    return claim_saying(claim, Said(DRAINED, "Unknown", "Draining", "Draining"), now=now)


def eviction_reason(claim: NodeClaim | None) -> str:
    """Why the pods of a node are evicted: the reason of a disruption, or that somebody deleted the claim."""
    if claim is None:
        return ""
    held = conditions.find(claim.status.conditions, DISRUPTION_REASON)
    return held.reason if held is not None and held.status == "True" else FORCEFUL


def attached(
    attachments: Iterable[VolumeAttachment],
    node: Node,
    on_node: Sequence[Pod],
    claims: Mapping[tuple[str, str], PersistentVolumeClaim],
    now: int,
) -> tuple[VolumeAttachment, ...]:
    """The attachments that have to go before the instance may; those of pods that stay to the end do not count."""
    staying = {volume for pod in on_node if not of_pods.is_drainable(pod, now) for volume in _volumes(pod, claims)}
    found = (
        one
        for one in attachments
        if one.spec.node_name == node.metadata.name
        and one.spec.source.persistent_volume_name
        and one.spec.source.persistent_volume_name not in staying
    )
    return tuple(sorted(found, key=lambda one: one.metadata.name))


def listed(pending: Sequence[VolumeAttachment]) -> str:
    """Their names, as an event tells them."""
    names = ", ".join(one.metadata.name for one in pending[:LISTED])
    return names if len(pending) <= LISTED else f"{names} and {len(pending) - LISTED} other(s)"


def detaching(claim: NodeClaim, pending: Sequence[VolumeAttachment], deadline: int | None, now: int) -> NodeClaim:
    """A claim whose volumes are let go of: done, waited for, or given up at the deadline."""
    if not pending:
        said = Said(VOLUMES_DETACHED)
    elif deadline is not None and now > deadline:
        said = Said(VOLUMES_DETACHED, "False", "TerminationGracePeriodElapsed", "TerminationGracePeriodElapsed")
    else:
        said = Said(VOLUMES_DETACHED, "Unknown", "AwaitingVolumeDetachment", "AwaitingVolumeDetachment")
    return claim_saying(claim, said, now=now)


def _volumes(pod: Pod, claims: Mapping[tuple[str, str], PersistentVolumeClaim]) -> Iterable[str]:
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        held = claims.get((pod.metadata.namespace, name)) if name else None
        if held is not None and held.spec.volume_name:
            yield held.spec.volume_name
