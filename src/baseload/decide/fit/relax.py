"""Relaxation: the one preference that a pod gives up after an attempt that found no place (provisioning spec 5.5)."""

from dataclasses import replace
from typing import TypeVar

from baseload.decide.fit.constraints import Constraints, heaviest
from baseload.decide.fit.taints import TOLERATES_SOFT

T = TypeVar("T")


def relax(demands: Constraints, *, soft_taints: bool) -> Constraints | None:
    """The demands less the first thing that can be given up, None when nothing is left to give.

    `soft_taints`: some participating pool has a PreferNoSchedule taint, so tolerating those is the last resort.
    """
    if len(demands.required) > 1:
        return replace(demands, required=demands.required[1:])
    if demands.preferred_affinity:
        return replace(demands, preferred_affinity=_without_heaviest(demands.preferred_affinity))
    if demands.preferred_anti_affinity:
        return replace(demands, preferred_anti_affinity=_without_heaviest(demands.preferred_anti_affinity))
    if demands.preferred:
        return replace(demands, preferred=_without_heaviest(demands.preferred))
    for place, constraint in enumerate(demands.spread):
        if not constraint.hard:
            return replace(demands, spread=_swap_removed(demands.spread, place))
    if soft_taints and TOLERATES_SOFT not in demands.tolerations:
        return replace(demands, tolerations=(*demands.tolerations, TOLERATES_SOFT))
    return None


def _without_heaviest(weighted: tuple[tuple[int, T], ...]) -> tuple[tuple[int, T], ...]:
    place = heaviest(weighted)
    return weighted[:place] + weighted[place + 1 :]


def _swap_removed(items: tuple[T, ...], place: int) -> tuple[T, ...]:
    """Without the item at `place`, into which the last one moves: the order in which Karpenter goes on."""
    kept = list(items)
    kept[place] = kept[-1]
    return tuple(kept[:-1])
