"""How clusters are drawn: four questions, answered by hypothesis (and shrunk to the plainest answer) or by a seed."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st

from .algebra import Manifest

T = TypeVar("T")

NOW = "2026-01-01T00:00:00Z"
ZONES = ("zone-1", "zone-2", "zone-3")
CAPACITY_TYPES = ("on-demand", "spot")
TEAMS = ("a", "b", "c")
NODE_CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}


class Draw:
    """Answers by hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def number(self, least: int, most: int) -> int:
        return int(self.draw(st.integers(least, most)))

    def places(self, count: int, least: int, most: int) -> set[int]:
        return set(self.draw(st.sets(st.integers(0, count - 1), min_size=least, max_size=most)))

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def one(self, choices: Sequence[T]) -> T:
        return choices[self.number(0, len(choices) - 1)]

    def some(self, choices: Sequence[T], least: int = 1, most: int | None = None) -> list[T]:
        """Some of the choices in their own order."""
        bound = len(choices) if most is None else min(most, len(choices))
        return [choices[i] for i in sorted(self.places(len(choices), least, bound))]


class Seeded(Draw):
    """Answers by a seed: evenly spread, so larger and wilder than what hypothesis likes to begin with."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def places(self, count: int, least: int, most: int) -> set[int]:
        return set(self.random.sample(range(count), self.random.randint(least, most)))


def expression(key: str, operator: str, *values: str) -> Manifest:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
