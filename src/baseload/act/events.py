"""Events about objects, each told once in two minutes; that one cannot be told stops nobody."""

from typing import Final

from baseload.decide.lifecycle.conditions import written
from baseload.kube.client.client import Client
from baseload.kube.client.errors import ApiError
from baseload.kube.client.port import Resource
from baseload.kube.types.core import Node, Pod
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.plan.lifecycle import Told
from baseload.values.duration import MINUTE

EVENTS: Final = Resource("", "v1", "events")
QUIET: Final = 2 * MINUTE
"""So long an equal event is not told again"""
_VERSIONS: Final[dict[type, tuple[str, str]]] = {
    Node: ("v1", "Node"),
    Pod: ("v1", "Pod"),
    NodeClaim: ("karpenter.sh/v1", "NodeClaim"),
    NodePool: ("karpenter.sh/v1", "NodePool"),
}


class Events:
    """What one component tells."""

    def __init__(self, client: Client, component: str = "karpenter") -> None:
        self._client, self._component = client, component
        self._told: dict[tuple[str, str, str], int] = {}
        self._count = 0  # keeps the names apart of what is told at one moment

    async def tell(self, about: Node | Pod | NodeClaim | NodePool, told: Told) -> None:
        """Tells it, unless it was told a moment ago."""
        now = self._client.clock.now()
        key = about.metadata.uid, told.reason, told.message
        if now - self._told.get(key, now - QUIET) < QUIET:
            return
        self._told = {held: at for held, at in self._told.items() if now - at < QUIET}
        self._told[key] = now
        self._count += 1
        api_version, kind = _VERSIONS[type(about)]
        namespace = about.metadata.namespace or "default"
        involved = {"apiVersion": api_version, "kind": kind, "name": about.metadata.name, "uid": about.metadata.uid}
        if about.metadata.namespace:
            involved["namespace"] = namespace
        tree = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{about.metadata.name}.{now + self._count:x}", "namespace": namespace},
            "involvedObject": involved,
            "type": told.type,
            "reason": told.reason,
            "message": told.message,
            "source": {"component": self._component},
            "firstTimestamp": written(now),
            "lastTimestamp": written(now),
            "count": 1,
        }
        try:
            await self._client.create(EVENTS, tree, namespace=namespace)
        except ApiError:
            return
