"""The NodePools that take part in a pass, in their order, and what each may launch (provisioning spec 3)."""

from collections.abc import Iterator, Mapping
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.fit.constraints import requirements_of
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.taints import taints_of
from baseload.decide.fit.template import PoolOffer
from baseload.decide.fit.types import TypeIndex
from baseload.kube.types.karpenter import NodePool
from baseload.model.requests import amounts
from baseload.model.statenode import INITIALIZED, REGISTERED
from baseload.model.view import View
from baseload.values.label import NODEPOOL
from baseload.values.requirement import Requirement, Requirements

SIMULATED: Final = (REGISTERED, INITIALIZED)
"""labels that a planned claim has in simulation only, so that pods and daemons which select them count"""

PROVIDERS: Final = (("karpenter.k8s.aws", "EC2NodeClass"), ("karpenter.kwok.sh", "KWOKNodeClass"))
"""(group, kind) of the NodeClasses whose pools take part"""


def is_static(pool: NodePool) -> bool:
    return pool.spec.replicas is not None


def is_ready(pool: NodePool) -> bool:
    """A pool without a Ready condition, as in a hand-written manifest, counts as ready."""
    if pool.metadata.deletion_timestamp:
        return False
    return all(c.status == "True" for c in pool.status.conditions if c.type == "Ready")


def is_supported(pool: NodePool) -> bool:
    """Whether the pool's NodeClass is of a provider that is known here."""
    ref = pool.spec.template.spec.node_class_ref
    return (ref.group, ref.kind) in PROVIDERS


def dynamic_pools(view: View) -> tuple[NodePool, ...]:
    """The pools that may launch nodes for pods: the heavier first, of equal weight the later name first (3.2)."""
    pools = [pool for pool in view.node_pools if is_ready(pool) and is_supported(pool) and not is_static(pool)]
    pools.sort(key=lambda pool: pool.metadata.name, reverse=True)
    pools.sort(key=lambda pool: pool.spec.weight or 0, reverse=True)
    return tuple(pools)


def own_requirements(pool: NodePool) -> Requirements:
    """What a pool itself demands: requirements and template labels."""
    template = pool.spec.template
    return requirements_of(template.spec.requirements).add(Requirements.of_labels(template.metadata.labels))


def node_class_label(pool: NodePool) -> tuple[str, str]:
    """The label that ties a node to its NodeClass."""
    ref = pool.spec.template.spec.node_class_ref
    return f"{ref.group}/{ref.kind.lower()}", ref.name


def template_requirements(pool: NodePool) -> Requirements:
    """The set that every claim of a pool starts from (3.5)."""
    key, name = node_class_label(pool)
    return own_requirements(pool).add(
        Requirement.of(NODEPOOL, "In", (pool.metadata.name,)),
        Requirement.of(key, "In", (name,)),
        *(Requirement.of(simulated, "In", ("true",)) for simulated in SIMULATED),
    )


def offers(
    pools: tuple[NodePool, ...], tables: Mapping[str, InstanceTypes], sets: Sets
) -> Iterator[tuple[NodePool, PoolOffer]]:
    """The pools whose types are known, each with what it offers; tables that are one object share one index."""
    indexes: dict[int, TypeIndex] = {}
    for pool in pools:
        table = tables.get(pool.metadata.name)
        if table is None or not table.names:
            continue
        index = indexes.get(id(table))
        if index is None:
            index = indexes[id(table)] = TypeIndex(table, sets)
        yield (
            pool,
            PoolOffer(
                name=pool.metadata.name,
                requirements=template_requirements(pool),
                taints=taints_of(pool.spec.template.spec.taints),
                types=index,
                limits=amounts(pool.spec.limits),
            ),
        )
