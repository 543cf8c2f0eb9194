"""What each method of a pass makes of one node, whatever other nodes the pass would come to first.

The methods' own decisions are asked, each for this node. Whether the pass starts anything for it is another question,
which the plan of the pass answers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.account import Account, account
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.decide import METHODS, Names, commands_of, not_synced
from baseload.decide.disrupt.guards import Block
from baseload.decide.disrupt.moves import Move, Stopped, tried
from baseload.decide.disrupt.multi_node import MOST, multi_node, together
from baseload.decide.disrupt.situation import NO_POOL, Situation, over_budget, ranked, spending
from baseload.decide.disrupt.static_drift import static_drift
from baseload.decide.provision.pools import is_static
from baseload.plan.disrupt import DRIFTED, EMPTY, UNDERUTILIZED, Command, Kept, Method, Tried

REASONS: Final[Mapping[Method, str]] = {
    Method.EMPTINESS: EMPTY,
    Method.STATIC_DRIFT: DRIFTED,
    Method.DRIFT: DRIFTED,
    Method.MULTI_NODE: UNDERUTILIZED,
    Method.SINGLE_NODE: UNDERUTILIZED,
}
"""method -> the reason for which budgets let nodes go"""
_CHEAP_FIRST: Final = (
    *(Method.EMPTINESS, Method.STATIC_DRIFT, Method.DRIFT),
    *(Method.SINGLE_NODE, Method.MULTI_NODE),
)


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """One method: the command that it has for the node, or why it has none (`is_passed_over`: it does not look)."""

    method: Method
    command: Command | None = None
    kept: Tried | None = None
    is_passed_over: bool = False


class Turns:
    """The methods on one node of one situation; each is asked when somebody wants to know."""

    def __init__(self, situation: Situation, node: str) -> None:
        self.situation: Final = situation
        self.node: Final = node
        self._known: Final[dict[Method, Turn]] = {}

    @cached_property
    def account(self) -> Account | None:
        """None where no such node is tracked."""
        return account(self.situation, self.node)

    @property
    def candidate(self) -> Candidate | None:
        return self.account.candidate if self.account is not None else None

    @cached_property
    def block(self) -> Block | None:
        """What forbids every method: the node's own obstacle before that of the whole pass."""
        own = self.account.block if self.account is not None else None
        if own is not None:
            return own
        if (waiting := not_synced(self.situation.view)) is not None:
            return Kept.NOT_SYNCED, f"NodeClaim {waiting} is not launched yet, which stops all disruption"
        return None

    def of(self, method: Method) -> Turn:
        """What a method makes of the node."""
        turn = self._known.get(method)
        if turn is None:
            turn = self._known[method] = self._asked(method)
        return turn

    def all(self) -> Iterator[Turn]:
        """The methods in the order of a pass."""
        return map(self.of, METHODS)

    def free(self) -> Turn | None:
        """A method that has a command for the node, those that cost little to ask first."""
        return next((turn for turn in map(self.of, _CHEAP_FIRST) if turn.command is not None), None)

    def leading(self) -> tuple[Method, ...]:
        """The methods by which such a node would go: those whose obstacles are worth telling."""
        candidate = self.candidate
        if candidate is None:
            return (Method.SINGLE_NODE,)
        if is_static(candidate.pool):
            return (Method.STATIC_DRIFT,)
        usual = Method.EMPTINESS if candidate.is_empty else Method.SINGLE_NODE
        return (Method.DRIFT, usual) if filters.is_drifted(candidate.claim) else (usual,)

    def _asked(self, method: Method) -> Turn:
        if self.block is not None or self.account is None:
            reason, message = self.block or (Kept.NO_NODE, f"no node {self.node} is tracked")
            return Turn(method, kept=Tried(self.node, method, reason, message), is_passed_over=True)
        over = self.account.passed_over.get(method)
        if over is not None:
            return Turn(method, kept=Tried(self.node, method, *over), is_passed_over=True)
        candidate = self.account.candidate
        assert candidate is not None
        found = self._found(method, self.account, candidate)
        if isinstance(found, Move):
            commands, refused = commands_of(self.situation, (found,), Names())
            if commands:
                return Turn(method, commands[0])
            return Turn(method, kept=next(one for one in refused if one.node == self.node))
        return Turn(method, kept=found if isinstance(found, Tried) else tried(candidate, method, found))

    def _found(self, method: Method, told: Account, candidate: Candidate) -> Move | Stopped | Tried:
        if method is Method.STATIC_DRIFT:
            return self._static(candidate)
        if told.allowance.get(method, 0) <= 0:
            return over_budget(candidate, REASONS[method])
        if method is Method.EMPTINESS:
            return Move(EMPTY, method, (candidate,), savings=candidate.price)
        if method is Method.MULTI_NODE:
            return self._multi(candidate)
        return next(one for one in told.attempts if one.method is method)

    def _static(self, candidate: Candidate) -> Move | Stopped | Tried:
        outcome = static_drift(self.situation)
        for move in outcome.moves:
            if self._is_in(move):
                return move
        kept = next((one for one in outcome.tried if one.node == self.node), None)
        return kept or over_budget(candidate, DRIFTED)

    def _multi(self, candidate: Candidate) -> Move | Stopped:
        situation = self.situation
        wanted = ranked(situation.candidates(lambda c: filters.pods_forbid(c) or filters.consolidation(c)))
        batch = [c for c, may_go in spending(wanted, situation.allowances(UNDERUTILIZED)) if may_go]
        place = next((at for at, one in enumerate(batch) if one.name == self.node), None)
        if place is None:
            text = f"the budgets of NodePool {candidate.pool_name} let no more nodes go than those that rank before it"
            return Stopped(Kept.BUDGET, text)
        if len(batch) < 2:
            return Stopped(Kept.ALONE, "no second node may be consolidated with it now")
        if situation.consolidation is None:
            return NO_POOL
        move = next((move for move in multi_node(situation).moves if self._is_in(move)), None)
        if move is not None:
            return move
        first = max(2, place + 1)
        text = f"it ranks {place + 1} of {len(batch)}, and the first {first} together"
        if place > MOST:
            text = f"it ranks {place + 1} of {len(batch)}, and no more than {MOST + 1} are tried together"
            return Stopped(Kept.PREFIX, text)
        found = together(situation, situation.consolidation, batch[:first])
        if isinstance(found, Stopped):
            return Stopped(found.reason, f"{text} are no move: {found.message}", found.unplaced)
        return Stopped(Kept.PREFIX, f"{text} would do, but the search does not come to them")

    def _is_in(self, move: Move) -> bool:
        return any(one.name == self.node for one in move.candidates)
