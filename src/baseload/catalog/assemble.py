"""Gathering what is known type by type into the columns of `InstanceTypes`."""

from collections.abc import Iterable, Sequence

from baseload.catalog.columns import LabelColumn
from baseload.values.requirement import Requirement

ABSENT: frozenset[str] = frozenset()  # the type lacks the label: DoesNotExist


def mask_of(positions: Iterable[int]) -> int:
    """The set of types that stand at these positions."""
    mask = 0
    for position in positions:
        mask |= 1 << position
    return mask


def positions_of(mask: int) -> list[int]:
    """The positions of the types in a set, ascending."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def label_column(key: str, values: Sequence[frozenset[str] | None]) -> LabelColumn:
    """A column from the values of each type: `ABSENT` where it lacks the label, None where nothing is said of it."""
    holders: dict[frozenset[str], list[int]] = {}
    for position, said in enumerate(values):
        if said is not None:
            holders.setdefault(said, []).append(position)
    groups = tuple((Requirement.of(key, "In", said), mask_of(positions)) for said, positions in holders.items())
    return LabelColumn(key, groups)


def resource_columns(amounts: Sequence[dict[str, int]]) -> dict[str, tuple[int, ...]]:
    """Columns from the amounts of each type; resources in the order in which the types name them."""
    resources = dict.fromkeys(resource for by_resource in amounts for resource in by_resource)
    return {resource: tuple(by_resource.get(resource, 0) for by_resource in amounts) for resource in resources}
