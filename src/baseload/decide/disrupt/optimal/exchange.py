"""Any set of nodes gives way to none, to one node or to several, under the rules that Karpenter has for one.

The simulation, the guard of prices and the rules for spot are its own (disruption and lifecycle spec 13, 14, 18, 20).
What several new nodes may cost together is split among them: each may launch the types whose worst price stays below
its share, so that all of them together are sure to cost less than all that goes.
"""

from collections.abc import Sequence

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.balanced import THRESHOLD
from baseload.decide.disrupt.candidates import Candidate, Looked
from baseload.decide.disrupt.consolidation import SPOT, Consolidation, without_place
from baseload.decide.disrupt.moves import Move, Stopped, allows
from baseload.decide.disrupt.multi_node import of_same_type
from baseload.decide.disrupt.situation import Situation
from baseload.decide.fit.planned import Claim
from baseload.plan.disrupt import Kept, Method
from baseload.values.label import CAPACITY_TYPE
from baseload.values.requirement import Requirement


class Exchange(Consolidation):
    """The moves of one situation."""

    def __init__(self, situation: Situation) -> None:
        assert situation.simulator is not None
        super().__init__(situation.simulator, spot_to_spot=situation.options.gate("SpotToSpotConsolidation"))
        self._balance = situation.balance if any(map(_is_balanced, situation.looked)) else None

    def of(self, candidates: Sequence[Candidate]) -> Move | Stopped:
        """What would become of a set of candidates."""
        found = self._simulator.without([candidate.name for candidate in candidates], is_consolidation=True)
        if not found.all_placed:
            return without_place(found.unplaced)
        price = sum(candidate.price for candidate in candidates)
        for claim in found.claims:
            self._reserve(claim)
        stopped = self._settle(found.claims, candidates, price)
        if stopped is not None:
            return stopped
        method = Method.MULTI_NODE if len(candidates) > 1 else Method.SINGLE_NODE
        move = self._move(candidates, method, found, price - sum(map(self._simulator.cheapest, found.claims)))
        return self._scored(move)

    def _settle(self, claims: Sequence[Claim], candidates: Sequence[Candidate], price: float) -> Stopped | None:
        """Leaves the claims what they may launch; what is wrong where one of them is left nothing."""
        if len(claims) == 1:
            shares = [price]
        else:
            surest = [self._surest(claim, candidates) for claim in claims]
            spare = price - sum(surest)
            if claims and spare <= 0:
                text = f"{len(claims)} nodes that would do are not sure to cost less than ${price:.4f} together"
                return Stopped(Kept.NOT_CHEAPER, text)
            shares = [least + spare / len(claims) for least in surest]
        for claim, share in zip(claims, shares, strict=True):
            if (stopped := self._narrow(claim, candidates, share)) is not None:
                return stopped
            same = of_same_type(candidates, claim) if len(candidates) > 1 else None
            if same is not None and (stopped := self.cut(claim, same)) is not None:
                return Stopped(Kept.SAME_TYPE, f"together they would become what one of them is: {stopped.message}")
        return None

    def _surest(self, claim: Claim, candidates: Sequence[Candidate]) -> float:
        """What the claim costs at worst if it is left the type that is surest to be cheap."""
        number = claim.hosts.number
        requirement = self._sets[number].get(CAPACITY_TYPE)
        if allows(requirement, SPOT) and all(candidate.capacity_type == SPOT for candidate in candidates):
            number = self._sets.number(self._sets[number].add(Requirement.of(CAPACITY_TYPE, "In", (SPOT,))))
        return self._prices.ladder(claim.template.types, number).surest(claim.types)

    def _scored(self, move: Move) -> Move | Stopped:
        """The move, if the pools that weigh what is saved against what is disrupted find it worth it."""
        if self._balance is None:
            return move
        scores = self._balance.scores(move.candidates, move.savings)
        worst = min(scores.values(), default=THRESHOLD)
        if worst < THRESHOLD:
            return Stopped(Kept.SCORE, f"the score of the move is {worst:.2f}, Balanced asks for {THRESHOLD}")
        return move


def _is_balanced(looked: Looked) -> bool:
    return looked.candidate is not None and filters.is_balanced(looked.candidate)
