"""Which of a NodePool's disruption budgets hold its nodes now, in numbers, and the least change of one."""

from collections.abc import Iterator
from typing import Final

from baseload.decide.disrupt import budgets
from baseload.decide.disrupt.budgets import BudgetError, Census
from baseload.decide.explain.edits import Edit
from baseload.kube.fieldpath import text
from baseload.kube.types.karpenter import Budget, NodePool
from baseload.model.view import ref_of
from baseload.plan.node_story import Rule
from baseload.plan.provision import Field
from baseload.values import cron, duration, instant

LIST: Final = ("spec", "disruption", "budgets")
_MOST_HITS: Final = 64


def rules(pool: NodePool, census: Census, reason: str, now: int) -> tuple[Rule, ...]:
    """The budgets that let no node go for this reason; where each lets some, the strictest."""
    held = list(_held(pool, census, reason, now))
    binding = [one for one in held if one[2] - census.disrupted <= 0] or sorted(held, key=lambda one: one[2])[:1]
    return tuple(_rule(pool, at, budget, allows, census, now) for at, budget, allows in binding)


def loosened(pool: NodePool, census: Census, reason: str, now: int, *, spent: int = 0) -> tuple[Edit, ...]:
    """The least changes after which one node more may go; one for each budget that holds it."""
    wanted = census.disrupted + spent + 1
    edits = []
    for at, budget, allows in _held(pool, census, reason, now):
        if allows >= wanted:
            continue
        if pool.spec.disruption.budgets is None:
            edits.append(Edit(ref_of(pool), text(LIST), [{"nodes": _nodes(budget, wanted, census.nodes)}]))
        elif allows < 0:
            edits.append(Edit(ref_of(pool), text((*LIST, at)), None))
        else:
            nodes = _nodes(budget, wanted, census.nodes)
            edits.append(Edit(ref_of(pool), text((*LIST, at, "nodes")), nodes))
    return tuple(edits)


def _held(pool: NodePool, census: Census, reason: str, now: int) -> Iterator[tuple[int, Budget, int]]:
    """The budgets in force: place, budget, and how many nodes it lets be gone; -1 for one that cannot be read."""
    for at, budget in enumerate(budgets.budgets_of(pool)):
        try:
            allows = budgets.allowance_of(budget, census.nodes, now)
        except BudgetError:
            yield at, budget, -1
            continue
        if allows < budgets.UNBOUNDED and (not budget.reasons or reason in budget.reasons):
            yield at, budget, allows


def _nodes(budget: Budget, wanted: int, nodes: int) -> str:
    """The number, or the percentage where the budget has one, that lets so many go."""
    if (budget.nodes or budgets.USUAL).endswith("%"):
        return next((f"{p}%" for p in range(101) if -(-nodes * p // 100) >= wanted), str(wanted))
    return str(wanted)


def _rule(pool: NodePool, at: int, budget: Budget, allows: int, census: Census, now: int) -> Rule:
    facts: dict[str, Field] = {
        "nodes": census.nodes,
        "allowed": max(0, allows),
        "disrupted": census.disrupted,
    }
    facts |= {key: value for key, value in (("schedule", budget.schedule), ("duration", budget.duration)) if value}
    if budget.reasons:
        facts["reasons"] = list(budget.reasons)
    if allows < 0:
        facts["fault"] = next(iter(budgets.faults(pool, now)), "")
    path = (*LIST, at, "nodes") if pool.spec.disruption.budgets is not None else LIST
    ends = _ends(budget, now) if allows >= 0 else None
    return Rule(ref_of(pool), text(path), budget.nodes or budgets.USUAL, facts, ends)


def _ends(budget: Budget, now: int) -> str | None:
    """When the window in which the budget holds is over; None where it has none, or one that never ends."""
    if not budget.schedule:
        return None
    schedule, lasts = cron.parse(budget.schedule), duration.parse(budget.duration)
    hit, end = schedule.next(now - lasts), now
    for _ in range(_MOST_HITS):
        if hit is None or hit > max(end, now):
            return instant.format(end) if end > now else None
        end = hit + lasts
        hit = schedule.next(hit)
    return None
