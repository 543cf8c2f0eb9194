"""Gathering what is known type by type into the columns of `InstanceTypes`."""

from collections.abc import Sequence

from baseload.catalog.columns import LabelColumn
from baseload.catalog.masks import mask_of
from baseload.values.requirement import Requirement

ABSENT: frozenset[str] = frozenset()  # the type lacks the label: DoesNotExist


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
