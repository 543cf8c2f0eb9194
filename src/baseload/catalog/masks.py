"""A set of instance types as a mask: an int whose bit i stands for the type at position i."""

from collections.abc import Iterable, Iterator


def mask_of(positions: Iterable[int]) -> int:
    """The set of types that stand at these positions."""
    mask = 0
    for position in positions:
        mask |= 1 << position
    return mask


def bits(mask: int) -> Iterator[int]:
    """The positions of the types in a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
