"""Where the types of a region can be bought, and at what price: one column for each zone and capacity type.

Offerings stand for every zone that the NodeClass has subnets in and that has the type. One is available when its price
is known. All prices but a zone's live spot prices are those of the region, so zones share the lists.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.catalog.columns import OfferingColumn
from baseload.catalog.ec2_file import PUBLISHED, Region, TypeSpec
from baseload.catalog.masks import mask_of
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.values.label import CAPACITY_TYPE, RESERVATION_KEYS, ZONE, ZONE_ID
from baseload.values.requirement import Requirement, Requirements

_LOWEST_SPOT: Final = 0.1  # of the on-demand price: spot prices do not fall below it
_DECIMALS: Final = 6  # no published price has more


@dataclass(frozen=True, slots=True)
class Zone:
    name: str
    id: str  # "" where it is not known
    types: int  # mask of the types that it has


@dataclass(frozen=True, slots=True)
class _Prices:
    """The prices of one capacity type in a zone."""

    values: tuple[float | None, ...]
    estimated: int


def zones_of(region: Region, positions: Sequence[int], settings: NodeClassSettings) -> tuple[Zone, ...]:
    """The zones that a NodeClass can use, by name; `positions` are those of the types in the file.

    Its subnets say which letter stands for which zone id in this account; without subnets the file's letters are used.
    Of a region whose zones the file does not know, every zone has every type.
    """
    ids = {name: id for id, name in region.names.items()}
    pairs = tuple((region.names[id], id) for id in region.zones) if settings.zones is None else settings.zones
    return tuple(
        Zone(name, id or ids.get(name, ""), _types_in(region, id or ids.get(name, ""), positions))
        for name, id in sorted(pairs)
    )


def _types_in(region: Region, id: str, positions: Sequence[int]) -> int:
    if not region.zones:
        return (1 << len(positions)) - 1
    if id not in region.zones:
        return 0
    bit = 1 << region.zones.index(id)
    return mask_of(i for i, position in enumerate(positions) if region.offered[position] & bit)


def offerings(
    specs: Sequence[TypeSpec], positions: Sequence[int], region: Region, zones: Sequence[Zone]
) -> tuple[OfferingColumn, ...]:
    on_demand = _on_demand(region, positions)
    spot = _usual_spot(region, positions, on_demand)
    classes = (
        ("on-demand", mask_of(i for i, spec in enumerate(specs) if spec.on_demand)),
        ("spot", mask_of(i for i, spec in enumerate(specs) if spec.spot)),
    )
    live = {id: _live_spot(prices, positions) for id, prices in region.spot.items()}
    return tuple(
        _column(zone, capacity_type, types, on_demand if capacity_type == "on-demand" else live.get(zone.id, spot))
        for zone in zones
        for capacity_type, types in classes
    )


def _column(zone: Zone, capacity_type: str, types: int, prices: _Prices) -> OfferingColumn:
    priced = mask_of(i for i, price in enumerate(prices.values) if price is not None)
    return OfferingColumn(
        zone=zone.name,
        capacity_type=capacity_type,
        requirements=Requirements.of(_requirements(zone, capacity_type)),
        types=types & zone.types,
        available=types & zone.types & priced,
        prices=prices.values,
        estimated=prices.estimated & types & zone.types,
    )


def _requirements(zone: Zone, capacity_type: str) -> Iterator[Requirement]:
    yield Requirement.of(CAPACITY_TYPE, "In", (capacity_type,))
    yield Requirement.of(ZONE, "In", (zone.name,))
    if zone.id:
        yield Requirement.of(ZONE_ID, "In", (zone.id,))
    for key in RESERVATION_KEYS:
        yield Requirement.of(key, "DoesNotExist")


def _on_demand(region: Region, positions: Sequence[int]) -> _Prices:
    values = tuple(region.price[position] for position in positions)
    guessed = (
        i for i, position in enumerate(positions) if values[i] is not None and region.origin[position] != PUBLISHED
    )
    return _Prices(values, mask_of(guessed))


def _usual_spot(region: Region, positions: Sequence[int], on_demand: _Prices) -> _Prices:
    values = tuple(
        None if price is None else spot_price(price, region.saving[position])
        for price, position in zip(on_demand.values, positions, strict=True)
    )
    return _Prices(values, mask_of(i for i, value in enumerate(values) if value is not None))


def _live_spot(prices: Sequence[float | None], positions: Sequence[int]) -> _Prices:
    return _Prices(tuple(prices[position] for position in positions), 0)


def spot_price(on_demand: float, saving: int) -> float:
    """What is usual on the spot market for a type that saves so many per cent there."""
    return round(min(max(on_demand * (100 - saving) / 100, on_demand * _LOWEST_SPOT), on_demand), _DECIMALS)
