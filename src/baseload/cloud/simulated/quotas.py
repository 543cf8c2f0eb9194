"""How many vCPUs the account may run, by capacity type and class of instance families, as EC2 counts them.

Instances count from their launch until they begin to end.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

_CLASSES: Final = {
    **dict.fromkeys(("a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"), "standard"),
    **dict.fromkeys(("g", "gr", "vt"), "g"),
    **dict.fromkeys(("u",), "high-memory"),
    **dict.fromkeys(("f", "p", "x", "inf", "trn", "dl", "hpc", "mac"), ""),  # classes of their own letters
}
CLASSES: Final = tuple(dict.fromkeys(named or letters for letters, named in _CLASSES.items()))
"""The classes; `standard` are the families A, C, D, H, I, M, R, T and Z, `g` holds G and VT."""

_LETTERS: Final = re.compile(r"[a-z]*")


def class_of(instance_type: str) -> str:
    """The class of a type's family; a name that is not EC2's counts as standard."""
    found = _LETTERS.match(instance_type)
    letters = found[0] if found else ""
    return _CLASSES.get(letters, "standard") or letters


class Quotas:
    """What the account may run and does run."""

    def __init__(self, limits: Mapping[tuple[str, str], int]) -> None:
        self.limits = dict(limits)
        self._used: Counter[tuple[str, str]] = Counter()

    def exceeded(self, instance_type: str, capacity_type: str, vcpus: int) -> int | None:
        """The limit that so many more would go beyond; None where they may run."""
        key = capacity_type, class_of(instance_type)
        limit = self.limits.get(key)
        return limit if limit is not None and self._used[key] + vcpus > limit else None

    def take(self, instance_type: str, capacity_type: str, vcpus: int) -> None:
        self._used[capacity_type, class_of(instance_type)] += vcpus

    def give_back(self, instance_type: str, capacity_type: str, vcpus: int) -> None:
        self._used[capacity_type, class_of(instance_type)] -= vcpus

    @property
    def used(self) -> dict[tuple[str, str], int]:
        """vCPUs that run, by capacity type and class."""
        return {key: vcpus for key, vcpus in self._used.items() if vcpus}
