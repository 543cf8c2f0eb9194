"""Pools, their templates and limits (§3, §18), and type filtering with minValues (§12, §16)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from . import algebra, catalogue, constraints, resources, selecting
from .algebra import INITIALIZED, NODEPOOL, REGISTERED, Manifest, Requirements
from .catalogue import InstanceType
from .cluster import StateNode
from .resources import Amounts

SIMULATION_ONLY = (REGISTERED, INITIALIZED)
SUPPORTED = {("karpenter.kwok.sh", "KWOKNodeClass"), ("karpenter.k8s.aws", "EC2NodeClass")}
MOST_TYPES = 600


def template(pool: Manifest) -> Manifest:
    result: Manifest = pool["spec"]["template"]
    return result


def template_labels(pool: Manifest) -> dict[str, str]:
    return dict((template(pool).get("metadata") or {}).get("labels") or {})


def pool_requirements(pool: Manifest) -> Requirements:
    return algebra.from_expressions(template(pool)["spec"].get("requirements") or ())


def taints(pool: Manifest) -> list[Manifest]:
    return list(template(pool)["spec"].get("taints") or ())


def is_ready(pool: Manifest) -> bool:
    """§32.2."""
    ready = selecting.condition(pool, "Ready")
    return not selecting.is_terminating(pool) and (ready is None or ready["status"] == "True")


def is_valid(pool: Manifest, known: frozenset[str]) -> bool:
    """§3.4, as far as it depends on the catalogue; the API server sees to the rest."""
    listed = template(pool)["spec"].get("requirements") or ()
    labels = template_labels(pool)
    expressions = [*listed, *({"key": k, "operator": "In", "values": [v]} for k, v in labels.items())]
    named = any(algebra.normalise(e["key"]) == NODEPOOL for e in expressions)
    return not named and not any(constraints.invalid(e, known) for e in expressions)


def supported(pool: Manifest) -> bool:
    ref = template(pool)["spec"]["nodeClassRef"]
    return (ref["group"], ref["kind"]) in SUPPORTED


def is_static(pool: Manifest) -> bool:
    return pool["spec"].get("replicas") is not None


def dynamic_pools(objects: list[Manifest], known: frozenset[str]) -> list[Manifest]:
    """§3.1, in the order of §3.2."""
    pools = [
        o
        for o in objects
        if o["kind"] == "NodePool" and not is_static(o) and is_ready(o) and supported(o) and is_valid(o, known)
    ]
    pools.sort(key=lambda p: p["metadata"]["name"], reverse=True)
    pools.sort(key=lambda p: p["spec"].get("weight") or 0, reverse=True)
    return pools


@dataclass(frozen=True)
class Template:
    """What a pool's new claims start from (§3.5-3.7)."""

    pool: Manifest
    requirements: Requirements
    labels: dict[str, str]
    types: list[InstanceType]

    @property
    def name(self) -> str:
        return str(self.pool["metadata"]["name"])

    @property
    def taints(self) -> list[Manifest]:
        return taints(self.pool)


def template_requirements(pool: Manifest) -> tuple[Requirements, dict[str, str]]:
    """§3.5 and the labels of §3.6."""
    ref = template(pool)["spec"]["nodeClassRef"]
    labels = {
        **template_labels(pool),
        NODEPOOL: pool["metadata"]["name"],
        f"{ref['group']}/{ref['kind'].lower()}": ref["name"],
    }
    simulated = algebra.from_labels(dict.fromkeys(SIMULATION_ONLY, "true"))
    return algebra.merged(pool_requirements(pool), algebra.from_labels(labels), simulated), labels


@dataclass(frozen=True)
class Filtered:
    """The types that remain (§12.1), the keys whose minValues had to be lowered (§16.4), or an error (§12.4)."""

    types: list[InstanceType]
    lowered: dict[str, int]
    error: str | None = None


def values_reached(types: list[InstanceType], key: str) -> int:
    """§16.1."""
    return len({value for t in types if key in t.requirements for value in t.requirements[key].values})


def unmet_min_values(types: list[InstanceType], wanted: Requirements) -> dict[str, int]:
    """§16.1: the keys whose minValues are not reached, with what is reached."""
    reached = {key: values_reached(types, key) for key, r in wanted.items() if r.min_values is not None}
    return {key: count for key, count in reached.items() if count < (wanted[key].min_values or 0)}


def met(
    t: InstanceType, wanted: Requirements, requests: Mapping[str, int], known: frozenset[str]
) -> Iterator[tuple[str, bool]]:
    """§12.1: big enough, requirements met, an offering that fits."""
    yield "fits", resources.fits(requests, t.allocatable)
    yield "requirements", algebra.intersects(t.requirements, wanted)
    yield "offering", bool(catalogue.open_offerings(t, wanted, known))


def filter_types(
    types: list[InstanceType],
    wanted: Requirements,
    requests: Mapping[str, Mapping[str, int]],
    known: frozenset[str],
    *,
    lower_min_values: bool,
) -> Filtered:
    """§12.1 and §16; `requests` by type name, daemons included."""
    kept = [t for t in types if all(answer for _, answer in met(t, wanted, requests[t.name], known))]
    unmet = unmet_min_values(kept, wanted)
    if unmet and not lower_min_values:
        return Filtered([], {}, f"minValues not met for {sorted(unmet)}")
    if not kept:
        alone = {name for t in types for name, answer in met(t, wanted, requests[t.name], known) if answer}
        return Filtered([], {}, f"no instance type met everything; met by some: {sorted(alone) or 'nothing'}")
    return Filtered(kept, unmet)


def remaining_limits(pool: Manifest, nodes: list[StateNode]) -> Amounts | None:
    """§18.1; None when the pool has no limits."""
    limits = pool["spec"].get("limits")
    if not limits:
        return None
    used = resources.total_of(n.capacity for n in nodes if n.pool == pool["metadata"]["name"])
    return resources.minus(resources.amounts(limits), used)


def within_limits(t: InstanceType, remaining: Amounts | None) -> bool:
    """§18.2, §18.3."""
    if remaining is None:
        return True
    return all(left >= 0 and t.capacity.get(name, 0) <= left for name, left in remaining.items())


def charged(remaining: Amounts | None, types: list[InstanceType]) -> Amounts | None:
    """§18.4: the largest type pays, nodes pay nothing."""
    if remaining is None:
        return None
    most = resources.larger(*(t.capacity for t in types))
    return resources.minus(remaining, {name: value for name, value in most.items() if name != "nodes"})


def by_price(types: list[InstanceType], wanted: Requirements, known: frozenset[str]) -> list[InstanceType]:
    """§12.5, ties by name."""
    ranks: dict[str, Fraction] = {t.name: catalogue.price(t, wanted, known) for t in types}
    return sorted(types, key=lambda t: (ranks[t.name], t.name))
