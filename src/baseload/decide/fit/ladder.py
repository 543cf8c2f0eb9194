"""Amounts as masks: which types, or which nodes, have at least so much of a resource.

The amounts of a resource are sorted once, and each place keeps the mask of what stands from there on, so a question is
one bisection and one AND, whatever the number of things.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping


class Ladder:
    """One resource: things in order of their amount. `amounts[k]` is the least that those of `masks[k]` have."""

    __slots__ = ("amounts", "masks")

    def __init__(self, amounts: tuple[int, ...]) -> None:
        order = sorted(range(len(amounts)), key=amounts.__getitem__)
        self.amounts = [amounts[i] for i in order]
        masks = [0]
        for i in reversed(order):
            masks.append(masks[-1] | 1 << i)
        masks.reverse()
        self.masks = masks

    def at_least(self, amount: int) -> int:
        return self.masks[bisect_left(self.amounts, amount)]

    def at_most(self, amount: int) -> int:
        return self.masks[0] & ~self.masks[bisect_right(self.amounts, amount)]

    def largest(self, mask: int) -> int:
        """The largest amount among those of a mask that is not empty."""
        low, high = 0, len(self.amounts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.masks[middle] & mask:
                low = middle
            else:
                high = middle - 1
        return self.amounts[low]


class Ladders(dict[str, Ladder]):
    """A ladder a resource, made when first asked for; a resource that nothing has is a ladder of zeros."""

    def __init__(self, columns: Mapping[str, tuple[int, ...]], count: int) -> None:
        super().__init__()
        self._columns = columns
        self._count = count

    def __missing__(self, resource: str) -> Ladder:
        ladder = self[resource] = Ladder(self._columns.get(resource) or (0,) * self._count)
        return ladder
