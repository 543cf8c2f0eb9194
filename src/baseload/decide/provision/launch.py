"""From a planned claim to the NodeClaim that would be created, and to the node that the cheapest offering would make.

Rules: provisioning spec 4.13, 16.6, 17.6, 19, 28.1.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from baseload.catalog import single_labels
from baseload.catalog.columns import InstanceTypes, OfferingColumn
from baseload.catalog.masks import bits
from baseload.decide.fit.planned import Claim
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.taints import taints_of
from baseload.decide.fit.template import Template
from baseload.decide.fit.types import RESERVED
from baseload.decide.provision import pool_hash, pools
from baseload.decide.provision.overlays import Overlaid
from baseload.kube.types.karpenter import NodePool
from baseload.plan.provision import PlannedClaim
from baseload.values.label import CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, NODEPOOL, RESERVATION_ID
from baseload.values.requirement import Requirement, Requirements
from baseload.values.taint import Taint

MOST_TYPES: Final = 600
MIN_VALUES_RELAXED: Final = "karpenter.sh/nodeclaim-min-values-relaxed"


class Launches:
    """Turns claims into plan values; what claims with equal sets and types have in common is worked out once."""

    def __init__(self, sets: Sets, by_name: Mapping[str, NodePool], *, strict: bool) -> None:
        self._sets: Final = sets
        self._pools: Final = by_name
        self._strict: Final = strict
        self._annotated: Final[dict[tuple[str | bool, ...], dict[str, str]]] = {}
        self._menus: Final[dict[tuple[str, int, int], _Menu | None]] = {}  # (pool, set, types) -> menu

    def requirements(self, claim: Claim) -> Requirements:
        """The final set: what the claim came to, with the reservations that it holds."""
        final = self._sets[claim.hosts.number]
        if not claim.reservations:
            return final
        held = dict(final)
        held[CAPACITY_TYPE] = Requirement.of(CAPACITY_TYPE, "In", (RESERVED,))
        return Requirements(held).add(Requirement.of(RESERVATION_ID, "In", claim.reservations))

    def planned(self, claim: Claim, name: str, overlaid: Overlaid) -> PlannedClaim | None:
        """The NodeClaim; None where the cheapest 600 types do not reach its minValues, so that it is dropped."""
        number = self._sets.number(self.requirements(claim))
        menu = self._menu(claim.template, number, claim.types)
        if menu is None:
            return None
        requests = claim.requests()
        allocatable = menu.allocatable
        fill = {r: requests[r] / allocatable[r] for r in sorted(requests) if requests[r] and allocatable.get(r, 0) > 0}
        return PlannedClaim(
            name=name,
            node_pool=claim.template.name,
            instance_type=menu.names[0],
            zone=menu.offering.zone,
            capacity_type=menu.offering.capacity_type,
            price_per_hour=menu.prices[0],
            estimated=menu.estimates[0],
            labels=menu.labels,
            annotations=self._annotations(claim, overlaid.marks(menu.types)),
            taints=menu.taints,
            startup_taints=menu.startup_taints,
            requests=requests,
            allocatable=allocatable,
            fill=fill,
            binding=max(fill, key=lambda r: (fill[r], r)) if fill else "",
            requirements=menu.requirements,
            instance_types=menu.names,
            prices=menu.prices,
            estimates=menu.estimates,
            pods=tuple(pod.name for pod in claim.pods),
        )

    def _annotations(self, claim: Claim, marks: Mapping[str, str]) -> dict[str, str]:
        pool = claim.template.name
        key: tuple[str | bool, ...] = (pool, claim.relaxed_values, *marks)
        found = self._annotated.get(key)
        if found is None:
            relaxed = {MIN_VALUES_RELAXED: "true" if claim.relaxed_values else "false"}
            own = self._pools[pool].spec.template.metadata.annotations
            found = self._annotated[key] = {**own, **pool_hash.marks(self._pools[pool]), **relaxed, **marks}
        return found

    def _menu(self, template: Template, number: int, types: int) -> "_Menu | None":
        key = (template.name, number, types)
        if key not in self._menus:
            self._menus[key] = self._made_menu(template, number, types)
        return self._menus[key]

    def _made_menu(self, template: Template, number: int, types: int) -> "_Menu | None":
        index, pool, final = template.types, self._pools[template.name], self._sets[number]
        columns = tuple(index.offerings(final))
        best: dict[int, tuple[float, str, str, OfferingColumn]] = {}
        for column in columns:
            for place in bits(column.available & types):
                price = column.prices[place]
                offer = (float("inf") if price is None else price, column.zone, column.capacity_type, column)
                if place not in best or offer[:3] < best[place][:3]:
                    best[place] = offer
        unpriced = ((float("inf"), index.table.names[place], place) for place in bits(types) if place not in best)
        priced = ((offer[0], index.table.names[place], place) for place, offer in best.items())
        order = [place for _, _, place in sorted((*priced, *unpriced))][:MOST_TYPES]
        kept = sum(1 << place for place in order)
        if not best or (self._strict and index.short_of_variety(kept, number)):
            return None
        offered = {column.capacity_type for column in columns if column.available & kept}
        names = tuple(index.table.names[place] for place in order)
        place, offering = order[0], best[order[0]][3]
        startup = taints_of(pool.spec.template.spec.startup_taints)
        return _Menu(
            names=names,
            types=kept,
            prices=tuple(best[place][0] if place in best else None for place in order),
            estimates=tuple(place in best and bool(best[place][3].estimated >> place & 1) for place in order),
            offering=offering,
            allocatable={r: amounts[place] for r, amounts in index.table.allocatable.items() if amounts[place]},
            labels=self._labels_of(final, pool, index.table, place, offering),
            taints=(*taints_of(pool.spec.template.spec.taints), *startup),
            startup_taints=startup,
            requirements=tuple(_written(final, names, offered)),
        )

    def _labels_of(
        self, final: Requirements, pool: NodePool, table: InstanceTypes, place: int, offering: OfferingColumn
    ) -> dict[str, str]:
        class_key, class_name = pools.node_class_label(pool)
        labels = dict(custom_labels(final, self._sets.well_known))
        labels |= pool.spec.template.metadata.labels
        labels |= {NODEPOOL: pool.metadata.name, class_key: class_name}
        labels.update(single_labels.of_type(table, place))
        labels.update(single_labels.of_offering(offering))
        return dict(sorted(labels.items()))


def custom_labels(final: Requirements, well_known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Labels of the pool's own keys: one of the listed values, or a number within the bounds (QUIRK 4.13)."""
    for key, requirement in final.items():
        if key in well_known or key in (*pools.SIMULATED, HOSTNAME):
            continue
        if requirement.operator == "In":
            yield key, min(requirement.values)
        elif requirement.complement:
            yield key, str(requirement.gte or 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Menu:
    """The types that a claim goes to launch with, cheapest first, and what the node of the first would be."""

    names: tuple[str, ...]
    types: int  # the same as a mask
    prices: tuple[float | None, ...]
    estimates: tuple[bool, ...]
    offering: OfferingColumn
    allocatable: dict[str, int]
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    startup_taints: tuple[Taint, ...]
    requirements: tuple[Requirement, ...]


def _written(final: Requirements, names: tuple[str, ...], offered: set[str]) -> Iterator[Requirement]:
    """The claim's requirements: its types by name, the capacity types that these are on offer in, the rest as it is."""
    narrowed = final.add(Requirement.of(INSTANCE_TYPE, "In", names), Requirement.of(CAPACITY_TYPE, "In", offered))
    return (r for key, r in narrowed.items() if key not in (*pools.SIMULATED, HOSTNAME))
