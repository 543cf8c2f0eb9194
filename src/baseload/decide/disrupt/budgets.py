"""How many nodes of a pool may go at once, for a reason, at a moment (disruption and lifecycle spec 11).

The strictest budget that holds counts, and what is being disrupted for whatever reason is taken from it. A budget that
cannot be read leaves nothing of its pool to be disrupted, for any reason.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.initialization import is_ready
from baseload.decide.lifecycle.names import INSTANCE_TERMINATING
from baseload.kube.types.karpenter import Budget, NodePool
from baseload.model.statenode import StateNode
from baseload.values import cron, duration
from baseload.values.cron import CronError, Schedule
from baseload.values.duration import DurationError
from baseload.values.errors import quoted

UNBOUNDED: Final = 2**31 - 1
"""The allowance where no budget holds."""
USUAL: Final = "10%"
"""A budget's nodes where it names none, and the one budget of a pool that has no list of them."""
_DEFAULT: Final = (Budget(),)
_AMOUNT: Final = re.compile(r"(?P<number>[+-]?[0-9]+)(?P<percent>%?)")


class BudgetError(ValueError):
    """A budget that cannot be read."""


@dataclass(frozen=True, slots=True)
class Census:
    """The nodes of a pool that its budgets look at: all of them, and those that go or are not Ready."""

    nodes: int = 0
    disrupted: int = 0


def allowed(pool: NodePool, nodes: int, not_ready_or_deleting: int, reason: str, now: int) -> int:
    """How many more nodes of the pool may go now; `now` is nanoseconds since the epoch."""
    return max(0, limit(pool, nodes, reason, now) - not_ready_or_deleting)


def limit(pool: NodePool, nodes: int, reason: str, now: int) -> int:
    """How many nodes of the pool may be gone at once now, those that go already included."""
    strictest = UNBOUNDED
    for budget in budgets_of(pool):
        try:
            allowance = allowance_of(budget, nodes, now)
        except BudgetError:
            return 0
        if not budget.reasons or reason in budget.reasons:
            strictest = min(strictest, allowance)
    return max(0, strictest)


def budgets_of(pool: NodePool) -> tuple[Budget, ...]:
    """The pool's budgets; an empty list is none, a missing one is the usual one."""
    held = pool.spec.disruption.budgets
    return _DEFAULT if held is None else held


def allowance_of(budget: Budget, nodes: int, now: int) -> int:
    """What one budget allows of so many nodes. Raises BudgetError where it cannot be read."""
    if not is_active(budget, now):
        return UNBOUNDED
    text = budget.nodes or USUAL
    amount = _AMOUNT.fullmatch(text)
    if amount is None:
        raise BudgetError(f"{quoted(text)} is neither a number of nodes nor a percentage of them")
    number = int(amount["number"])
    return -(-nodes * number // 100) if amount["percent"] else number


def is_active(budget: Budget, now: int) -> bool:
    """Whether a budget holds: always, or from each time of its schedule on for its duration.

    The window begins with the time itself and is over at its end. Raises BudgetError where that cannot be read.
    """
    if not budget.schedule and not budget.duration:
        return True
    schedule, lasts = _window(budget.schedule, budget.duration)
    begins = schedule.next(now - lasts)
    return begins is not None and begins <= now


def faults(pool: NodePool, now: int) -> tuple[str, ...]:
    """What is wrong with budgets of the pool, each with its place; one of them stops all disruption of the pool."""
    found = []
    for place, budget in enumerate(budgets_of(pool)):
        try:
            allowance_of(budget, 0, now)
        except BudgetError as error:
            found.append(f"spec.disruption.budgets[{place}]: {error}")
    return tuple(found)


def census(states: Iterable[StateNode], marked: Collection[str] = ()) -> Mapping[str, Census]:
    """pool -> its nodes; `marked` are the names of those that a running command gives up.

    A node that is not initialised counts for nothing, nor one whose instance is on its way out; a node that is not
    Ready counts as disrupted, though nobody disrupts it.
    """
    found: dict[str, list[int]] = {}
    for state in states:
        if not counts(state):
            continue
        assert state.node is not None
        goes = state.marked_for_deletion or state.name in marked or not is_ready(state.node)
        held = found.setdefault(state.pool, [0, 0])
        held[0] += 1
        held[1] += goes
    return {pool: Census(nodes, gone) for pool, (nodes, gone) in found.items()}


def counts(state: StateNode) -> bool:
    """Whether budgets look at a node at all."""
    claim = state.claim
    if claim is None or not state.initialized:
        return False
    return not conditions.is_true(claim.status.conditions, INSTANCE_TERMINATING)


@lru_cache(maxsize=1024)
def _window(schedule: str, lasts: str) -> tuple[Schedule, int]:
    if not schedule or not lasts:
        raise BudgetError("schedule and duration go together")
    if schedule.startswith("@every"):
        raise BudgetError(f"{quoted(schedule)} is not a schedule of a budget: five fields, or a word such as @daily")
    try:
        return cron.parse(schedule), duration.parse(lasts)
    except (CronError, DurationError) as error:
        raise BudgetError(str(error)) from error
