"""Instance types as masks: which meet a requirement set, hold a load, stay within a limit (provisioning spec 12)."""

from collections.abc import Iterable, Mapping
from typing import Final

from baseload.catalog.columns import InstanceTypes, OfferingColumn
from baseload.catalog.masks import bits, mask_of
from baseload.decide.fit.ladder import Ladders
from baseload.decide.fit.sets import Sets
from baseload.values.requirement import Requirement, Requirements

RESERVED: Final = "reserved"


class TypeIndex:
    """The types of one or more pools, indexed for the questions that fitting asks."""

    def __init__(self, table: InstanceTypes, sets: Sets) -> None:
        self.table: Final = table
        self.all: Final = (1 << len(table)) - 1
        self._sets: Final = sets
        self.allocatable: Final = Ladders(table.allocatable, len(table))
        self._capacity: Final = Ladders(table.capacity, len(table))
        self._masks: Final[dict[int, int]] = {}
        self._largest: Final[dict[tuple[int, str], int]] = {}
        self._agreeing: Final[dict[Requirement, int]] = {}
        self.usable: Final = self._without_negative_amounts()
        self.reserved: Final = tuple(o for o in table.offerings if o.capacity_type == RESERVED and o.available)

    def mask(self, number: int) -> int:
        """The types that agree with a set and have an available offering that does."""
        mask = self._masks.get(number)
        if mask is None:
            requirements = self._sets[number]
            mask = self._masks[number] = self.agreeing(requirements) & self.offered(requirements)
        return mask

    def agreeing(self, requirements: Requirements) -> int:
        """The types whose own labels intersect the requirements; a label that a type lacks is no obstacle."""
        mask = self.all
        for key, requirement in requirements.items():
            if key in self.table.labels:
                mask &= self._agreeing_on(requirement)
        return mask

    def offered(self, requirements: Requirements) -> int:
        """The types with an available offering that goes with the requirements."""
        mask = 0
        for offering in self.table.offerings:
            if offering.available & ~mask and self._goes_with(requirements, offering):
                mask |= offering.available
        return mask

    def offerings(self, requirements: Requirements) -> Iterable[OfferingColumn]:
        """The columns with an available offering that goes with the requirements."""
        return (o for o in self.table.offerings if o.available and self._goes_with(requirements, o))

    def holding(self, mask: int, load: Mapping[str, int]) -> int:
        """Those of the mask that hold the load."""
        for resource, amount in load.items():
            if amount:
                mask &= self.allocatable[resource].at_least(amount)
        return mask & self.usable

    def within(self, mask: int, remaining: Mapping[str, int]) -> int:
        """Those of the mask whose capacity stays within what is left of a pool's limits."""
        for resource, amount in remaining.items():
            if amount < 0:
                return 0
            if resource != "nodes":
                mask &= self._capacity[resource].at_most(amount)
        return mask

    def largest_capacity(self, mask: int, resource: str) -> int:
        key = (mask, resource)
        found = self._largest.get(key)
        if found is None:
            found = self._largest[key] = self._capacity[resource].largest(mask)
        return found

    def largest_allocatable(self, mask: int, resource: str) -> int:
        return self.allocatable[resource].largest(mask)

    def variety(self, mask: int, key: str) -> int:
        """How many different values of a label the types of a mask have between them."""
        values: set[str] = set()
        column = self.table.labels.get(key)
        for requirement, types in column.groups if column else ():
            if types & mask and not requirement.complement:
                values |= requirement.values
        return len(values)

    def short_of_variety(self, mask: int, number: int) -> tuple[tuple[str, int], ...]:
        """The keys whose minValues the types of a mask do not reach, and what they reach."""
        return tuple(
            (key, reached)
            for key, wanted in self._sets.min_values(number)
            if (reached := self.variety(mask, key)) < wanted
        )

    def names(self, mask: int) -> tuple[str, ...]:
        return tuple(self.table.names[i] for i in bits(mask))

    def _agreeing_on(self, requirement: Requirement) -> int:
        mask = self._agreeing.get(requirement)
        if mask is None:
            mask = self.all
            for held, types in self.table.labels[requirement.key].groups:
                if not held.agrees(requirement):
                    mask &= ~types
            self._agreeing[requirement] = mask
        return mask

    def _goes_with(self, requirements: Requirements, offering: OfferingColumn) -> bool:
        return requirements.compatible(offering.requirements, self._sets.well_known)

    def _without_negative_amounts(self) -> int:
        """A type with a negative amount of anything holds nothing (7.2)."""
        columns = self.table.allocatable.values()
        return self.all & ~mask_of(i for amounts in columns for i, amount in enumerate(amounts) if amount < 0)
