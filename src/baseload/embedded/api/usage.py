"""metrics.k8s.io: what pods and nodes use of cpu and memory, for `kubectl top` and for autoscalers.

Nothing runs here, so nothing can be measured: a function that is handed in says what the containers of a pod use. The
one of `baseload serve` is `requested`, by which a running pod uses exactly what it requests. A node uses what its pods
use together.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from baseload.embedded.api import computed
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.pod_rows import at, maps, text
from baseload.embedded.api.target import Target
from baseload.embedded.store import selection
from baseload.embedded.store.errors import NotFound
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.selection import Selection
from baseload.kube.schema.definitions import OBJECT_META, Schema
from baseload.values import quantity

if TYPE_CHECKING:
    from baseload.embedded.api.kinds import Reply

Amounts = Mapping[str, int]
"""cpu and memory -> how much, in billionths of cores and of bytes"""

Usage = Callable[[Record], Mapping[str, Amounts]]
"""What the containers of a running pod use: name -> amounts"""

GROUP: Final = "metrics.k8s.io"
API_VERSION: Final = f"{GROUP}/v1beta1"
WINDOW: Final = "30s"
_RESOURCES: Final = ("cpu", "memory")
_FORMS: Final[dict[str, quantity.Form]] = {"cpu": "DecimalSI", "memory": "BinarySI"}
_VERBS: Final = ("get", "list")

_TEXT: Final[Schema] = {"type": "string"}
_USED: Final[Schema] = {"type": "object", "additionalProperties": _TEXT}
_HEAD: Final[Schema] = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": {"$ref": OBJECT_META},
    "timestamp": {"type": "string", "format": "date-time"},
    "window": _TEXT,
}
_CONTAINER: Final[Schema] = {"type": "object", "properties": {"name": _TEXT, "usage": _USED}}
_OF_NODE: Final[Schema] = {"type": "object", "properties": {**_HEAD, "usage": _USED}}
_OF_POD: Final[Schema] = {
    "type": "object",
    "properties": {**_HEAD, "containers": {"type": "array", "items": _CONTAINER}},
}


def kinds(usage: Usage) -> list[ServedKind]:
    """The two kinds, answered by what a function tells of pods."""

    def of_nodes(cluster: Cluster, target: Target, call: Call) -> Tree:
        used: dict[str, list[Amounts]] = {}
        for pod in _running(cluster, Selection("")):
            used.setdefault(pod.node, []).extend(usage(pod).values())
        return _answer(cluster, target, call, lambda node: {"usage": _told(used.get(node.name, ()))})

    def of_pods(cluster: Cluster, target: Target, call: Call) -> Tree:
        return _answer(cluster, target, call, lambda pod: {"containers": _containers(usage(pod))})

    nodes = _kind("NodeMetrics", "nodes", _OF_NODE, of_nodes, namespaced=False)
    return [nodes, _kind("PodMetrics", "pods", _OF_POD, of_pods, namespaced=True)]


def requested(pod: Record) -> Mapping[str, Amounts]:
    """The containers of a pod using what they request, and nothing where they request nothing."""
    return {
        text(container, "name"): {name: _amount(at(container, "resources.requests"), name) for name in _RESOURCES}
        for container in maps(pod.body.tree().get("spec"), "containers")
    }


def _amount(requests: Json, name: str) -> int:
    held = requests.get(name) if isinstance(requests, dict) else None
    return quantity.parse(held) if isinstance(held, str | int | float) else 0


def _kind(name: str, plural: str, schema: Schema, reply: "Reply", *, namespaced: bool) -> ServedKind:
    return computed.kind(API_VERSION, name, plural, verbs=_VERBS, reply=reply, namespaced=namespaced, schema=schema)


def _answer(cluster: Cluster, target: Target, call: Call, measured: Callable[[Record], Tree]) -> Tree:
    """One object or a list: of the running pods or of the nodes that are meant, with what is measured of each."""
    kind = target.kind
    asked = call.selection(target.namespace, target.name)
    found = _running(cluster, asked) if kind.resource.namespaced else _listed(cluster, "Node", asked)
    head: Tree = {"kind": kind.resource.kind, "apiVersion": API_VERSION}
    now = cluster.now()
    items = [{**head, **_measured(record, now), **measured(record)} for record in found]
    if not target.name:
        metadata: Tree = {"resourceVersion": str(cluster.store.version)}
        return {**head, "kind": kind.list_kind, "metadata": metadata, "items": list[Json](items)}
    if not items:
        raise _absent(target)
    return items[0]


def _measured(record: Record, now: str) -> Tree:
    metadata: Tree = {"name": record.name, "creationTimestamp": now}
    if record.namespace:
        metadata["namespace"] = record.namespace
    if record.shared.labels:
        metadata["labels"] = dict(record.shared.labels)
    return {"metadata": metadata, "timestamp": now, "window": WINDOW}


def _running(cluster: Cluster, asked: Selection) -> list[Record]:
    pods = _listed(cluster, "Pod", asked)
    return [pod for pod in pods if pod.node and selection.field(pod, "status.phase") == "Running"]


def _listed(cluster: Cluster, kind: str, asked: Selection) -> list[Record]:
    resource = cluster.store.resource_of("", kind)
    assert resource is not None
    return cluster.store.list(resource, asked).records


def _containers(used: Mapping[str, Amounts]) -> list[Json]:
    return [{"name": name, "usage": _told((amounts,))} for name, amounts in used.items()]


def _told(used: Iterable[Amounts]) -> Json:
    used = list(used)
    return {name: quantity.format(sum(amounts.get(name, 0) for amounts in used), _FORMS[name]) for name in _RESOURCES}


def _absent(target: Target) -> NotFound:
    """That nothing is measured of an object, in the words of the server that usually answers this group."""
    plural = target.kind.resource.kind.lower()
    resource = Resource(GROUP, "v1beta1", target.kind.resource.kind, plural, namespaced=False)
    name = f"{target.namespace}/{target.name}" if target.namespace else target.name
    return NotFound(f'{resource.qualified} "{name}" not found', resource=resource, name=name)
