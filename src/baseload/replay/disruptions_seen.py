"""Decisions of disruption in the journal, and how many nodes they gave up."""

from collections import deque

from baseload.journal.record import Plan
from baseload.plan import encode
from baseload.plan.disrupt import Command
from baseload.plan.provision import PlannedClaim
from baseload.replay.notebook import Notebook


class DisruptionsSeen:
    """The commands of a run."""

    def __init__(self, notebook: Notebook) -> None:
        self._note = notebook
        self._planned: deque[PlannedClaim] = deque()  # replacements that no NodeClaim was created for yet
        self.count = 0

    def hear(self, command: Command) -> None:
        self.count += 1
        self._planned = deque(command.replacements)
        for candidate in command.candidates:
            self._note.add("disruptions", (candidate.node_pool, command.reason))
        if self._note.writer is None:
            return
        nodes = ", ".join(candidate.node for candidate in command.candidates)
        does = "replace" if command.replacements else "delete"
        tree: dict[str, object] = {
            "method": str(command.method),
            "candidates": [_candidate(candidate.node, candidate.price_per_hour) for candidate in command.candidates],
            "replacements": [_replacement(claim) for claim in command.replacements],
            "pods": [{"pod": moved.pod, "to": moved.to} for moved in command.pods],
            "savingsPerHour": encode.price(command.savings_per_hour),
        }
        message = f"{command.method}: {does} {nodes}"
        self._note.tell("karpenter", "disruption.decided", f"Command {self.count}", command.reason, message, plan=tree)

    def name_of(self, pool: str) -> Plan | None:
        """Under which name which command has the claim that is now created of a pool; None where none has."""
        if self._planned and self._planned[0].node_pool == pool:
            return {"of": f"Command {self.count}", "name": self._planned.popleft().name}
        return None


def _candidate(node: str, price: float) -> dict[str, object]:
    return {"node": node, "pricePerHour": encode.price(price)}


def _replacement(claim: PlannedClaim) -> dict[str, object]:
    return {
        "name": claim.name,
        "nodePool": claim.node_pool,
        "instanceType": claim.instance_type,
        "zone": claim.zone,
        "capacityType": claim.capacity_type,
        "pricePerHour": encode.price(claim.price_per_hour),
        "instanceTypes": len(claim.instance_types),
        "pods": list(claim.pods),
    }
