"""Resources by their names: which of them count bytes, and how an amount of one is written as a quantity."""

from typing import Final

from baseload.values import quantity
from baseload.values.quantity import Quantity

_BYTES: Final = ("memory", "ephemeral-storage", "storage", "hugepages-")


def counts_bytes(resource: str) -> bool:
    """Whether amounts of the resource read best in Ki, Mi and Gi."""
    return resource.startswith(_BYTES)


def written(resource: str, nanos: Quantity) -> str:
    """An amount of the resource as a canonical quantity."""
    return quantity.format(nanos, "BinarySI" if counts_bytes(resource) else "DecimalSI")
