"""A cluster in one line: its time, nodes, pods, NodeClaims, and what its machines cost an hour."""

from collections import Counter

from baseload.cloud.simulated.market import MICRO
from baseload.embedded.actors import nodes, pods
from baseload.embedded.actors.client import ActorClient
from baseload.values import instant
from baseload.values.instant import SECOND
from baseload.world.living import Living


class Summary:
    """What one cluster is now."""

    def __init__(self, living: Living) -> None:
        self._living = living
        self._client = ActorClient(living.cluster, "summary")

    def line(self) -> str:
        now = self._living.clock.now()
        there = list(self._client.records("", "Node").values())
        ready = sum(nodes.ready(node) == "True" for node in there)
        phases = Counter(
            "Terminating" if pod.deletion else pods.status(pod).phase
            for pod in self._client.records("", "Pod").values()
        )
        told = ", ".join(f"{phases[phase]} {phase}" for phase in sorted(phases)) or "none"
        claims = len(self._client.records("karpenter.sh", "NodeClaim"))
        moment = instant.format(now // SECOND * SECOND)
        return f"{moment}  nodes {ready}/{len(there)} Ready · pods {told} · NodeClaims {claims} · ${self.cost():.3f}/h"

    def cost(self) -> float:
        """Dollars an hour of all machines that are paid for now."""
        region, now = self._living.cloud.region, self._living.clock.now()
        paid = (record.instance for record in region.inventory if record.state in ("pending", "running", "stopping"))
        prices = (region.market.price(it.instance_type, it.zone, it.capacity_type, now) for it in paid)
        return sum(price or 0 for price in prices) / MICRO
