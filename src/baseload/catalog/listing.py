"""Instance types one by one: what a person compares when choosing among them."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from baseload.catalog.columns import InstanceTypes, LabelColumn, OfferingColumn
from baseload.catalog.masks import bits
from baseload.values.errors import BadInput, Fault
from baseload.values.label import ARCH, CAPACITY_TYPE, OS, ZONE_ID
from baseload.values.quantity import UNIT
from baseload.values.requirement import EMPTY, Requirement, Requirements

CAPACITY_TYPES: Final = ("on-demand", "spot", "reserved")
MEMORY_MIB: Final = "karpenter.k8s.aws/instance-memory"
Price = Literal["price", "per-vcpu", "per-gib"]
Order = Price | Literal["name"]


@dataclass(frozen=True, slots=True)
class Offer:
    """One offering of a type; `price` is None where it is not known."""

    zone: str
    zone_id: str
    capacity_type: str
    price: float | None
    estimated: bool
    available: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """A type with what is offered of it; amounts are nano-units."""

    name: str
    labels: dict[str, tuple[str, ...]]  # what the type has no value of is left out
    capacity: dict[str, int]
    allocatable: dict[str, int]
    offers: tuple[Offer, ...]

    @property
    def architecture(self) -> str:
        return ",".join(self.labels.get(ARCH, ()))

    @property
    def operating_systems(self) -> tuple[str, ...]:
        return self.labels.get(OS, ())

    @property
    def vcpus(self) -> float:
        return self.capacity["cpu"] / UNIT

    @property
    def gib(self) -> float:
        """Memory as it is sold; where that is not told, as the node reports it."""
        if MEMORY_MIB in self.labels:
            return int(self.labels[MEMORY_MIB][0]) / 1024
        return self.capacity["memory"] / UNIT / 2**30

    def cheapest(self, capacity_type: str) -> Offer | None:
        """The cheapest available offer of a capacity type."""
        offers = [o for o in self.offers if o.capacity_type == capacity_type and o.available and o.price is not None]
        return min(offers, key=lambda offer: offer.price or 0.0, default=None)

    @property
    def compared(self) -> Offer | None:
        """The offer that types are ranked by: on demand, else spot, else reserved."""
        return next((offer for name in CAPACITY_TYPES if (offer := self.cheapest(name)) is not None), None)


def select(types: InstanceTypes, demand: Requirements = EMPTY) -> list[Listed]:
    """The types that meet a demand, each with the offers that meet it; in the table's order."""
    columns = [column for column in types.offerings if column.requirements.compatible(demand, demand.keys())]
    mask = 0
    for column in columns:
        mask |= column.types
    for key, requirement in demand.items():
        mask &= _agreeing(types.labels[key], requirement, (1 << len(types)) - 1)
    return [_listed(types, position, columns) for position in bits(mask)]


def find(types: InstanceTypes, names: Iterable[str]) -> list[Listed]:
    """The types of these names, in their order; raises BadInput for those that are not in the table."""
    position = {name: i for i, name in enumerate(types.names)}
    wanted = list(dict.fromkeys(names))
    where = f" in {types.region}" if types.region else ""
    faults = []
    for name in wanted:
        if name not in position:
            near = get_close_matches(name, types.names, n=3)
            allowed = f"nearest: {', '.join(near)}" if near else "see `baseload catalog list`"
            faults.append(Fault(f"no instance type {name!r} is offered{where}", allowed=allowed))
    if faults:
        raise BadInput(faults)
    return [_listed(types, position[name], types.offerings) for name in wanted]


def ordered(listed: Iterable[Listed], order: Order) -> list[Listed]:
    """Sorted, the cheapest first; types without a price come last, ties by family, size and name."""
    return sorted(
        listed,
        key=lambda type_: (
            0.0 if order == "name" else _cost(type_, order),
            type_.name.partition(".")[0],
            type_.vcpus,
            type_.name,
        ),
    )


def within(listed: Iterable[Listed], price: Price, most: float) -> list[Listed]:
    """Those that cost at most so much, in USD an hour; a type without a price is not among them."""
    return [type_ for type_ in listed if _cost(type_, price) <= most]


def _cost(type_: Listed, price: Price) -> float:
    """In USD an hour; infinite where it is not known."""
    offer = type_.compared
    divisor = {"price": 1.0, "per-vcpu": type_.vcpus, "per-gib": type_.gib}[price]
    return offer.price / divisor if offer is not None and offer.price is not None and divisor else float("inf")


def _agreeing(column: LabelColumn, demand: Requirement, everything: int) -> int:
    """The types that can meet a demand on one key; where a type says nothing of it, its offerings have decided."""
    refusing = 0
    for said, mask in column.groups:
        if not said.agrees(demand):
            refusing |= mask
    return everything & ~refusing


def _listed(types: InstanceTypes, position: int, columns: Iterable[OfferingColumn]) -> Listed:
    bit = 1 << position
    return Listed(
        name=types.names[position],
        labels={
            key: tuple(sorted(said.values, key=_natural))
            for key, column in types.labels.items()
            for said, mask in column.groups
            if mask & bit and said.values
        },
        capacity={resource: amounts[position] for resource, amounts in types.capacity.items() if amounts[position]},
        allocatable={
            resource: amounts[position] for resource, amounts in types.allocatable.items() if amounts[position]
        },
        offers=tuple(_offer(column, position) for column in columns if column.types & bit),
    )


def _natural(value: str) -> tuple[int, str]:
    return (CAPACITY_TYPES.index(value) if value in CAPACITY_TYPES else len(CAPACITY_TYPES), value)


def _offer(column: OfferingColumn, position: int) -> Offer:
    zone_id = column.requirements.get(ZONE_ID)
    return Offer(
        zone=column.zone,
        zone_id=next(iter(zone_id.values), "") if zone_id is not None else "",
        capacity_type=column.capacity_type,
        price=column.prices[position],
        estimated=bool(column.estimated >> position & 1),
        available=bool(column.available >> position & 1),
    )


def capacity_type_demand(capacity_type: str) -> Requirement:
    return Requirement.of(CAPACITY_TYPE, "In", (capacity_type,))
