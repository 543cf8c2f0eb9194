"""The changes that might take a wall away, the mildest first. Whether they do is for trials to find out.

A remedy is one field, or several where the wall has several parts (two protected pods, say).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.budgets import faults
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.situation import Situation
from baseload.decide.disrupt.static_drift import counts
from baseload.decide.explain.edits import Edit
from baseload.decide.explain_node import pod_budgets, pool_budgets
from baseload.decide.explain_node.loosening import loosening
from baseload.decide.explain_node.quiet import let_alone_for, shorter, shorter_for_targets
from baseload.decide.explain_node.room import room
from baseload.decide.explain_node.turns import REASONS, Turns
from baseload.decide.explain_node.walls import GATE, MARK, POLICY, guarded, protected
from baseload.decide.explain_node.what_if import OPTIONS, Upon
from baseload.kube.fieldpath import text
from baseload.model.view import ref_of
from baseload.plan.disrupt import Kept, Method
from baseload.plan.node_story import Wall
from baseload.values.resource import written

Remedy = tuple[Edit, ...]
WHEN_UNDERUTILIZED: Final = "WhenEmptyOrUnderutilized"


def remedies(trials: Upon, turns: Turns, method: Method, wall: Wall) -> Iterator[Remedy]:
    """What might be done about a wall that a method ran into."""
    candidate = turns.candidate
    if candidate is None:
        yield from _of_node(turns, wall)
        return
    found = _BY_REASON.get(wall.reason)
    if found is not None:
        yield from found(turns.situation, candidate, method)
    elif wall.reason is Kept.NO_PLACE:
        yield from shorter_for_targets(turns.situation)
        yield from room(trials, turns, candidate, wall)
        yield from loosening(trials, turns, candidate)
    elif wall.reason in OF_SUPPLY:
        yield from shorter_for_targets(turns.situation)
        yield from loosening(trials, turns, candidate)


OF_SUPPLY: Final = (Kept.SEVERAL_NODES, Kept.NOT_CHEAPER, Kept.MIN_VALUES, Kept.SPOT_TYPES, Kept.SAME_TYPE)


def _of_node(turns: Turns, wall: Wall) -> Iterator[Remedy]:
    if wall.reason is Kept.NODE_MARK:
        yield tuple(Edit(rule.object, rule.path, None) for rule in wall.rules)


def _of_marked_pods(situation: Situation, candidate: Candidate, _: Method) -> Iterator[Remedy]:
    yield tuple(Edit(ref_of(pod), MARK, None) for pod in protected(situation, candidate))


def _of_guarded_pods(situation: Situation, candidate: Candidate, _: Method) -> Iterator[Remedy]:
    """Every budget in the way loosened a little; of several on one pod, all but one deleted."""
    found: dict[str, list[Edit]] = {}
    surplus: dict[str, Edit] = {}
    for pod, matching in guarded(situation, candidate):
        for budget in matching[1:]:
            surplus[ref_of(budget)] = Edit(ref_of(budget), "", None)
        if len(matching) == 1:
            [budget] = matching
            options = list(pod_budgets.loosened(budget, pod, situation.view))
            known = found.get(ref_of(budget))
            found[ref_of(budget)] = options if known is None else [e for e in options if _is_among(e, known)]
    if any(not options for options in found.values()):
        return
    least = [options[0] for options in found.values()]
    yield (*surplus.values(), *least)
    last = [options[-1] for options in found.values()]
    if last != least:
        yield (*surplus.values(), *last)


def _is_among(edit: Edit, others: list[Edit]) -> bool:
    return any(edit.key == other.key for other in others)


def _of_window(situation: Situation, candidate: Candidate, _: Method) -> Iterator[Remedy]:
    """The longest window that is over by now."""
    elapsed = let_alone_for(candidate.claim, situation.now)
    if elapsed is not None:
        yield (shorter(candidate.pool, elapsed),)


def _of_never(situation: Situation, candidate: Candidate, _: Method) -> Iterator[Remedy]:
    yield (shorter(candidate.pool, let_alone_for(candidate.claim, situation.now) or 0),)


def _of_policy(_: Situation, candidate: Candidate, __: Method) -> Iterator[Remedy]:
    if candidate.pool.spec.disruption.consolidation_policy in ("WhenEmpty", "Balanced"):
        yield (Edit(ref_of(candidate.pool), POLICY, WHEN_UNDERUTILIZED),)


def _of_budgets(situation: Situation, candidate: Candidate, method: Method) -> Iterator[Remedy]:
    pool = candidate.pool
    if faults(pool, situation.now):
        broken = [int(one.partition("[")[2].partition("]")[0]) for one in faults(pool, situation.now)]
        yield tuple(Edit(ref_of(pool), text((*pool_budgets.LIST, at)), None) for at in reversed(broken))
    census = situation.census_of(pool.metadata.name)
    spent = _before_it(situation, candidate) if method is Method.STATIC_DRIFT else 0
    edits = pool_budgets.loosened(pool, census, REASONS[method], situation.now, spent=spent)
    if edits:
        yield edits


def _of_limits(situation: Situation, candidate: Candidate, _: Method) -> Iterator[Remedy]:
    """Limits raised to what the pool has."""
    used = situation.used_of(candidate.pool.metadata.name)
    over = situation.over_limits.get(candidate.pool.metadata.name, "").split(", ")
    edits = [Edit(ref_of(candidate.pool), text(("spec", "limits", r)), written(r, used.get(r, 0))) for r in over if r]
    if edits:
        yield tuple(edits)


def _of_node_limit(situation: Situation, candidate: Candidate, _: Method) -> Iterator[Remedy]:
    there = sum(counts(situation.view.node_claims, candidate.pool))
    limit = there + _before_it(situation, candidate) + 1
    yield (Edit(ref_of(candidate.pool), "spec.limits.nodes", str(limit)),)


def _before_it(situation: Situation, candidate: Candidate) -> int:
    """How many drifted nodes of a static pool come before this one."""
    ours = situation.candidates(lambda c: filters.pods_forbid_drift(c) or filters.drift_forbids(c, static=True))
    return [one.name for one in ours if one.pool_name == candidate.pool_name].index(candidate.name)


def _of_replicas(situation: Situation, candidate: Candidate, __: Method) -> Iterator[Remedy]:
    active, pending, _ = counts(situation.view.node_claims, candidate.pool)
    yield (Edit(ref_of(candidate.pool), "spec.replicas", active + pending),)


def _of_gate(_: Situation, __: Candidate, ___: Method) -> Iterator[Remedy]:
    yield (Edit(OPTIONS, GATE, True),)


_BY_REASON: Final[Mapping[Kept, Callable[[Situation, Candidate, Method], Iterator[Remedy]]]] = {
    Kept.POD_MARK: _of_marked_pods,
    Kept.BUDGET_OF_PODS: _of_guarded_pods,
    Kept.SEVERAL_BUDGETS: _of_guarded_pods,
    Kept.NOT_CONSOLIDATABLE: _of_window,
    Kept.NEVER: _of_never,
    Kept.POLICY: _of_policy,
    Kept.SCORE: _of_policy,
    Kept.BUDGET: _of_budgets,
    Kept.OVER_LIMIT: _of_limits,
    Kept.NODE_LIMIT: _of_node_limit,
    Kept.REPLICAS: _of_replicas,
    Kept.SPOT_GATE: _of_gate,
}
