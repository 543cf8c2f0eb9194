"""Instance types with other prices or more capacity, as NodeOverlays make them; the original stays as it is."""

from collections.abc import Mapping
from dataclasses import replace

from baseload.catalog.columns import InstanceTypes, OfferingColumn
from baseload.catalog.masks import bits, mask_of


def with_prices(types: InstanceTypes, prices: Mapping[int, Mapping[int, float]]) -> InstanceTypes:
    """Other prices for some offerings: position of the column in `offerings` -> position of the type -> price.

    A price that is given is no estimate. An offering that was not available for want of a price becomes so.
    """
    offerings = tuple(
        _repriced(column, prices[position]) if position in prices else column
        for position, column in enumerate(types.offerings)
    )
    return replace(types, offerings=offerings)


def _repriced(column: OfferingColumn, prices: Mapping[int, float]) -> OfferingColumn:
    given = mask_of(prices) & column.types
    unpriced = mask_of(position for position in prices if column.prices[position] is None)
    return replace(
        column,
        available=column.available | (given & unpriced),
        prices=tuple(prices.get(position, price) for position, price in enumerate(column.prices)),
        estimated=column.estimated & ~given,
    )


def with_capacity(types: InstanceTypes, mask: int, amounts: Mapping[str, int]) -> InstanceTypes:
    """So much of some extended resources on the types of `mask`, in place of what they have of these.

    Huge pages are taken out of ordinary memory.
    """
    capacity, allocatable = dict(types.capacity), dict(types.allocatable)
    positions = frozenset(bits(mask))
    for resource, amount in amounts.items():
        if resource.startswith("hugepages-"):
            had = capacity.get(resource, (0,) * len(types))
            allocatable["memory"] = tuple(
                max(0, memory + had[i] - amount) if i in positions else memory
                for i, memory in enumerate(allocatable["memory"])
            )
        for columns in (capacity, allocatable):
            had = columns.get(resource, (0,) * len(types))
            columns[resource] = tuple(amount if i in positions else held for i, held in enumerate(had))
    return replace(types, capacity=capacity, allocatable=allocatable)
