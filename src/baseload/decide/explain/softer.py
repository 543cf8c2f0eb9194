"""Softer forms of a demand: what lets a pod in while the demand goes on meaning something.

Each has a rank: tolerations and values that only admit more come first, then other values for the pod, then what
changes the shape of nodes, then what loosens a constraint for its pods; a preference in place of a constraint is the
last of them. Whether one does is for a trial to say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from baseload.catalog.masks import bits
from baseload.decide.explain.amounts import grain
from baseload.decide.explain.demands import NODE_AFFINITY, POOL_REQUIREMENTS, PREFERRED, REQUIRED, Case
from baseload.decide.explain.edits import Edit, Objects
from baseload.decide.explain.nearest import shortage, untolerated
from baseload.decide.explain.supply import Offer, Supply
from baseload.decide.fit.shape import FitPod
from baseload.kube.fieldpath import text
from baseload.plan.provision import Demand, Field
from baseload.plan.reason import Reason
from baseload.values import quantity
from baseload.values.label import CAPACITY_TYPE, HOSTNAME, integer, normalise
from baseload.values.requirement import Requirement
from baseload.values.resource import written
from baseload.values.taint import Taint

AFTER_AMOUNTS: Final = 5
"""forms of this rank and above come after a request lowered or a limit raised"""

_SYSTEM_TAINTS: Final = ("node.kubernetes.io/", "karpenter.sh/", "node.cloudprovider.kubernetes.io/")
_MOST_VALUES: Final = 6
_MORE_SKEW: Final = 3
_OVERLAY_PODS: Final = 110
_BOUNDS: Final = {"Gt": -1, "Gte": 0, "Lt": 1, "Lte": 0}
"""operator -> what the bound is from the value that it is to let in"""

Ranked = Iterator[tuple[int, Edit]]


@dataclass(frozen=True, slots=True, eq=False)
class Softening:
    """The softer forms for one pod."""

    case: Case
    reading: FitPod
    objects: Objects
    supply: Supply

    def of(self, demand: Demand) -> Ranked:
        """The softer forms of a demand."""
        kind = demand.object.partition(" ")[0]
        if kind == "NodePool":
            yield from self._of_pool(demand)
        elif demand.key in ("requests", "resources"):
            yield from self._smaller(demand)
        elif demand.operator == "DoNotSchedule":
            yield from self._spread(demand)
        elif demand.operator in ("podAffinity", "podAntiAffinity"):
            yield from self._preferred(demand)
        elif "spec.nodeSelector" in demand.path and demand.operator == "In":
            yield from self._other_value(demand)
        elif "spec.affinity.nodeAffinity" in demand.path:
            yield from self._wider_expression(demand)

    def additions(self, *, classes: bool) -> Ranked:
        """Fields to add that no demand stands for; `classes`: a NodeClass may be changed too."""
        reasons = {r.reason for r in self.case.failed.rejections if r.target.startswith("nodePool/")}
        if Reason.RESERVED in reasons and CAPACITY_TYPE not in self.case.pod.spec.node_selector:
            for value in ("on-demand", "spot"):
                yield 3, Edit(self.case.ref, self.case.path("spec", "nodeSelector", CAPACITY_TYPE), value)
        if classes and Reason.RESOURCES in reasons:
            refs = (pool.spec.template.spec.node_class_ref for pool in self.supply.pools)
            for name in dict.fromkeys(ref.name for ref in refs if ref.kind == "EC2NodeClass"):
                yield 4, Edit(f"EC2NodeClass {name}", "spec.kubelet.maxPods", _OVERLAY_PODS)

    # Of pools

    def _of_pool(self, demand: Demand) -> Ranked:
        offer = next((o for o in self.supply.offers if f"NodePool {o.name}" == demand.object), None)
        if offer is None:
            return
        if ".taints" in demand.path:
            yield from self._toleration(offer)
        elif demand.operator == "minValues":
            for lower in range(int(demand.values[0]) - 1, 0, -1):
                yield 4, Edit(demand.object, demand.path, lower)
        elif ".requirements[" in demand.path:
            yield from self._wider_requirement(demand, offer)

    def _toleration(self, offer: Offer) -> Ranked:
        taints = untolerated(offer.offer.taints, self.supply.tolerations(self.reading))
        if any(taint.key.startswith(_SYSTEM_TAINTS) for taint in taints):
            return
        lifting = [_lifting(taint) for taint in taints]
        held = self.objects.value(self.case.ref, self.case.path("spec", "tolerations"))
        tolerations: list[object] = [*held] if isinstance(held, list) else []
        if len(lifting) == 1:
            yield 0, Edit(self.case.ref, self.case.path("spec", "tolerations", len(tolerations)), lifting[0])
        elif lifting:
            yield 0, Edit(self.case.ref, self.case.path("spec", "tolerations"), [*tolerations, *lifting])

    def _wider_requirement(self, demand: Demand, offer: Offer) -> Ranked:
        path = f"{demand.path}.values"
        if demand.operator == "In":
            for rank, value in self._values_to_add(demand, offer):
                yield rank, Edit(demand.object, path, [*demand.values, value])
        elif demand.operator == "NotIn" and len(demand.values) > 1:
            for value in demand.values[:_MOST_VALUES]:
                yield 3, Edit(demand.object, path, [one for one in demand.values if one != value])
        elif demand.operator in _BOUNDS:
            for value in self._values_of_larger(normalise(demand.key), offer):
                if (number := integer(value)) is not None:
                    yield 5, Edit(demand.object, path, [str(number + _BOUNDS[demand.operator])])

    def _values_to_add(self, demand: Demand, offer: Offer) -> Iterator[tuple[int, str]]:
        """What the pod asks for under the key; else what the types have that would hold it, the smallest first."""
        key = normalise(demand.key)
        wanted = self._wanted(key)
        if wanted is not None and not wanted.complement:
            found, rank = sorted(wanted.values)[:_MOST_VALUES], 1
        else:
            found, rank = self._values_of_larger(key, offer), 5
        yield from ((rank, value) for value in found if value not in demand.values)

    def _wanted(self, key: str) -> Requirement | None:
        """What the pod or its volumes demand under a key."""
        for term in self.reading.constraints.required or (None,):
            for volume in self.reading.volumes or (None,):
                demand = self.reading.constraints.selector.add(*(d for d in (term, volume) if d is not None))
                if key in demand:
                    return demand[key]
        return None

    def _values_of_larger(self, key: str, offer: Offer) -> list[str]:
        """The label values of types that hold the pod with its daemons, by the size of the type."""
        table = offer.offer.types.table
        mask = offer.holding(self.reading.requests)
        none = (0,) * len(table)
        cpu, memory = table.capacity.get("cpu", none), table.capacity.get("memory", none)
        column = table.labels.get(key)
        found: dict[str, tuple[int, int, str]] = {}
        for held, types in column.groups if column else ():
            for at in bits(types & mask):
                for value in held.values if not held.complement else ():
                    size = (cpu[at], memory[at], value)
                    found[value] = min(found.get(value, size), size)
        return sorted(found, key=found.__getitem__)[:_MOST_VALUES]

    # Of pods

    def _spread(self, demand: Demand) -> Ranked:
        at = int(demand.path.rpartition("[")[2].rstrip("]"))
        constraint = self.case.pod.spec.topology_spread_constraints[at]
        if constraint.node_taints_policy != "Honor":
            yield 1, Edit(demand.object, f"{demand.path}.nodeTaintsPolicy", "Honor")
        yield from self._narrower(constraint.topology_key)
        for fewer in range((constraint.min_domains or 1) - 1, 0, -1):
            yield 4, Edit(demand.object, f"{demand.path}.minDomains", fewer)
        for skew in range(constraint.max_skew + 1, constraint.max_skew + 1 + _MORE_SKEW):
            yield 6, Edit(demand.object, f"{demand.path}.maxSkew", skew)
        yield 8, Edit(demand.object, f"{demand.path}.whenUnsatisfiable", "ScheduleAnyway")

    def _narrower(self, key: str) -> Ranked:
        """Node affinity to the domains of the pools that would take the pod, so that others are not counted."""
        spread_out = {r.target for r in self.case.failed.rejections if r.reason == Reason.TOPOLOGY}
        ours = [offer.domains(key) for offer in self.supply.offers if f"nodePool/{offer.name}" in spread_out]
        domains = sorted(set().union(*ours))
        if not domains or key == HOSTNAME:
            return
        expression: dict[str, object] = {"key": key, "operator": "In", "values": domains}
        affinity = self.case.pod.spec.affinity
        node = affinity.node_affinity if affinity else None
        required = node.required_during_scheduling_ignored_during_execution if node else None
        terms = required.node_selector_terms if required else ()
        if not terms:
            whole: Field = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
            yield 1, Edit(self.case.ref, self.case.path(*NODE_AFFINITY), whole)
        elif len(terms) == 1:
            end = ("nodeSelectorTerms", 0, "matchExpressions", len(terms[0].match_expressions))
            yield 1, Edit(self.case.ref, self.case.path(*NODE_AFFINITY, *end), expression)

    def _preferred(self, demand: Demand) -> Ranked:
        """The term as a preference: its side of the affinity rewritten, the other terms kept."""
        side_path, _, rest = demand.path.partition(f".{REQUIRED}")
        side = self.objects.value(demand.object, side_path)
        if not isinstance(side, dict):
            return
        terms, weighted = side.get(REQUIRED), side.get(PREFERRED, [])
        if isinstance(terms, list) and isinstance(weighted, list):
            at = int(rest.strip("[]"))
            kept = [term for place, term in enumerate(terms) if place != at]
            softened = [*weighted, {"weight": 100, "podAffinityTerm": terms[at]}]
            required: dict[str, object] = {REQUIRED: kept} if kept else {}
            yield 7, Edit(demand.object, side_path, {**required, PREFERRED: softened})

    def _other_value(self, demand: Demand) -> Ranked:
        """A value that pools offer in place of the one asked for; a key that no pool knows is defined in one."""
        key = normalise(demand.key)
        for value in self._offered(key):
            yield 2, Edit(demand.object, demand.path, value)
        yield from self._defined(key, demand.values[0])

    def _wider_expression(self, demand: Demand) -> Ranked:
        """Values added to In, taken from NotIn; where the demand is the whole affinity, that is its one expression."""
        key, path = normalise(demand.key), demand.path
        if path.endswith(REQUIRED):
            path += ".nodeSelectorTerms[0].matchExpressions[0]"
        if demand.operator == "In":
            for value in self._offered(key):
                if value not in demand.values:
                    yield 2, Edit(demand.object, f"{path}.values", [*demand.values, value])
            for value in demand.values[:_MOST_VALUES]:
                yield from self._defined(key, value)
        elif demand.operator == "NotIn" and len(demand.values) > 1:
            for value in demand.values[:_MOST_VALUES]:
                yield 2, Edit(demand.object, f"{path}.values", [one for one in demand.values if one != value])

    def _offered(self, key: str) -> list[str]:
        """The values that pools have under a key."""
        found = dict.fromkeys(value for offer in self.supply.offers for value in sorted(offer.domains(key)))
        return list(found)[:_MOST_VALUES]

    def _defined(self, key: str, value: str) -> Ranked:
        """A requirement on a pool that says nothing of a key which comes with no launch."""
        if key in self.supply.sets.well_known or key == HOSTNAME:
            return
        requirement: Field = {"key": key, "operator": "In", "values": [value]}
        for offer in self.supply.offers:
            if key not in offer.offer.requirements:
                at = len(offer.pool.spec.template.spec.requirements)
                yield 3, Edit(f"NodePool {offer.name}", text((*POOL_REQUIREMENTS, at)), requirement)

    def _smaller(self, demand: Demand) -> Ranked:
        """Several requests of one container lowered at once to what the best type of a pool has."""
        path = demand.path if demand.key == "requests" else f"{demand.path}.requests"
        held = self.objects.value(demand.object, path)
        for offer in self.supply.offers if isinstance(held, dict) else ():
            short = shortage(self.reading, offer, offer.types)
            lower = dict(held) if isinstance(held, dict) else {}
            for resource, amount in short.items():
                asked = quantity.parse(str(lower.get(resource, 0)))
                step = grain(resource, asked)
                lower[resource] = written(resource, (asked - amount) // step * step)
            if short and all(quantity.parse(str(lower[resource])) > 0 for resource in short):
                yield 3, Edit(demand.object, path, lower)


def _lifting(taint: Taint) -> dict[str, object]:
    """The toleration of just this taint."""
    if taint.value:
        return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
