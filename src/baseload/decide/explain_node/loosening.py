"""What NodePools and pods ask for, made looser: a type, a zone or a capacity type to allow, a demand dropped.

A requirement is first left out altogether. Where that frees the node, the replacement tells which value was missing,
and that value alone is allowed.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.explain import demands
from baseload.decide.explain.demands import Case, is_request, without
from baseload.decide.explain.edits import Edit
from baseload.decide.explain_node.pending import without_pending
from baseload.decide.explain_node.turns import Turns
from baseload.decide.explain_node.walls import REQUIREMENTS
from baseload.decide.explain_node.what_if import Upon
from baseload.kube.fieldpath import text
from baseload.kube.types.karpenter import NodePool
from baseload.kube.types.meta import NodeSelectorRequirement
from baseload.model.view import name_of, ref_of
from baseload.plan.provision import Unschedulable
from baseload.plan.reason import Reason
from baseload.values.label import CAPACITY_TYPE

_MOST_PODS: Final = 8  # of different specs
_MOST_DEMANDS: Final = 24


def loosening(trials: Upon, turns: Turns, candidate: Candidate) -> Iterator[tuple[Edit, ...]]:
    """Less variety asked for, more allowed by each pool, less asked for by the pods; spot last, as it risks most."""
    pools = sorted(turns.situation.setting.pools, key=lambda pool: pool.metadata.name != candidate.pool_name)
    for pool in pools:
        yield from _less_variety(trials, pool)
    held = [(pool, *one) for pool in pools for one in enumerate(pool.spec.template.spec.requirements)]
    for pool, at, requirement in held:
        if requirement.key != CAPACITY_TYPE:
            yield from _allowed(trials, pool, at, requirement)
    yield from islice(_less_asked(candidate), _MOST_DEMANDS)
    yield from without_pending(turns.situation)
    for pool, at, requirement in held:
        if requirement.key == CAPACITY_TYPE:
            yield from _allowed(trials, pool, at, requirement)


def _less_variety(trials: Upon, pool: NodePool) -> Iterator[tuple[Edit, ...]]:
    for at, requirement in enumerate(pool.spec.template.spec.requirements):
        wanted = requirement.min_values or 0
        path = text((*REQUIREMENTS, at, "minValues"))
        dropped = Edit(ref_of(pool), path, None)
        if wanted > 1 and trials.frees(dropped):
            low, high = 1, wanted - 1  # the most values that still do, by bisection
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (middle, high) if trials.frees(Edit(ref_of(pool), path, middle)) else (low, middle - 1)
            yield (Edit(ref_of(pool), path, low),)
            yield (dropped,)


def _allowed(trials: Upon, pool: NodePool, at: int, requirement: NodeSelectorRequirement) -> Iterator[tuple[Edit, ...]]:
    """One value more, or where that is no way to say it, the requirement dropped."""
    dropped = Edit(ref_of(pool), text((*REQUIREMENTS, at)), None)
    turns = trials.turns((dropped,))
    turn = turns.free() if turns is not None else None
    if turn is None or turn.command is None:
        return
    values = {claim.labels.get(requirement.key) for claim in turn.command.replacements}
    missing = sorted(value for value in values if value)
    path = text((*REQUIREMENTS, at, "values"))
    if requirement.operator == "In" and missing:
        yield (Edit(ref_of(pool), path, [*requirement.values, *(v for v in missing if v not in requirement.values)]),)
    if requirement.operator == "NotIn" and missing:
        left: list[object] = [value for value in requirement.values if value not in missing]
        if left:
            yield (Edit(ref_of(pool), path, left),)
    yield (dropped,)


def _less_asked(candidate: Candidate) -> Iterator[tuple[Edit, ...]]:
    """Each demand of each pod that would move, requests apart."""
    seen: set[int] = set()
    for pod in candidate.reschedulable:
        if id(pod.spec) in seen or len(seen) >= _MOST_PODS:
            continue
        seen.add(id(pod.spec))
        case = Case(pod, Unschedulable(name_of(pod), Reason.REQUIREMENTS, ""), ref_of(pod), "")
        for demand in demands.of_pod(case):
            if not is_request(demand):
                yield (without(demand),)
