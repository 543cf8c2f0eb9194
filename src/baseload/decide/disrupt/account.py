"""All that stands in the way of giving up one node: what forbids it, and what each method finds when it tries.

Worked out for one node when somebody asks, since it tells who refused each of its pods.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.drift import replaced
from baseload.decide.disrupt.guards import Block
from baseload.decide.disrupt.moves import Move, Stopped, tried
from baseload.decide.disrupt.single_node import alone
from baseload.decide.disrupt.situation import Situation
from baseload.decide.provision.pools import is_static
from baseload.plan.disrupt import DRIFTED, EMPTY, UNDERUTILIZED, Kept, Method, Tried

MOST_REASONS: Final = 2_000
"""reasons of single nodes and claims that are told"""
_REASONS: Final = {
    Method.EMPTINESS: EMPTY,
    Method.STATIC_DRIFT: DRIFTED,
    Method.DRIFT: DRIFTED,
    Method.MULTI_NODE: UNDERUTILIZED,
    Method.SINGLE_NODE: UNDERUTILIZED,
}


@dataclass(frozen=True, slots=True)
class Account:
    """One node.

    `block` forbids every method. `passed_over`: method -> why it does not consider the node. `allowance`: method -> how
    many nodes of the pool may go for its reason now. `attempts` are what drift and single-node consolidation find,
    which look at one node at a time: a move, or what stopped it, with everybody who refused its pods.
    """

    node: str
    block: Block | None = None
    candidate: Candidate | None = None
    passed_over: Mapping[Method, Block] = field(default_factory=dict)
    allowance: Mapping[Method, int] = field(default_factory=dict)
    attempts: tuple[Move | Tried, ...] = ()


def account(situation: Situation, node: str) -> Account | None:
    """What there is to tell of a node; None where there is none of that name."""
    looked = next((one for one in situation.looked if one.state.name == node), None)
    if looked is None:
        return None
    if looked.candidate is None:
        return Account(node, looked.block)
    candidate = looked.candidate
    passed = dict(_passed_over(situation, candidate))
    allowance = {m: situation.allowances(r).get(candidate.pool_name, 0) for m, r in _REASONS.items() if m not in passed}
    attempts = tuple(_attempts(situation, candidate, passed))
    return Account(node, None, candidate, passed, allowance, attempts)


def _attempts(situation: Situation, candidate: Candidate, passed: Mapping[Method, Block]) -> Iterator[Move | Tried]:
    tries: dict[Method, Callable[..., Move | Stopped]] = {Method.DRIFT: replaced, Method.SINGLE_NODE: alone}
    for method, attempt in tries.items():
        if method not in passed:
            found = attempt(situation, candidate, most_reasons=MOST_REASONS)
            yield found if isinstance(found, Move) else tried(candidate, method, found)


def _passed_over(situation: Situation, candidate: Candidate) -> Iterator[tuple[Method, Block]]:
    held, held_anyway = filters.pods_forbid(candidate), filters.pods_forbid_drift(candidate)
    buffered = candidate.name in situation.buffered
    if empty := held or filters.emptiness(candidate, buffered=buffered):
        yield Method.EMPTINESS, empty
    for method, static in ((Method.STATIC_DRIFT, True), (Method.DRIFT, False)):
        if held_anyway is not None:
            yield method, held_anyway
        elif filters.drift_forbids(candidate, static=static):
            yield method, _no_drift(candidate, static=static)
    if full := held or filters.consolidation(candidate):
        yield Method.MULTI_NODE, full
        yield Method.SINGLE_NODE, full


def _no_drift(candidate: Candidate, *, static: bool) -> Block:
    if is_static(candidate.pool) is not static:
        return Kept.STATIC, f"NodePool {candidate.pool_name} has {'no ' if static else 'a '}fixed number of nodes"
    if static:
        text = f"NodePool {candidate.pool_name} has a fixed number of nodes, of which only drifted ones are replaced"
        return Kept.NOT_DRIFTED, f"{text}, and it has not drifted"
    return Kept.NOT_DRIFTED, "it has not drifted"
