"""The nearest change that frees a node: wall after wall, each remedy tried by deciding again.

A node is free when some method has a command for it, within the budgets of its NodePool. Where one remedy only leads
on to the next wall, that one's remedies are tried upon it; in the end every field is left out that need not change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.explain.edits import Edit
from baseload.decide.explain_node.quiet import windows_end
from baseload.decide.explain_node.remedies import OF_SUPPLY, remedies
from baseload.decide.explain_node.turns import Turn, Turns
from baseload.decide.explain_node.walls import wall
from baseload.decide.explain_node.what_if import Upon, WhatIf
from baseload.plan.disrupt import Kept, Method
from baseload.plan.node_story import Wall
from baseload.values import instant

_MOST_WALLS: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class Freed:
    """Edits after which a method has a command for the node."""

    edits: tuple[Edit, ...]
    turn: Turn


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The walls, one behind the other, and what takes them all away."""

    walls: tuple[Wall, ...]
    freed: Freed | None


def nearest(trials: WhatIf, turns: Turns) -> Found:
    """The smallest change that was found; without one the walls as far as they were seen."""
    found = [_through(trials, turns, method) for method in turns.leading()]
    freed = [one for one in found if one.freed is not None]
    return min(freed or found[:1], key=lambda one: len(one.freed.edits) if one.freed is not None else 0)


def wait(trials: WhatIf, turns: Turns) -> tuple[int, Turn, Wall] | None:
    """The first moment at which the node is free though nothing is changed, and the wall that is gone by then."""
    for method in turns.leading():
        held = wall(turns, turns.of(method))
        moments = {instant.parse(rule.until) for rule in held.rules if rule.until is not None}
        if held.reason in (Kept.NO_PLACE, *OF_SUPPLY):
            moments |= set(windows_end(turns.situation))
        for moment in sorted(moments):
            then = trials.turns((), at=moment)
            turn = then.free() if then is not None else None
            if turn is not None:
                return moment, turn, held
    return None


def _through(trials: WhatIf, turns: Turns, method: Method) -> Found:
    walls: list[Wall] = []
    edits: tuple[Edit, ...] = ()
    while len(walls) < _MOST_WALLS:
        if method not in turns.leading():
            method = turns.leading()[0]
        walls.append(wall(turns, turns.of(method)))
        onward: tuple[tuple[Edit, ...], Turns] | None = None
        for changed, after in _tried(trials, turns, method, walls[-1], edits):
            turn = after.free()
            if turn is not None:
                freed = _least(trials, Freed(changed, turn))
                return Found(tuple(walls) if len(freed.edits) > 1 else tuple(walls[:1]), freed)
            if onward is None and _leads_on(after, method, walls):
                onward = changed, after
        if onward is None:
            break
        edits, turns = onward
    return Found(tuple(walls), None)


def _tried(
    trials: WhatIf, turns: Turns, method: Method, held: Wall, before: tuple[Edit, ...]
) -> Iterator[tuple[tuple[Edit, ...], Turns]]:
    for remedy in remedies(Upon(trials, before), turns, method, held):
        changed = (*before, *remedy)
        after = trials.turns(changed)
        if after is not None:
            yield changed, after


def _leads_on(after: Turns, method: Method, walls: Sequence[Wall]) -> bool:
    """Whether another wall stands there now, which was not met before."""
    leading = after.leading()
    next_ = wall(after, after.of(method if method in leading else leading[0]))
    return all(_key(next_) != _key(one) for one in walls)


def _key(one: Wall) -> tuple[Kept, tuple[str, ...], tuple[tuple[str, str], ...]]:
    return one.reason, one.pods, tuple((rule.object, rule.path) for rule in one.rules)


def _least(trials: WhatIf, freed: Freed) -> Freed:
    """Without the edits that need not be."""
    for edit in freed.edits:
        if len(freed.edits) == 1:
            break
        fewer = tuple(one for one in freed.edits if one is not edit)
        after = trials.turns(fewer)
        turn = after.free() if after is not None else None
        if turn is not None:
            freed = Freed(fewer, turn)
    return freed
