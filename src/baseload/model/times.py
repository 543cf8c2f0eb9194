"""Times of objects that decisions about disruption read, and what of them cannot be read.

Strict validation finds most of it; what came out of a cluster, or is not checked, may say anything.
"""

from collections.abc import Callable, Iterator
from typing import Final

from baseload.kube.types.core import Node, Pod
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.kube.types.meta import Condition, ObjectMeta
from baseload.model.view import Named, View, ref_of
from baseload.values import duration, instant

NEVER: Final = "Never"
TERMINATION: Final = "karpenter.sh/nodeclaim-termination-timestamp"

Said = Iterator[tuple[str, str, Callable[[str], object]]]
"""path of a field, its text, and what reads it"""


def unreadable(view: View) -> Iterator[tuple[str, str, str]]:
    """The times that cannot be read: object, path of the field, and why."""
    listed: list[tuple[Named, Said]] = [(pool, _of_pool(pool)) for pool in view.node_pools]
    listed += ((claim, _of_claim(claim)) for claim in view.node_claims)
    listed += ((node, _of_node(node)) for node in view.nodes)
    listed += ((pod, _of_pod(pod)) for pod in view.pods)
    for held, said in listed:
        for path, text, read in said:
            if not text or (read is duration.parse and text == NEVER):
                continue
            try:
                read(text)
            except ValueError as error:
                yield ref_of(held), path, str(error)


def _of_pool(pool: NodePool) -> Said:
    template = pool.spec.template.spec
    yield "spec.disruption.consolidateAfter", pool.spec.disruption.consolidate_after, duration.parse
    yield "spec.template.spec.expireAfter", template.expire_after, duration.parse
    yield "spec.template.spec.terminationGracePeriod", template.termination_grace_period, duration.parse


def _of_claim(claim: NodeClaim) -> Said:
    yield from _of_metadata(claim.metadata)
    deadline = claim.metadata.annotations.get(TERMINATION, "")
    yield f'metadata.annotations["{TERMINATION}"]', deadline, instant.parse
    yield "spec.expireAfter", claim.spec.expire_after, duration.parse
    yield "spec.terminationGracePeriod", claim.spec.termination_grace_period, duration.parse
    yield "status.lastPodEventTime", claim.status.last_pod_event_time, instant.parse
    yield from _of_conditions(claim.status.conditions)


def _of_node(node: Node) -> Said:
    yield from _of_metadata(node.metadata)
    yield from _of_conditions(node.status.conditions)


def _of_pod(pod: Pod) -> Said:
    if pod.status.start_time:
        yield "status.startTime", pod.status.start_time, instant.parse
    yield from _of_metadata(pod.metadata)


def _of_metadata(metadata: ObjectMeta) -> Said:
    if metadata.creation_timestamp:
        yield "metadata.creationTimestamp", metadata.creation_timestamp, instant.parse
    if metadata.deletion_timestamp:
        yield "metadata.deletionTimestamp", metadata.deletion_timestamp, instant.parse


def _of_conditions(conditions: tuple[Condition, ...]) -> Said:
    for place, held in enumerate(conditions):
        yield f"status.conditions[{place}].lastTransitionTime", held.last_transition_time, instant.parse
