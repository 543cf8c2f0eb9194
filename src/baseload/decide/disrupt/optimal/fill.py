"""How full nodes are, and what is paid for what they do not use."""

from typing import Final

from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.situation import Situation


class Fill:
    """The fill of a situation's nodes, by the resource of which they have least left."""

    def __init__(self, situation: Situation) -> None:
        assert situation.simulator is not None
        made = situation.simulator.made
        self._left: Final = {host.name: host.remaining for host in made.cluster.hosts}

    def of(self, candidate: Candidate) -> float:
        """The share of the node that is taken, in the resource that is taken most."""
        left = self._left.get(candidate.name, {})
        shares = (1 - left.get(r, 0) / amount for r, amount in candidate.state.allocatable.items() if amount > 0)
        return min(1.0, max(0.0, max(shares, default=0.0)))

    def wasted(self, candidate: Candidate) -> float:
        """Dollars an hour for what is not taken."""
        return candidate.price * (1 - self.of(candidate))

    def price_per_unit(self, candidate: Candidate) -> float:
        """Dollars an hour for what is taken, as though the node were full of it."""
        return candidate.price / max(self.of(candidate), 1e-3)
