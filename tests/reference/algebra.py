"""Requirements on label keys, and sets of them (§4).

A requirement set is a plain dict from key to requirement.
Functions return new sets; none changes what it was given.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
WINDOWS_BUILD = "node.kubernetes.io/windows-build"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
NODEPOOL = "karpenter.sh/nodepool"
REGISTERED = "karpenter.sh/registered"
INITIALIZED = "karpenter.sh/initialized"
RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id"

CORE_WELL_KNOWN = frozenset({NODEPOOL, CAPACITY_TYPE, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, WINDOWS_BUILD})  # §4.6

ALIASES = {  # §4.7
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/os": OS,
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "topology.ebs.csi.aws.com/zone": ZONE,
}
LARGEST_INT64 = 2**63 - 1
INTEGER = re.compile(r"[+-]?[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One key's demand (§4.1). `complement`: every value but those listed."""

    key: str
    complement: bool
    values: frozenset[str] = frozenset()
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None


Requirements = dict[str, Requirement]


def normalise(key: str) -> str:
    """§4.7."""
    return ALIASES.get(key, key)


def requirement(key: str, operator: str, values: Iterable[str] = (), min_values: int | None = None) -> Requirement:
    """§4.1, the table."""
    key, listed = normalise(key), [str(value) for value in values]
    if operator in ("In", "DoesNotExist"):
        return Requirement(key, complement=False, values=frozenset(listed), min_values=min_values)
    if operator in ("NotIn", "Exists"):
        return Requirement(key, complement=True, values=frozenset(listed), min_values=min_values)
    bound = int(listed[0])
    if operator == "Gt" and bound == LARGEST_INT64:
        return Requirement(key, complement=False, min_values=min_values)
    if operator in ("Gt", "Gte"):
        return Requirement(key, complement=True, gte=bound + (operator == "Gt"), min_values=min_values)
    if operator in ("Lt", "Lte"):
        return Requirement(key, complement=True, lte=bound - (operator == "Lt"), min_values=min_values)
    raise ValueError(operator)


def exists(key: str) -> Requirement:
    return requirement(key, "Exists")


def operator(r: Requirement) -> str:
    """§4.2: a bounded Exists still reads Exists."""
    if r.complement:
        return "NotIn" if r.values else "Exists"
    return "In" if r.values else "DoesNotExist"


def largest(a: int | None, b: int | None) -> int | None:
    return max((x for x in (a, b) if x is not None), default=None)


def smallest(a: int | None, b: int | None) -> int | None:
    return min((x for x in (a, b) if x is not None), default=None)


def within(value: str, gte: int | None, lte: int | None) -> bool:
    """§4.3.4: with a bound set, what is no integer is out."""
    if gte is None and lte is None:
        return True
    if not INTEGER.match(value):
        return False
    return (gte is None or int(value) >= gte) and (lte is None or int(value) <= lte)


def crossed(gte: int | None, lte: int | None) -> bool:
    return gte is not None and lte is not None and gte > lte


def intersection(a: Requirement, b: Requirement) -> Requirement:
    """§4.3."""
    gte, lte = largest(a.gte, b.gte), smallest(a.lte, b.lte)
    min_values = largest(a.min_values, b.min_values)
    if crossed(gte, lte):
        return Requirement(a.key, complement=False, min_values=min_values)
    if a.complement and b.complement:
        values = a.values | b.values
    elif a.complement:
        values = b.values - a.values
    elif b.complement:
        values = a.values - b.values
    else:
        values = a.values & b.values
    values = frozenset(value for value in values if within(value, gte, lte))
    if a.complement and b.complement:
        return Requirement(a.key, complement=True, values=values, gte=gte, lte=lte, min_values=min_values)
    return Requirement(a.key, complement=False, values=values, min_values=min_values)


def has(r: Requirement, value: str) -> bool:
    """§4.4."""
    return (value in r.values) != r.complement and within(value, r.gte, r.lte)


def overlap(a: Requirement, b: Requirement) -> bool:
    """§4.5: DoesNotExist meets nothing, not even itself."""
    gte, lte = largest(a.gte, b.gte), smallest(a.lte, b.lte)
    if crossed(gte, lte):
        return False
    if a.complement and b.complement:
        return True
    concrete, other = (b, a) if a.complement else (a, b)
    return any((value in other.values) != other.complement and within(value, gte, lte) for value in concrete.values)


def add(base: Mapping[str, Requirement], more: Iterable[Requirement]) -> Requirements:
    """§4.8."""
    result = dict(base)
    for r in more:
        result[r.key] = intersection(result[r.key], r) if r.key in result else r
    return result


def merged(*sets: Mapping[str, Requirement]) -> Requirements:
    result: Requirements = {}
    for one in sets:
        result = add(result, one.values())
    return result


def from_labels(labels: Mapping[str, str]) -> Requirements:
    return add({}, (requirement(key, "In", [value]) for key, value in labels.items()))


def from_expressions(expressions: Iterable[Manifest]) -> Requirements:
    return add(
        {}, (requirement(e["key"], e["operator"], e.get("values") or (), e.get("minValues")) for e in expressions)
    )


def clash(a: Mapping[str, Requirement], b: Mapping[str, Requirement]) -> str | None:
    """§4.9: the first key that keeps the two apart; None when they meet."""
    for key in sorted(a.keys() & b.keys()):
        if overlap(a[key], b[key]):
            continue
        if {operator(a[key]), operator(b[key])} <= {"NotIn", "DoesNotExist"}:
            continue
        return key
    return None


def intersects(a: Mapping[str, Requirement], b: Mapping[str, Requirement]) -> bool:
    return clash(a, b) is None


def undefined(a: Mapping[str, Requirement], b: Mapping[str, Requirement], allow: Container[str]) -> str | None:
    """§4.10, first half: a key that b demands and a does not know."""
    demanded = (key for key, r in b.items() if operator(r) not in ("NotIn", "DoesNotExist"))
    return min((key for key in demanded if key not in allow and key not in a), default=None)


def compatible(a: Mapping[str, Requirement], b: Mapping[str, Requirement], allow: Container[str] = ()) -> bool:
    """§4.10: can the demands of b be met given what a says?"""
    return undefined(a, b, allow) is None and intersects(a, b)


def incompatible(a: Mapping[str, Requirement], b: Mapping[str, Requirement], allow: Container[str] = ()) -> str | None:
    """§4.10 as a text; None when compatible."""
    if key := undefined(a, b, allow):
        return f"label {key} has no known values"
    if key := clash(a, b):
        return f"{show(b[key])} does not meet {show(a[key])}"
    return None


def show(r: Requirement) -> str:
    bounds = "".join(f" {name} {bound}" for name, bound in (("Gte", r.gte), ("Lte", r.lte)) if bound is not None)
    return f"{r.key} {operator(r)} {sorted(r.values)}{bounds}"


def canonical(requirements: Mapping[str, Requirement]) -> tuple[Requirement, ...]:
    return tuple(requirements[key] for key in sorted(requirements))


def selectors(r: Requirement) -> list[Manifest]:
    """§4.14: how a requirement is written on the claim."""
    more = {} if r.min_values is None else {"minValues": r.min_values}
    bounds = [(name, bound) for name, bound in (("Gte", r.gte), ("Lte", r.lte)) if bound is not None]
    if bounds:
        return [{"key": r.key, "operator": name, "values": [str(bound)], **more} for name, bound in bounds]
    return [{"key": r.key, "operator": operator(r), "values": sorted(r.values), **more}]
