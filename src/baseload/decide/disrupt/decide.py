"""One disruption pass: what is given up now, by which method, and why everything else is kept.

The methods come in Karpenter's order, and the first that starts anything ends the pass (disruption spec 10). Forceful
commands stand beside it; they are decided before (`decide.disrupt.step`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt import filters
from baseload.decide.disrupt.candidates import NOBODY_BUSY, Busy, Candidate
from baseload.decide.disrupt.drift import drift
from baseload.decide.disrupt.emptiness import emptiness
from baseload.decide.disrupt.guards import Block
from baseload.decide.disrupt.moves import Move, Outcome, Stopped, tried
from baseload.decide.disrupt.multi_node import multi_node
from baseload.decide.disrupt.single_node import single_node
from baseload.decide.disrupt.situation import UNHURRIED, Haste, Situation
from baseload.decide.disrupt.static_drift import static_drift
from baseload.decide.disrupt.step import Stepped, step
from baseload.decide.provision.options import Options
from baseload.model.view import View
from baseload.plan import disrupt as plan
from baseload.plan.disrupt import Command, DisruptPlan, Kept, Method, Moved, Skipped, Tried
from baseload.plan.provision import PlannedClaim

Methods = Mapping[Method, Callable[[Situation], Outcome]]
METHODS: Final[Methods] = {
    Method.EMPTINESS: emptiness,
    Method.STATIC_DRIFT: static_drift,
    Method.DRIFT: drift,
    Method.MULTI_NODE: multi_node,
    Method.SINGLE_NODE: single_node,
}
"""in the order in which they are tried"""


def disrupt(
    view: View,
    tables: Mapping[str, InstanceTypes],
    options: Options,
    *,
    busy: Busy = NOBODY_BUSY,
    haste: Haste = UNHURRIED,
    methods: Methods | None = None,
) -> DisruptPlan:
    """The plan of one pass at `options.now`. `tables`: NodePool -> its types; a missing pool has none."""
    stepped = step(view, tables, options)
    return joined(stepped, graceful(Situation(stepped.view, tables, options, busy=busy, haste=haste), methods=methods))


def joined(stepped: Stepped, found: DisruptPlan) -> DisruptPlan:
    """What a pass found, and what was forceful or the lifecycle's before it."""
    gone = {candidate.node for command in stepped.commands for candidate in command.candidates}
    return replace(
        found,
        commands=(*stepped.commands, *found.commands),
        skipped=tuple(one for one in found.skipped if one.node not in gone),
        node_claims=stepped.node_claims,
        drain=stepped.drain,
        unavailable_offerings=stepped.unavailable_offerings,
    )


def graceful(situation: Situation, names: "Names | None" = None, methods: Methods | None = None) -> DisruptPlan:
    """The plan of a pass without what is forceful. `names` are those of earlier passes on the same cluster."""
    names = names or Names(state.name for state in situation.view.state_nodes)
    commands, told, notes = _graceful(situation, names, methods or METHODS)
    gone = {candidate.node for command in commands for candidate in command.candidates}
    return DisruptPlan(
        commands=commands,
        skipped=tuple(one for one in skipped(situation) if one.node not in gone),
        tried=tuple(one for one in told if one.node not in gone),
        notes=notes,
    )


def _graceful(
    situation: Situation, names: "Names", methods: Methods
) -> tuple[tuple[Command, ...], list[Tried], tuple[str, ...]]:
    """The commands of the first method that has any, what was tried until then, and what is odd."""
    if (waiting := not_synced(situation.view)) is not None:
        return (), [], (f"NodeClaim {waiting} is not launched yet, which stops all disruption",)
    told: list[Tried] = []
    for method in methods.values():
        outcome = method(situation)
        told += outcome.tried
        if outcome.moves:
            commands, refused = commands_of(situation, outcome.moves, names)
            return commands, [*told, *refused], ()
        if outcome.error:
            return (), told, (outcome.error,)
    return (), told, ()


def not_synced(view: View) -> str | None:
    """A NodeClaim that is still launching, for which every decision waits (2.2)."""
    return next((claim.metadata.name for claim in view.node_claims if not claim.status.provider_id), None)


def commands_of(
    situation: Situation, moves: tuple[Move, ...], names: "Names"
) -> tuple[tuple[Command, ...], list[Tried]]:
    """Moves as commands; one whose replacement cannot be created ends the pass, and is told."""
    commands: list[Command] = []
    for move in moves:
        over = [claim.template.name for claim in move.claims if claim.template.name in situation.over_limits]
        planned = [] if over else _planned(situation, move, names)
        if planned is None or over:
            stopped = _not_created(situation, over)
            return tuple(commands), [tried(candidate, move.method, stopped) for candidate in move.candidates]
        commands.append(command_of(move, planned))
    return tuple(commands), []


def _not_created(situation: Situation, over: list[str]) -> Stopped:
    if not over:
        return Stopped(Kept.MIN_VALUES, "the types of the replacement do not reach the minValues")
    text = f"NodePool {over[0]} has more {situation.over_limits[over[0]]} than its limits allow"
    return Stopped(Kept.OVER_LIMIT, f"{text}, so no replacement is created")


class Names:
    """POOL-1, POOL-2 … in the order in which claims are planned; names that are taken are passed over."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._last: Final[dict[str, int]] = {}
        self._taken: Final = frozenset(taken)

    def next(self, pool: str) -> str:
        number = self._last.get(pool, 0) + 1
        while f"{pool}-{number}" in self._taken:
            number += 1
        self._last[pool] = number
        return f"{pool}-{number}"


def _planned(situation: Situation, move: Move, names: Names) -> list[PlannedClaim] | None:
    """The move's claims as plan values; None where one would be dropped."""
    launches = situation.static.launches if move.method is Method.STATIC_DRIFT else situation.launches
    planned: list[PlannedClaim] = []
    for claim in move.claims:
        assert launches is not None
        pool = claim.template.name
        made = launches.planned(claim, names.next(pool), situation.setting.types[pool])
        if made is None:
            return None
        planned.append(made)
    return planned


def command_of(move: Move, planned: list[PlannedClaim]) -> Command:
    """The command that a move is, with the claims that it launches."""
    to = dict(move.places)
    for claim in planned:
        to |= dict.fromkeys(claim.pods, claim.name)
    return Command(
        reason=move.reason,
        method=move.method,
        candidates=tuple(map(_candidate, move.candidates)),
        replacements=tuple(planned),
        pods=tuple(Moved(pod, to[pod]) for pod in move.moved if pod in to),
        savings_per_hour=move.savings,
    )


def _candidate(candidate: Candidate) -> plan.Candidate:
    return plan.Candidate(
        node=candidate.name,
        node_claim=candidate.claim.metadata.name,
        node_pool=candidate.pool_name,
        disruption_cost=candidate.disruption_cost,
        price_per_hour=candidate.price,
        instance_type=candidate.instance_type,
    )


def skipped(situation: Situation) -> Iterator[Skipped]:
    """Every node that no method considers, and the first reason."""
    for looked in situation.looked:
        block = looked.block if looked.candidate is None else passed_over(situation, looked.candidate)
        if block is not None:
            yield Skipped(looked.state.name, *block)


def passed_over(situation: Situation, candidate: Candidate) -> Block | None:
    """Why no method considers a candidate; None where one does."""
    if filters.is_drifted(candidate.claim) and filters.pods_forbid_drift(candidate) is None:
        return None
    if (held := filters.pods_forbid(candidate)) is not None:
        return held
    if candidate.is_empty:
        return filters.emptiness(candidate, buffered=candidate.name in situation.buffered)
    return filters.consolidation(candidate)
