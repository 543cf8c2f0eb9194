"""A taint: what a node bears to keep off the pods that do not tolerate it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint without the instant at which it was put there."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
