"""What a NodePool says of itself: readiness, its hash, what it has, and whether its nodes come (spec 4.2, 5)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace as with_fields

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import rewritten
from baseload.decide.lifecycle.conditions import OF_POOL, Conditions, Said
from baseload.decide.lifecycle.names import CLASS_READY, READY, REGISTRATION_HEALTHY, VALIDATED
from baseload.decide.provision import pool_hash
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.requests import Amounts, add
from baseload.model.statenode import StateNode
from baseload.values.quantity import UNIT
from baseload.values.resource import written

REMEMBERED: Final = 4
"""results of registrations that a pool's health looks at"""
ALWAYS_COUNTED: Final = ("cpu", "memory", "pods", "ephemeral-storage")
"""What the status of a pool tells beside nodes, also where there is none of it"""
UNHEALTHY: Final = 2
"""failures among them from which on the pool is unhealthy, however few results there are"""


def ready(pool: NodePool, node_class: EC2NodeClass | None, faults: Sequence[str], now: int) -> NodePool:
    """The pool with its conditions; `faults` are what is wrong with its spec."""
    generation = pool.metadata.generation
    held = pool.status.conditions
    for said in (_class_says(node_class), _valid(faults)):
        held = conditions.with_condition(held, said, now, generation=generation)
    return _saying(pool, conditions.with_ready(held, OF_POOL, now, generation=generation))


def _class_says(node_class: EC2NodeClass | None) -> Said:
    if node_class is None:
        return Said(CLASS_READY, "False", "NodeClassNotFound", "NodeClass not found on cluster")
    if node_class.metadata.deletion_timestamp:
        return Said(CLASS_READY, "False", "NodeClassTerminating", "NodeClass is Terminating")
    said = conditions.find(node_class.status.conditions, READY)
    if said is None or said.status == "Unknown":
        return Said(CLASS_READY, "False", "NodeClassReadinessUnknown", "Node Class Readiness Unknown")
    if said.status == "False":
        return Said(CLASS_READY, "False", said.reason, said.message)
    return Said(CLASS_READY)


def _valid(faults: Sequence[str]) -> Said:
    return Said(VALIDATED, "False", "NodePoolValidationFailed", "; ".join(faults)) if faults else Said(VALIDATED)


def hashed(pool: NodePool) -> NodePool:
    """The pool with the hash of its template."""
    annotations = {**pool.metadata.annotations, **pool_hash.marks(pool)}
    return with_fields(pool, metadata=with_fields(pool.metadata, annotations=annotations))


def rehashed(pool: NodePool, claims: Iterable[NodeClaim]) -> tuple[NodeClaim, ...]:
    """The claims of a pool that another version of the hash was written on, as this version writes them."""
    return rewritten(claims, pool_hash.marks(pool), pool.metadata, pool_hash.HASH, pool_hash.VERSION)


def counted(pool: NodePool, states: Iterable[StateNode]) -> NodePool:
    """The pool with the sum of its nodes' capacity, those that go away left out."""
    total: Amounts = dict.fromkeys(ALWAYS_COUNTED, 0)
    nodes = 0
    for state in states:
        if state.pool == pool.metadata.name and not state.marked_for_deletion:
            add(total, state.capacity)
            nodes += 1
    amounts = {**total, "nodes": nodes * UNIT}
    resources = {name: written(name, amount) for name, amount in sorted(amounts.items())}
    return with_fields(pool, status=with_fields(pool.status, resources=dict(resources), nodes=nodes))


@dataclass(frozen=True, slots=True)
class Health:
    """The last registrations of a pool: whether each came about."""

    results: tuple[bool, ...] = ()

    def after(self, success: bool) -> "Health":
        return Health((*self.results, success)[-REMEMBERED:])

    @property
    def is_healthy(self) -> bool:
        return self.results.count(False) < UNHEALTHY


def health_of(pool: NodePool) -> Health:
    """What the condition stands for, after a restart: one success, or as many failures as make a pool unhealthy."""
    match conditions.status_of(pool.status.conditions, REGISTRATION_HEALTHY):
        case "True":
            return Health((True,))
        case "False":
            return Health((False,) * UNHEALTHY)
    return Health()


def told(pool: NodePool, health: Health, *, success: bool, reason: str, message: str, now: int) -> NodePool:
    """The pool after a result, with which `health` ends; a result that changes no verdict is not told."""
    before = conditions.status_of(pool.status.conditions, REGISTRATION_HEALTHY)
    if success and health.is_healthy:
        said = Said(REGISTRATION_HEALTHY)
    elif not success and not health.is_healthy and before != "False":
        unregistered = "RegistrationFailed", "Failed to register node"
        said = Said(REGISTRATION_HEALTHY, "False", *((reason, message) if reason else unregistered))
    else:
        return pool
    held = conditions.with_condition(pool.status.conditions, said, now, generation=pool.metadata.generation)
    return _saying(pool, held)


def unknown(pool: NodePool, class_generation: int | None, now: int) -> NodePool | None:
    """The pool whose registrations say nothing any more, as it or its NodeClass changed; else None.

    Without a NodeClass nothing is said anew.
    """
    if class_generation is None:
        return None
    held = conditions.find(pool.status.conditions, REGISTRATION_HEALTHY)
    observed = pool.status.node_class_observed_generation
    is_same_class = observed == class_generation
    if held is not None and held.observed_generation == pool.metadata.generation and is_same_class:
        return None
    generation = pool.metadata.generation
    said = Said(REGISTRATION_HEALTHY, "Unknown", "AwaitingReconciliation", "object is awaiting reconciliation")
    reset = conditions.with_condition(pool.status.conditions, said, now, generation=generation)
    status = with_fields(pool.status, conditions=reset, node_class_observed_generation=class_generation)
    return with_fields(pool, status=status)


def is_owned_by(claim: NodeClaim, pool: NodePool) -> bool:
    """Whether a claim was made by this very pool, not by one that had its name."""
    return any(owner.kind == "NodePool" and owner.uid == pool.metadata.uid for owner in claim.metadata.owner_references)


def _saying(pool: NodePool, held: Conditions) -> NodePool:
    return with_fields(pool, status=with_fields(pool.status, conditions=held))
