"""Objects with other fields: how a decision says what an object should become."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace as with_fields

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.names import DRIFTED
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.kube.types.meta import ObjectMeta, Taint


def claim_saying(claim: NodeClaim, *said: Said, now: int) -> NodeClaim:
    """A claim whose conditions say so."""
    return with_status(claim, conditions=conditions.of_claim(claim, *said, now=now))


def with_status(claim: NodeClaim, **fields: object) -> NodeClaim:
    return with_fields(claim, status=with_fields(claim.status, **fields))


def claim_with(claim: NodeClaim, **metadata: object) -> NodeClaim:
    return with_fields(claim, metadata=with_fields(claim.metadata, **metadata))


def node_with(node: Node, *, taints: tuple[Taint, ...] | None = None, **metadata: object) -> Node:
    spec = node.spec if taints is None else with_fields(node.spec, taints=taints)
    return with_fields(node, metadata=with_fields(node.metadata, **metadata), spec=spec)


def without_finalizer(metadata: ObjectMeta, finalizer: str) -> tuple[str, ...]:
    return tuple(held for held in metadata.finalizers if held != finalizer)


def with_taints(held: tuple[Taint, ...], more: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """The taints with those of `more` that are not there by key and effect."""
    there = {(taint.key, taint.effect) for taint in held}
    return (*held, *(taint for taint in more if (taint.key, taint.effect) not in there))


def is_same_taint(one: Taint, other: Taint) -> bool:
    """Whether both are one taint; its value and its time do not matter."""
    return (one.key, one.effect) == (other.key, other.effect)


def rewritten(
    claims: Iterable[NodeClaim], marks: Mapping[str, str], maker: ObjectMeta, hash: str, version: str
) -> tuple[NodeClaim, ...]:
    """The claims on which another version of their maker's hash was written, as this version (`marks`) writes them.

    One that drifted already keeps its hash, and so its drift; no other one drifts by the change of version. There are
    none once the maker itself carries this version, which is written last.
    """
    if maker.annotations.get(version) == marks[version]:
        return ()
    changed = []
    for claim in claims:
        held = claim.metadata.annotations
        if held.get(version) == marks[version]:
            continue
        new = {version: marks[version]}
        if conditions.find(claim.status.conditions, DRIFTED) is None:
            new[hash] = marks[hash]
        changed.append(claim_with(claim, annotations={**held, **new}))
    return tuple(changed)
