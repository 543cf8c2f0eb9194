"""Events as objects of an API, written as client-go writes them: equal ones are counted in one object."""

from dataclasses import dataclass
from typing import Any, Final

from baseload.act.events import Draft
from baseload.decide.lifecycle.conditions import written
from baseload.kube.client.client import Client
from baseload.kube.client.errors import NotFound
from baseload.kube.client.port import Resource

EVENTS: Final = Resource("", "v1", "events")
REMEMBERED: Final = 4096  # events that equal ones are counted in, as client-go's cache


@dataclass(slots=True)
class _Kept:
    """An Event object that equal ones are counted in."""

    namespace: str
    name: str
    count: int


class EventObjects:
    """The writer for a cluster that is reached by a client."""

    def __init__(self, client: Client, component: str = "karpenter") -> None:
        self._client, self._component = client, component
        self._kept: dict[tuple[str, str, str], _Kept] = {}  # by uid of the object, reason and message
        self._count = 0  # keeps the names apart of what is told at one moment

    async def write(self, draft: Draft) -> None:
        """Raises ApiError where the API does not take it."""
        told, about = draft.told, draft.about.metadata
        key = about.uid, told.reason, told.message
        kept = self._kept.get(key)
        if kept is not None:
            change = {"count": kept.count + 1, "lastTimestamp": written(draft.at)}
            try:
                await self._client.patch(EVENTS, kept.name, change, kind="merge", namespace=kept.namespace)
            except NotFound:
                del self._kept[key]  # the API server has forgotten it
            else:
                kept.count += 1
                return
        namespace = about.namespace or "default"
        self._count += 1
        name = f"{about.name}.{draft.at + self._count:x}"
        await self._client.create(EVENTS, self._tree(draft, namespace, name), namespace=namespace)
        if len(self._kept) >= REMEMBERED:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = _Kept(namespace, name, 1)

    def _tree(self, draft: Draft, namespace: str, name: str) -> dict[str, Any]:
        about, told, moment = draft.about.metadata, draft.told, written(draft.at)
        api_version, kind = draft.named
        involved = {"apiVersion": api_version, "kind": kind, "name": about.name, "uid": about.uid}
        if about.namespace:
            involved["namespace"] = about.namespace
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": involved,
            "type": told.type,
            "reason": told.reason,
            "message": told.message,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
