"""The cheapest node that would do for the pods of another one, whatever that one costs."""

from dataclasses import dataclass

from baseload.catalog.masks import bits
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.situation import Situation


@dataclass(frozen=True, slots=True)
class Replacement:
    """`price` is what its launch costs at worst; `cheaper`: how many types are sure to cost less than the node."""

    pool: str
    instance_type: str
    price: float
    cheaper: int


def cheapest_replacement(situation: Situation, candidate: Candidate) -> Replacement | None:
    """None where the pods need no node, several, or find no place."""
    simulator = situation.simulator
    if simulator is None:
        return None
    found = simulator.without((candidate.name,), is_consolidation=True)
    if not found.all_placed or len(found.claims) != 1:
        return None
    [claim] = found.claims
    ladder = simulator.prices.ladder(claim.template.types, claim.hosts.number)
    names = claim.template.types.table.names
    worst = ladder.worst_prices
    offered = [place for place in bits(claim.types) if place in worst]
    if not offered:
        return None
    best = min(offered, key=lambda place: (worst[place], names[place]))
    cheaper = ladder.below(claim.types, candidate.price).bit_count()
    return Replacement(claim.template.name, names[best], worst[best], cheaper)
