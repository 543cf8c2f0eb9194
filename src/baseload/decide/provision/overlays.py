"""Node overlays: other prices, or more extended resources, on the types they select (gate NodeOverlay; spec 23).

Overlays apply from the heaviest, of equal weight from the later name; for each offering's price and each type's
resource the first one wins. One that touches what another of equal weight touched last is in conflict and has no
effect anywhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.masks import bits
from baseload.catalog.overlay import with_capacity, with_prices
from baseload.decide.fit.constraints import requirements_of
from baseload.kube.types.karpenter import NodeOverlay, NodePool
from baseload.model.requests import amounts
from baseload.values.label import CORE_WELL_KNOWN, INSTANCE_TYPE, NODEPOOL
from baseload.values.requirement import Requirement, Requirements

PRICE_APPLIED: Final = "karpenter.sh/price-overlay-applied"
CAPACITY_APPLIED: Final = "karpenter.sh/capacity-overlay-applied"
_NOT_EXTENDED: Final = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})

Offering = tuple[str, int, int]
"""pool, offering column, type"""
Resource = tuple[str, str, int]
"""pool, resource, type"""


@dataclass(frozen=True, slots=True, eq=False)
class Overlaid:
    """A pool's types with overlays applied, and the masks of those whose price or capacity is not their own."""

    types: InstanceTypes
    priced: int = 0
    enlarged: int = 0

    def marks(self, types: int) -> dict[str, str]:
        """The annotations of a claim that goes to launch with these types (23.7)."""
        masks = {PRICE_APPLIED: self.priced, CAPACITY_APPLIED: self.enlarged}
        return {mark: "true" for mark, mask in masks.items() if mask & types}


def overlaid(
    overlays: Iterable[NodeOverlay], pools: Iterable[NodePool], tables: Mapping[str, InstanceTypes]
) -> dict[str, Overlaid]:
    """Every pool's types with the overlays applied; a conflict on any pool counts, whether or not it takes part."""
    chosen = _in_order(overlays)
    offers = [(pool, tables[pool.metadata.name]) for pool in pools if pool.metadata.name in tables]
    prices: dict[Offering, float] = {}
    resources: dict[Resource, int] = {}
    last: dict[Offering | Resource, int] = {}  # what was touched -> the weight of who touched it last
    for overlay in chosen:
        weight = overlay.spec.weight or 0
        touched_prices, touched_resources = _touched(overlay, offers)
        touched: tuple[Offering | Resource, ...] = (*touched_prices, *touched_resources)
        if any(last.get(place) == weight for place in touched):
            continue
        last.update(dict.fromkeys(touched, weight))
        for offering, price in touched_prices.items():
            prices.setdefault(offering, price)
        for resource, amount in touched_resources.items():
            resources.setdefault(resource, amount)
    return {pool.metadata.name: _applied(pool.metadata.name, table, prices, resources) for pool, table in offers}


def _in_order(overlays: Iterable[NodeOverlay]) -> list[NodeOverlay]:
    valid = [o for o in overlays if not (_NOT_EXTENDED & o.spec.capacity.keys())]
    valid.sort(key=lambda overlay: overlay.metadata.name, reverse=True)
    valid.sort(key=lambda overlay: overlay.spec.weight or 0, reverse=True)
    return valid


def _touched(
    overlay: NodeOverlay, offers: Iterable[tuple[NodePool, InstanceTypes]]
) -> tuple[dict[Offering, float], dict[Resource, int]]:
    """What an overlay would change: offerings' prices, and types' resources."""
    wanted = requirements_of(overlay.spec.requirements)
    capacity = amounts(overlay.spec.capacity)
    prices: dict[Offering, float] = {}
    resources: dict[Resource, int] = {}
    for pool, table in offers:
        name = pool.metadata.name
        mask = _selected(wanted, pool, table)
        reached = 0
        for at, column in enumerate(table.offerings):
            if column.types & mask and wanted.compatible(column.requirements, table.well_known | CORE_WELL_KNOWN):
                reached |= column.types & mask
                for place in bits(column.types & mask):
                    price = _price(overlay, column.prices[place])
                    if price is not None:
                        prices[name, at, place] = price
        resources.update({(name, r, place): a for r, a in capacity.items() for place in bits(reached)})
    return prices, resources


def _selected(wanted: Requirements, pool: NodePool, table: InstanceTypes) -> int:
    """The types that, as this pool's nodes, meet the requirements; a key that nobody defines is not met."""
    labels = Requirements.of_labels(pool.spec.template.metadata.labels)
    own = labels.add(Requirement.of(NODEPOOL, "In", (pool.metadata.name,)))
    mask = everything = (1 << len(table)) - 1
    for key, demand in wanted.items():
        base = own.get(key)
        met, labelled = 0, 0
        column = table.labels.get(key)
        for held, types in column.groups if column else ():
            labelled |= types
            met |= types if (held if base is None else base.intersect(held)).agrees(demand) else 0
        if (base is not None and base.agrees(demand)) or (base is None and demand.tolerates_absence):
            met |= everything & ~labelled
        mask &= met
    return mask


def _price(overlay: NodeOverlay, price: float | None) -> float | None:
    """The price that an overlay gives an offering, None where it says nothing of prices.

    For want of a price an offering is not available, and an overlay that chooses by more than type cannot mend that.
    """
    if price is None and not _names_types_alone(overlay):
        return None
    if overlay.spec.price is not None:
        return float(overlay.spec.price)
    adjustment = overlay.spec.price_adjustment
    if not adjustment or price is None:
        return None
    if adjustment.endswith("%"):
        return max(0.0, float(Fraction(str(price)) * (1 + Fraction(adjustment[:-1]) / 100)))
    return max(0.0, float(Fraction(str(price)) + Fraction(adjustment)))


def _names_types_alone(overlay: NodeOverlay) -> bool:
    return [(r.key, r.operator) for r in overlay.spec.requirements] == [(INSTANCE_TYPE, "In")]


def _applied(
    pool: str, table: InstanceTypes, prices: Mapping[Offering, float], resources: Mapping[Resource, int]
) -> Overlaid:
    by_column: dict[int, dict[int, float]] = {}
    for (name, at, place), price in prices.items():
        if name == pool:
            by_column.setdefault(at, {})[place] = price
    types = with_prices(table, by_column) if by_column else table
    enlarged = 0
    for resource, amount, mask in _by_amount(pool, resources):
        types = with_capacity(types, mask, {resource: amount})
        enlarged |= mask
    priced = 0
    for places in by_column.values():
        priced |= sum(1 << place for place in places)
    return Overlaid(types, priced, enlarged)


def _by_amount(pool: str, resources: Mapping[Resource, int]) -> Iterator[tuple[str, int, int]]:
    masks: dict[tuple[str, int], int] = {}
    for (name, resource, place), amount in resources.items():
        if name == pool:
            masks[resource, amount] = masks.get((resource, amount), 0) | 1 << place
    return ((resource, amount, mask) for (resource, amount), mask in masks.items())
