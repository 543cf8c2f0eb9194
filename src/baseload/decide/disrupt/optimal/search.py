"""The set of nodes whose move saves most, as far as a search of bounded length finds it.

Karpenter's own finds come first, so that nothing is worse. Then sets grow along several rankings: a whole ranking at
once, and where that is no better than what is held, its halves each in turn, down to single nodes. A node that cannot
move so defeats nothing but the sets that it is in. What has grown is then mended: nodes leave it one by one, or give
way to one that is outside, as long as that saves more. Of equal savings the set that moves fewer pods is taken.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.moves import Move, Outcome
from baseload.decide.disrupt.multi_node import multi_node
from baseload.decide.disrupt.optimal.effort import PODS, Effort
from baseload.decide.disrupt.optimal.exchange import Exchange
from baseload.decide.disrupt.optimal.fill import Fill
from baseload.decide.disrupt.single_node import single_node
from baseload.decide.disrupt.situation import Situation
from baseload.plan.disrupt import UNDERUTILIZED

LEAST: Final = 1e-9
"""dollars an hour; what saves less more is no better"""

Order = Callable[[Candidate], tuple[float, str]]


def sets(situation: Situation, *, pods: int = PODS) -> Outcome:
    """The best move that is found; where there is none, what Karpenter's methods found in the way."""
    several, single = multi_node(situation), single_node(situation)
    error = several.error or single.error
    if error or situation.simulator is None:
        return several if several.error else single
    moves = (*several.moves, *single.moves)
    search = Search(situation, max(moves, key=_worth, default=None), Effort(pods))
    search.run()
    tried = (*several.tried, *single.tried)
    if search.best is None:
        return Outcome(tried=tried, is_settled=several.is_settled and single.is_settled)
    return Outcome((search.best,), tried)


class Search:
    """One search. `best` is what it has found so far."""

    def __init__(self, situation: Situation, best: Move | None, effort: Effort) -> None:
        self.best = best
        self._candidates: Final = situation.candidates(lambda c: filters.pods_forbid(c) or filters.consolidation(c))
        self._allowances: Final = situation.allowances(UNDERUTILIZED)
        self._exchange: Final = Exchange(situation)
        self._effort: Final = effort
        self._seen: Final[dict[frozenset[str], Move | None]] = {}
        self._fill: Final = Fill(situation)

    def run(self) -> None:
        """Looks for the best move until it has tried all that it knows, or its effort is spent."""
        for order in self._orders():
            grown = self._grown(sorted(self._candidates, key=order))
            if grown is not None:
                self._mend(grown)
        if self.best is None:
            self._pairs()

    def _orders(self) -> Iterator[Order]:
        yield lambda c: c.rank
        yield lambda c: (-self._fill.wasted(c), c.name)
        yield lambda c: (self._fill.of(c), c.name)
        yield lambda c: (-c.price, c.name)
        yield lambda c: (-self._fill.price_per_unit(c), c.name)

    def _grown(self, order: list[Candidate]) -> Move | None:
        """The set that grows along an order by whatever makes it save more."""
        held: Move | None = None
        blocks = [order] if order else []
        while blocks and not self._effort.is_spent:
            block = blocks.pop()
            chosen = held.candidates if held is not None else ()
            found = self._tried(self._allowed(chosen, block))
            if found is not None and _worth(found) > _worth(held):
                held = found
            elif len(block) > 1:
                half = len(block) // 2
                blocks += (block[half:], block[:half])
        return held

    def _mend(self, held: Move) -> None:
        """Lets nodes leave the set, or change places with others, while that saves more."""
        while (better := self._better(held)) is not None:
            held = better

    def _better(self, held: Move) -> Move | None:
        """The first neighbour of a set that saves more."""
        for trial in self._neighbours(held.candidates):
            if self._effort.is_spent:
                return None
            found = self._tried(trial)
            if found is not None and _worth(found) > _worth(held):
                return found
        return None

    def _neighbours(self, chosen: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
        inside = {candidate.name for candidate in chosen}
        outside = [candidate for candidate in self._candidates if candidate.name not in inside]
        for place in range(len(chosen)):
            yield (*chosen[:place], *chosen[place + 1 :])
        for candidate in outside:
            yield self._allowed(chosen, (candidate,))
        for place in range(len(chosen)):
            for candidate in outside:
                yield self._allowed((*chosen[:place], *chosen[place + 1 :]), (candidate,))

    def _pairs(self) -> None:
        """Every two nodes, where nothing else was found."""
        for place, first in enumerate(self._candidates):
            for second in self._candidates[place + 1 :]:
                if self._effort.is_spent:
                    return
                self._tried(self._allowed((), (first, second)))

    def _allowed(self, chosen: Sequence[Candidate], more: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """The set with as many more as the budgets of their pools allow."""
        left = dict(self._allowances)
        for candidate in chosen:
            left[candidate.pool_name] -= 1
        taken = list(chosen)
        for candidate in more:
            if left.get(candidate.pool_name, 0) > 0:
                left[candidate.pool_name] -= 1
                taken.append(candidate)
        return tuple(taken)

    def _tried(self, candidates: Sequence[Candidate]) -> Move | None:
        """The move of a set; no set is simulated twice."""
        key = frozenset(candidate.name for candidate in candidates)
        if not key:
            return None
        if key not in self._seen:
            self._effort.spend(sum(len(candidate.reschedulable) for candidate in candidates))
            found = self._exchange.of(candidates)
            self._seen[key] = found if isinstance(found, Move) and found.savings > LEAST else None
            if _worth(self._seen[key]) > _worth(self.best):
                self.best = self._seen[key]
        return self._seen[key]


def _worth(move: Move | None) -> tuple[float, int]:
    """What is better is larger: savings, to a nano-dollar, then the fewer pods that move."""
    if move is None:
        return 0.0, 0
    return round(move.savings / LEAST), -len(move.moved)
