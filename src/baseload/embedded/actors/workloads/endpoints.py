"""EndpointSlices: which pods stand behind a Service, at most 100 in a slice, and whether they are to be asked.

Changes of pods are gathered for half a second for each Service. Slices keep the endpoints that they have; only those
that change are written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads.controller import Controller, Workplace
from baseload.embedded.actors.workloads.making import Tree
from baseload.embedded.actors.workloads.meaning import Meaning
from baseload.embedded.actors.workloads.ownership import reference
from baseload.embedded.store import record as records
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.kube.types.meta import Wire
from baseload.values import instant

MOST: Final = 100  # endpoints in a slice
GATHERED: Final = instant.SECOND // 2  # how long changes of pods are gathered
MANAGED_BY: Final = "endpointslice-controller.k8s.io"
_SERVICE: Final = "kubernetes.io/service-name"
_MANAGED: Final = "endpointslice.kubernetes.io/managed-by"
_ZONE: Final = "topology.kubernetes.io/zone"


class Port(Wire, frozen=True):
    name: str = ""
    port: int = 0
    protocol: str = "TCP"
    target_port: int | str | None = None


class ServiceSpec(Wire, frozen=True):
    selector: dict[str, str] = {}
    ports: tuple[Port, ...] = ()
    type: str = "ClusterIP"
    publish_not_ready_addresses: bool = False


class _NamedPort(Wire, frozen=True):
    name: str = ""
    container_port: int = 0
    protocol: str = "TCP"


class _Container(Wire, frozen=True):
    ports: tuple[_NamedPort, ...] = ()


class _PodPorts(Wire, frozen=True):
    containers: tuple[_Container, ...] = ()


@dataclass(slots=True)
class _Scope:
    """The pods that a Service means."""

    wanted: Mapping[str, str]
    pods: dict[str, None] = field(default_factory=dict)


class EndpointSlices(Controller):
    """The EndpointSlice controller."""

    component, group, kind = "endpoint-slice-controller", "", "Service"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._slice = self.client.kind("discovery.k8s.io", "EndpointSlice")
        self._node = self.client.resource("", "Node")
        self._scopes: dict[str, _Scope] = {}  # key of a Service -> its pods
        self._meaning = Meaning()

    def begin(self) -> None:
        super().begin()
        self.pods.hear_all(self._note_pod)

    def gone(self, key: str) -> None:
        super().gone(key)
        self._scopes.pop(key, None)
        self._meaning.drop(key.partition("/")[0], key)

    def _note_pod(self, event: Event) -> None:
        for key, is_meant in self._meaning.of_event(event):
            if is_meant:
                self._scopes[key].pods[event.record.key] = None
            else:
                self._scopes[key].pods.pop(event.record.key, None)
            self.queue.add_at(key, self.place.now + GATHERED)

    def _scope(self, record: Record, spec: ServiceSpec) -> _Scope:
        scope = self._scopes.get(record.key)
        if scope is None or scope.wanted != spec.selector:
            wanted = spec.selector.items()
            scope = self._scopes[record.key] = _Scope(spec.selector)
            self._meaning.put(record.namespace, record.key, lambda labels: wanted <= labels.items())
            found = self.pods.in_namespace(record.namespace)
            scope.pods.update((pod.key, None) for pod in found if wanted <= pod.shared.labels.items())
        return scope

    def sync(self, record: Record) -> None:
        spec = record.body.spec(ServiceSpec)
        if not spec.selector or spec.type == "ExternalName" or record.deletion is not None:
            return
        found: dict[bytes, dict[str, Tree]] = {}  # ports -> uid of a pod -> its endpoint
        for key in self._scope(record, spec).pods:
            pod = self.client.records("", "Pod").get(key)
            status = pods.status(pod) if pod is not None else None
            if pod is None or status is None or not status.pod_ip or pods.is_over(pod):
                continue
            found.setdefault(ports(spec, pod), {})[pod.uid] = self._endpoint(pod, status.pod_ip, spec)
        if not found:
            found[b"null"] = {}
        self._write(record, found)

    def _endpoint(self, pod: Record, address: str, spec: ServiceSpec) -> Tree:
        serving, terminating = pods.is_ready(pod), pod.deletion is not None
        ready = spec.publish_not_ready_addresses or (serving and not terminating)
        endpoint: Tree = {
            "addresses": [address],
            "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
            "targetRef": {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid},
        }
        if pod.node:
            endpoint["nodeName"] = pod.node
            node = self.client.store.find(self._node, "", pod.node)
            if node is not None and node.shared.labels.get(_ZONE):
                endpoint["zone"] = node.shared.labels[_ZONE]
        return endpoint

    def _write(self, record: Record, found: Mapping[bytes, Mapping[str, Tree]]) -> None:
        """Brings the slices up to date, one port set after the other; those that are left over go."""
        mine = [
            held
            for held in self.client.store.garbage.dependents(record.uid)
            if held.resource is self._slice.resource and held.shared.labels.get(_MANAGED) == MANAGED_BY
        ]
        by_ports: dict[bytes, list[Record]] = {}
        for held in mine:
            by_ports.setdefault(_canonical(held.body.tree().get("ports")), []).append(held)
        for told, wanted in found.items():
            self._fill(record, told, dict(wanted), by_ports.pop(told, []))
        for left in by_ports.values():
            for held in left:
                self.client.delete(held)

    def _fill(self, record: Record, told: bytes, wanted: dict[str, Tree], slices: list[Record]) -> None:
        kept: list[tuple[Record, list[Tree], bool]] = []
        for held in sorted(slices, key=lambda held: held.name):
            before = cast("list[Tree]", held.body.tree().get("endpoints") or [])
            after = [wanted.pop(uid) for one in before if (uid := _uid(one)) in wanted]
            kept.append((held, after, after != before))
        new = list(wanted.values())
        for at, (held, after, is_changed) in enumerate(kept):
            room = MOST - len(after)
            if new and room > 0:
                after, new, is_changed = [*after, *new[:room]], new[room:], True
            if not after and (at > 0 or new):
                self.client.delete(held)
            elif is_changed:
                self._change(held, after)
        chunks = [new[at : at + MOST] for at in range(0, len(new), MOST)] or ([[]] if not kept else [])
        for chunk in chunks:
            self._make(record, told, chunk)

    def _make(self, record: Record, told: bytes, endpoints: list[Tree]) -> None:
        labels = {**record.shared.labels, _SERVICE: record.name, _MANAGED: MANAGED_BY}
        tree = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "generateName": f"{record.name}-",
                "labels": labels,
                "ownerReferences": [reference(record)],
            },
            "addressType": "IPv4",
            "endpoints": endpoints,
            "ports": msgspec.Raw(told),
        }
        self.client.create(self._slice, record.namespace, msgspec.json.encode(tree))

    def _change(self, held: Record, endpoints: list[Tree]) -> None:
        """Written as a record: what such a slice may hold was checked when it was made."""
        tree = {**held.body.tree(), "endpoints": endpoints}
        self.client.rewrite(held, records.body(msgspec.json.encode(tree)[1:-1]))


def ports(spec: ServiceSpec, pod: Record) -> bytes:
    """The ports behind a Service on a pod, as canonical JSON; named ones are looked up in its containers."""
    found: list[Tree] = []
    for port in spec.ports:
        number = _number(port, pod)
        if number is not None:
            found.append({"name": port.name, "port": number, "protocol": port.protocol})
    return _canonical(found)


def _number(port: Port, pod: Record) -> int | None:
    if isinstance(port.target_port, str):
        named = (one for held in pod.body.spec(_PodPorts).containers for one in held.ports)
        wanted = port.target_port, port.protocol
        return next((one.container_port for one in named if (one.name, one.protocol) == wanted), None)
    return port.target_port or port.port


def _uid(endpoint: Tree) -> str:
    target = endpoint.get("targetRef")
    return str(target.get("uid")) if isinstance(target, dict) else ""


def _canonical(value: object) -> bytes:
    return msgspec.json.encode(value or None, order="sorted")
