"""Requirement sets by number, so that what follows from two sets is worked out once.

A set never changes, so its number can key a memo that never goes stale. `kubernetes.io/hostname` is left out of these
sets: a host's own name would make every host's set another one, so hostname demands are masks of hosts instead.
"""

from collections.abc import Collection
from typing import Final

from baseload.values.requirement import EMPTY, Requirement, Requirements

NONE: Final = -1
"""In place of a set's number: the two sets do not go together."""


class Sets:
    """The requirement sets of one engine. `well_known` keys may be left open by a template or claim."""

    def __init__(self, well_known: Collection[str]) -> None:
        self.well_known: Final = frozenset(well_known)
        self.sets: Final[list[Requirements]] = []
        self._numbers: Final[dict[Requirements, int]] = {}
        self._joined: Final[dict[tuple[int, int, bool], int]] = {}
        self._single: Final[dict[tuple[int, str], str | None]] = {}
        self._min_values: Final[dict[int, tuple[tuple[str, int], ...]]] = {}
        self.empty: Final = self.number(EMPTY)

    def number(self, requirements: Requirements) -> int:
        number = self._numbers.get(requirements)
        if number is None:
            number = self._numbers[requirements] = len(self.sets)
            self.sets.append(requirements)
        return number

    def __getitem__(self, number: int) -> Requirements:
        return self.sets[number]

    def join(self, held: int, demanded: int, *, strict: bool) -> int:
        """The set of a host that takes on more demands, NONE where it cannot.

        `strict`: an existing node, whose undefined keys stay undefined; else well-known keys may be left open.
        """
        if held == demanded or demanded == self.empty:
            return held
        key = (held, demanded, strict)
        number = self._joined.get(key)
        if number is None:
            a, b = self.sets[held], self.sets[demanded]
            fits = a.compatible(b, () if strict else self.well_known)
            number = self._joined[key] = self.number(a.add(b)) if fits else NONE
        return number

    def requirement(self, number: int, key: str) -> Requirement:
        return self.sets[number].get_or_exists(key)

    def single(self, number: int, key: str) -> str | None:
        """The one value that a set allows for a key, None where it is open between several or says nothing."""
        place = (number, key)
        try:
            return self._single[place]
        except KeyError:
            held = self.sets[number].get(key)
            one = held is not None and not held.complement and len(held.values) == 1
            value = self._single[place] = next(iter(held.values)) if one and held is not None else None
            return value

    def min_values(self, number: int) -> tuple[tuple[str, int], ...]:
        """The keys of a set that ask for a variety of values, and how many."""
        found = self._min_values.get(number)
        if found is None:
            found = self._min_values[number] = tuple(
                (key, r.min_values) for key, r in self.sets[number].items() if r.min_values
            )
        return found
