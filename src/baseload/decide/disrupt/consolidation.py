"""Whether nodes can go, or give way to one that is cheaper (disruption and lifecycle spec 14).

Many become at most one. A replacement is offered only the types whose launch is sure to be cheaper than all that goes;
where spot is open to it, it is spot, since spot prices were compared.
"""

from collections.abc import Sequence
from typing import Final

from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.moves import Move, Stopped, allows
from baseload.decide.disrupt.simulate import Simulated, Simulator, Unplaced
from baseload.decide.fit.planned import Claim
from baseload.decide.fit.shape import HostClass
from baseload.plan.disrupt import UNDERUTILIZED, Kept, Method
from baseload.values.label import CAPACITY_TYPE, RESERVATION_ID
from baseload.values.requirement import Requirement, Requirements

SPOT: Final = "spot"
ON_DEMAND: Final = "on-demand"
LEAST_SPOT_TYPES: Final = 15
"""cheaper spot types that a single spot node's replacement has to choose from"""
_MOST_TOLD: Final = 5


class Consolidation:
    """The core that multi-node and single-node consolidation share."""

    def __init__(self, simulator: Simulator, *, spot_to_spot: bool) -> None:
        self._simulator: Final = simulator
        self._sets: Final = simulator.made.sets
        self._prices: Final = simulator.prices
        self._spot_to_spot: Final = spot_to_spot

    def move(
        self, candidates: Sequence[Candidate], method: Method, *, most_reasons: int | None = None
    ) -> Move | Stopped:
        """What would become of these candidates together."""
        names = [candidate.name for candidate in candidates]
        found = self._simulator.without(names, is_consolidation=True, most_reasons=most_reasons)
        if not found.all_placed:
            return without_place(found.unplaced)
        price = sum(candidate.price for candidate in candidates)
        if not found.claims:
            return self._move(candidates, method, found, price)
        if len(found.claims) > 1:
            return Stopped(Kept.SEVERAL_NODES, f"its pods would need {len(found.claims)} new nodes")
        [claim] = found.claims
        self._reserve(claim)
        stopped = self._narrow(claim, candidates, price)
        if stopped is not None:
            return stopped
        return self._move(candidates, method, found, price - self._simulator.cheapest(claim))

    def cut(self, claim: Claim, price: float) -> Stopped | None:
        """Leaves the claim those types whose launch is sure to cost less; what is wrong where they do not do."""
        index, number = claim.template.types, claim.hosts.number
        claim.types = self._prices.ladder(index, number).below(claim.types, price)
        if not claim.types:
            return Stopped(Kept.NOT_CHEAPER, f"no instance type that would do is sure to cost less than ${price:.4f}")
        if short := index.short_of_variety(claim.types, number):
            wanted = dict(self._sets.min_values(number))
            told = ", ".join(f"{key}: {reached} of {wanted[key]}" for key, reached in short)
            return Stopped(Kept.MIN_VALUES, f"the cheaper instance types do not reach the minValues ({told})")
        return None

    def _narrow(self, claim: Claim, candidates: Sequence[Candidate], price: float) -> Stopped | None:
        requirement = self._sets[claim.hosts.number].get(CAPACITY_TYPE)
        if allows(requirement, SPOT) and all(candidate.capacity_type == SPOT for candidate in candidates):
            return self._spot_for_spot(claim, single=len(candidates) == 1, price=price)
        if (stopped := self.cut(claim, price)) is not None:
            return stopped
        if allows(requirement, SPOT) and allows(requirement, ON_DEMAND):
            self._restrict(claim, Requirement.of(CAPACITY_TYPE, "In", (SPOT,)))
        return None

    def _spot_for_spot(self, claim: Claim, *, single: bool, price: float) -> Stopped | None:
        if not self._spot_to_spot:
            return Stopped(Kept.SPOT_GATE, "SpotToSpotConsolidation is off, so spot is not replaced by cheaper spot")
        self._restrict(claim, Requirement.of(CAPACITY_TYPE, "In", (SPOT,)))
        index, number = claim.template.types, claim.hosts.number
        claim.types &= index.offered(self._sets[number])
        if (stopped := self.cut(claim, price)) is not None:
            return stopped
        if not single:
            return None
        count = claim.types.bit_count()
        if count < LEAST_SPOT_TYPES:
            text = f"{count} cheaper spot instance types are left to choose from, {LEAST_SPOT_TYPES} are needed"
            return Stopped(Kept.SPOT_TYPES, text)
        ladder = self._prices.ladder(index, number)
        kept = LEAST_SPOT_TYPES
        while index.short_of_variety(ladder.first(claim.types, kept), number):
            kept += 1
        claim.types = ladder.first(claim.types, kept)
        return None

    def _reserve(self, claim: Claim) -> None:
        """A claim that holds reservations is for these alone."""
        if claim.reservations:
            held = dict(self._sets[claim.hosts.number])
            held[CAPACITY_TYPE] = Requirement.of(CAPACITY_TYPE, "In", ("reserved",))
            ids = Requirement.of(RESERVATION_ID, "In", claim.reservations)
            claim.hosts = HostClass(self._sets.number(Requirements(held).add(ids)), claim.hosts.taints)

    def _restrict(self, claim: Claim, requirement: Requirement) -> None:
        held = self._sets[claim.hosts.number].add(requirement)
        claim.hosts = HostClass(self._sets.number(held), claim.hosts.taints)

    def _move(self, candidates: Sequence[Candidate], method: Method, found: Simulated, savings: float) -> Move:
        return Move(
            reason=UNDERUTILIZED,
            method=method,
            candidates=tuple(candidates),
            claims=found.claims,
            places=tuple(found.places.items()),
            moved=found.moved,
            savings=savings,
        )


def without_place(unplaced: Sequence[Unplaced]) -> Stopped:
    """What is told of pods that have to go somewhere and cannot."""
    told = [f"{one.pod} ({one.why})" if one.why else one.pod for one in unplaced[:_MOST_TOLD]]
    more = f" and {len(unplaced) - _MOST_TOLD} more" if len(unplaced) > _MOST_TOLD else ""
    return Stopped(
        Kept.NO_PLACE,
        f"not all pods would find a place: {', '.join(told)}{more}",
        tuple(unplaced),
    )
