"""Taints and the tolerations that lift them, as kube-scheduler and Karpenter read them (provisioning spec 8)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from baseload.kube.types import core, meta
from baseload.values import label
from baseload.values.taint import Taint

PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"


@dataclass(frozen=True, slots=True)
class Toleration:
    key: str
    operator: str  # Equal (also ""), Exists, Lt, Gt
    value: str
    effect: str

    def lifts(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        if self.key != taint.key and (self.key or self.operator != "Exists"):
            return False
        match self.operator:
            case "" | "Equal":
                return self.value == taint.value
            case "Exists":
                return True
            case "Gt" | "Lt":
                return _compares(taint.value, self.operator, self.value)
        return False


TOLERATES_SOFT: Final = Toleration("", "Exists", "", PREFER_NO_SCHEDULE)
"""What relaxation adds last, so that a PreferNoSchedule taint is a preference after all."""


def _compares(taint: str, operator: str, toleration: str) -> bool:
    """A numeric toleration: the taint's value is greater (Gt) or less (Lt) than the toleration's."""
    held, bound = label.integer(taint), label.integer(toleration)
    if held is None or bound is None:
        return False
    return held > bound if operator == "Gt" else held < bound


def first_untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """The first taint that no toleration lifts; every effect counts, PreferNoSchedule too."""
    for taint in taints:
        if not any(toleration.lifts(taint) for toleration in tolerations):
            return taint
    return None


def tolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> bool:
    return first_untolerated(taints, tolerations) is None


def taints_of(written: Iterable[meta.Taint]) -> tuple[Taint, ...]:
    return tuple(Taint(taint.key, taint.value, taint.effect) for taint in written)


def tolerations_of(written: Iterable[core.Toleration]) -> tuple[Toleration, ...]:
    return tuple(Toleration(t.key, t.operator, t.value, t.effect) for t in written)
