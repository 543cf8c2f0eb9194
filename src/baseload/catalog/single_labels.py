"""The labels that a node of a type, launched by an offering, is known to have: those with a single value."""

from collections.abc import Iterator

from baseload.catalog.columns import InstanceTypes, OfferingColumn


def of_type(table: InstanceTypes, place: int) -> Iterator[tuple[str, str]]:
    """What the type at that place decides by itself."""
    for column in table.labels.values():
        for held, types in column.groups:
            if types >> place & 1 and not held.complement and len(held.values) == 1:
                yield held.key, next(iter(held.values))


def of_offering(offering: OfferingColumn) -> Iterator[tuple[str, str]]:
    """What the offering decides: the zone, the capacity type and what goes with them."""
    for requirement in offering.requirements.values():
        if not requirement.complement and len(requirement.values) == 1:
            yield requirement.key, next(iter(requirement.values))
