"""The claims that a pass has planned, kept so that "the emptiest that may take this pod" is the lowest bit of a mask.

A claim is a place in an ever-growing range. One mask for each number of pods, and the list of numbers in use, give
the order in which Karpenter tries claims: fewest pods first, the older first among equals (provisioning spec 6.3).
Claims only fill up and only lose types, so what was refused stays refused.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import Any, Final

from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.shape import FitPod, HostClass, Size
from baseload.decide.fit.template import Load, Template

_SCREENED_AT_ONCE: Final = 64  # below so many claims one look at each costs less than numpy's fixed price


class Claim:
    """A planned NodeClaim."""

    __slots__ = ("bit", "hosts", "loads", "place", "pods", "relaxed_values", "reservations", "template", "types")

    def __init__(self, place: int, template: Template, hosts: HostClass, types: int) -> None:
        self.place = place
        self.bit = 1 << place
        self.template = template
        self.hosts = hosts  # whose `number` is the claim's requirement set
        self.types = types
        self.pods: list[FitPod] = []
        self.loads = [Load(load.types, dict(load.amounts), load.ports) for load in template.loads]
        self.reservations: frozenset[str] = frozenset()
        self.relaxed_values = template.relaxed_values

    def requests(self) -> dict[str, int]:
        """What its pods ask for, and the least that daemons ask on any of its types."""
        overhead = self.template.groups[0].overhead
        pods = {r: a - overhead.get(r, 0) for r, a in self.loads[0].amounts.items()}
        total = {r: a for r, a in pods.items() if a}
        for resource, amount in self.template.overhead(self.types).items():
            total[resource] = total.get(resource, 0) + amount
        return total


def types_holding(template: Template, loads: Sequence[Load], mask: int, size: Size, ports: tuple[HostPort, ...]) -> int:
    """Those types of a mask that hold a claim's loads and one pod more."""
    found = 0
    ladders = template.types.allocatable
    for load in loads:
        left = mask & load.types
        if ports and left and any(p.clashes(q) for p in ports for q in load.ports):
            continue
        amounts = load.amounts
        for resource, amount in size.load:
            if not left:
                break
            ladder = ladders[resource]
            left &= ladder.masks[bisect_left(ladder.amounts, amounts.get(resource, 0) + amount)]
        found |= left
    return found


class Claims:
    """All planned claims of one solve."""

    def __init__(self) -> None:
        self.all: Final[list[Claim]] = []
        self.counts: Final[list[int]] = []  # pod numbers in use, ascending
        self.by_count: Final[dict[int, int]] = {}  # pod number -> mask of claims
        self._free = _Headroom(self.all)

    def open(self, template: Template, hosts: HostClass, types: int) -> Claim:
        claim = Claim(len(self.all), template, hosts, types)
        self.all.append(claim)
        hosts.mask |= claim.bit
        return claim

    def join(self, claim: Claim, pod: FitPod, size: Size, types: int, ports: tuple[HostPort, ...]) -> None:
        """Books a pod on a claim, whose types shrink to those given."""
        bit, before = claim.bit, len(claim.pods)
        claim.pods.append(pod)
        claim.types = types
        for load in claim.loads:
            amounts = load.amounts
            for resource, amount in size.load:
                amounts[resource] = amounts.get(resource, 0) + amount
            load.ports += ports
        if before:
            left = self.by_count[before] ^ bit
            if left:
                self.by_count[before] = left
            else:
                del self.by_count[before]
                self.counts.remove(before)
        if before + 1 not in self.by_count:
            insort(self.counts, before + 1)
            self.by_count[before + 1] = 0
        self.by_count[before + 1] |= bit
        self._free.stale.add(claim.place)

    def screen(self, size: Size) -> None:
        """Notes on the size every claim that is certainly too full for it, whatever set it would end with."""
        if len(self.all) >= _SCREENED_AT_ONCE:
            size.screened |= self._free.too_full(size)


class _Headroom:
    """An upper bound of what each claim can still take, as columns: the best of its types in each resource."""

    def __init__(self, claims: list[Claim]) -> None:
        self._claims = claims
        self._columns: dict[str, Any] = {}  # resource -> numpy array by claim
        self._fresh: dict[str, int] = {}  # resource -> claims for which the column is filled
        self.stale: set[int] = set()

    def too_full(self, size: Size) -> int:
        import numpy as np  # dear to import, and needed for large plans alone

        count = len(self._claims)
        self._refresh()
        room = np.ones(count, dtype=bool)
        for resource, amount in size.load:
            room &= self._column(resource, count)[:count] >= float(amount)
        return ((1 << count) - 1) & ~int.from_bytes(np.packbits(room, bitorder="little").tobytes(), "little")

    def _refresh(self) -> None:
        """Rows of claims that took pods since; an old row would err on the safe side, a refreshed one refuses more."""
        for resource, column in self._columns.items():
            filled = self._fresh[resource]
            for place in self.stale:
                if place < filled:
                    column[place] = self._room(place, resource)
        self.stale.clear()

    def _column(self, resource: str, count: int) -> Any:
        import numpy as np

        column, filled = self._columns.get(resource), self._fresh.get(resource, 0)
        if column is None or len(column) < count:
            larger = np.zeros(max(1024, 2 * count))
            if column is not None:
                larger[:filled] = column[:filled]
            column = self._columns[resource] = larger
        for place in range(filled, count):
            column[place] = self._room(place, resource)
        self._fresh[resource] = count
        return column

    def _room(self, place: int, resource: str) -> float:
        """Rounding to floats keeps order, so a bound that is too small in floats is too small exactly."""
        claim = self._claims[place]
        best = 0
        for load in claim.loads:
            types = claim.types & load.types
            if types:
                largest = claim.template.types.largest_allocatable(types, resource)
                best = max(best, largest - load.amounts.get(resource, 0))
        return float(best)
