"""EndpointSlices: which pods stand behind a Service, at most 100 in a slice, and whether they are to be asked.

Changes of pods are gathered for half a second for each Service. Slices keep the endpoints that they have; only those
that change are written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads.controller import Controller, Workplace
from baseload.embedded.actors.workloads.making import Tree
from baseload.embedded.actors.workloads.meaning import Meaning
from baseload.embedded.actors.workloads.ownership import reference
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Body, Record, Shared
from baseload.kube import reading as json_reading
from baseload.kube.types.meta import Wire
from baseload.values import instant

MOST: Final = 100  # endpoints in a slice
GATHERED: Final = instant.SECOND // 2  # how long changes of pods are gathered
MANAGED_BY: Final = "endpointslice-controller.k8s.io"
_SERVICE: Final = "kubernetes.io/service-name"
_MANAGED: Final = "endpointslice.kubernetes.io/managed-by"
_ZONE: Final = "topology.kubernetes.io/zone"


class _Conditions(Wire, frozen=True, gc=False):
    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class _Target(Wire, frozen=True, gc=False, omit_defaults=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class Endpoint(Wire, frozen=True, gc=False, omit_defaults=True):
    """What of an endpoint is the controller's."""

    addresses: tuple[str, ...] = ()
    conditions: _Conditions = _Conditions()
    target_ref: _Target = _Target()
    node_name: str = ""
    zone: str = ""


class _Endpoints(Wire, frozen=True):
    endpoints: tuple[Endpoint, ...] | None = None


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
    """The pods that a Service means, and what was found for them."""

    wanted: Mapping[str, str]
    pods: dict[str, None] = field(default_factory=dict)
    found: dict[str, "_Found"] = field(default_factory=dict)  # by key, as of the last look
    ports: dict[Body, bytes] = field(default_factory=dict)  # sections of pods -> what stands behind the Service there
    spec: ServiceSpec | None = None  # for which both hold


class _Found(NamedTuple):
    """What a pod is in slices; nothing where it has no address, or has ended."""

    pod: Record
    node: Shared | None
    ports: bytes
    endpoint: Endpoint | None


class _Slice(NamedTuple):
    """A slice as it was read last."""

    body: Body
    tree: Tree  # with nothing in place of its endpoints
    ports: bytes
    endpoints: list[Endpoint]


class EndpointSlices(Controller):
    """The EndpointSlice controller."""

    component, group, kind = "endpoint-slice-controller", "", "Service"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._slice = self.client.kind("discovery.k8s.io", "EndpointSlice")
        self._node = self.client.resource("", "Node")
        self._scopes: dict[str, _Scope] = {}  # key of a Service -> its pods
        self._meaning = Meaning()
        self._slices: dict[str, _Slice] = {}  # by uid

    def begin(self) -> None:
        super().begin()
        self.pods.hear_all(self._note_pod)

    def gone(self, key: str) -> None:
        super().gone(key)
        self._scopes.pop(key, None)
        self._meaning.drop(key.partition("/")[0], key)

    def _note_pod(self, event: Event) -> None:
        meant = self._meaning.of_event(event)
        if not meant:
            return
        pod, old = event.record, event.old
        if event.type == "MODIFIED" and old is not None and old.shared is pod.shared and _is_shown_alike(old, pod):
            return
        for key, is_meant in meant:
            if is_meant:
                self._scopes[key].pods[pod.key] = None
            else:
                self._scopes[key].pods.pop(pod.key, None)
                self._scopes[key].found.pop(pod.key, None)
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
        found: dict[bytes, dict[str, Endpoint]] = {}  # ports -> uid of a pod -> its endpoint
        scope, held = self._scope(record, spec), self.client.records("", "Pod")
        if scope.spec is not spec:
            scope.spec, scope.found, scope.ports = spec, {}, {}
        for key in scope.pods:
            pod = held.get(key)
            if pod is not None:
                one = self._found(scope, spec, key, pod)
                if one.endpoint is not None:
                    found.setdefault(one.ports, {})[pod.uid] = one.endpoint
        if not found:
            found[b"null"] = {}
        self._write(record, found)

    def _found(self, scope: _Scope, spec: ServiceSpec, key: str, pod: Record) -> _Found:
        """What a pod is now; found anew where it or its node is not what it was."""
        node = self.client.store.find(self._node, "", pod.node) if pod.node else None
        shared = node.shared if node is not None else None
        known = scope.found.get(key)
        if known is not None and known.pod is pod and known.node is shared:
            return known
        status = pods.status(pod)
        if not status.pod_ip or pods.is_over(pod):
            new = _Found(pod, shared, b"", None)
        else:
            told = scope.ports.get(pod.body)
            if told is None:
                told = scope.ports[pod.body] = ports(spec, pod)
            zone = shared.labels.get(_ZONE, "") if shared is not None else ""
            endpoint = _endpoint(pod, status.pod_ip, zone, is_always_ready=spec.publish_not_ready_addresses)
            if known is not None and known.endpoint == endpoint:
                endpoint = known.endpoint
            new = _Found(pod, shared, told, endpoint)
        scope.found[key] = new
        return new

    def _write(self, record: Record, found: Mapping[bytes, Mapping[str, Endpoint]]) -> None:
        """Brings the slices up to date, one port set after the other; those that are left over go."""
        mine = [
            held
            for held in self.client.store.garbage.dependents(record.uid)
            if held.resource is self._slice.resource and held.shared.labels.get(_MANAGED) == MANAGED_BY
        ]
        by_ports: dict[bytes, list[Record]] = {}
        for held in mine:
            by_ports.setdefault(self._read(held).ports, []).append(held)
        for told, wanted in found.items():
            self._fill(record, told, dict(wanted), by_ports.pop(told, []))
        for left in by_ports.values():
            for held in left:
                self._drop(held)

    def _read(self, held: Record) -> _Slice:
        known = self._slices.get(held.uid)
        if known is None or known.body is not held.body:
            tree: Tree = {**held.body.tree(), "endpoints": None}
            endpoints = json_reading.decoded(b"{%b}" % held.body.raw, _Endpoints).endpoints or ()
            known = self._slices[held.uid] = _Slice(held.body, tree, _canonical(tree.get("ports")), list(endpoints))
        return known

    def _drop(self, held: Record) -> None:
        self.client.delete(held)
        self._slices.pop(held.uid, None)

    def _fill(self, record: Record, told: bytes, wanted: dict[str, Endpoint], slices: list[Record]) -> None:
        kept: list[tuple[Record, list[Endpoint], bool]] = []
        for held in sorted(slices, key=lambda held: held.name):
            before = self._read(held).endpoints
            after = [wanted.pop(uid) for one in before if (uid := one.target_ref.uid) in wanted]
            kept.append((held, after, after != before))
        new = list(wanted.values())
        for at, (held, after, is_changed) in enumerate(kept):
            room = MOST - len(after)
            if new and room > 0:
                after, new, is_changed = [*after, *new[:room]], new[room:], True
            if not after and (at > 0 or new):
                self._drop(held)
            elif is_changed:
                self._change(held, after)
        chunks = [new[at : at + MOST] for at in range(0, len(new), MOST)] or ([[]] if not kept else [])
        for chunk in chunks:
            self._make(record, told, chunk)

    def _make(self, record: Record, told: bytes, endpoints: list[Endpoint]) -> None:
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

    def _change(self, held: Record, endpoints: list[Endpoint]) -> None:
        """Written as a record: what such a slice may hold was checked when it was made."""
        known = self._read(held)
        tree: Tree = {**known.tree, "endpoints": endpoints}
        body = Body(msgspec.json.encode(tree)[1:-1])
        self._slices[held.uid] = _Slice(body, known.tree, known.ports, endpoints)
        self.client.rewrite(held, body)


def _endpoint(pod: Record, address: str, zone: str, *, is_always_ready: bool) -> Endpoint:
    serving, terminating = pods.is_ready(pod), pod.deletion is not None
    ready = is_always_ready or (serving and not terminating)
    target = _Target("Pod", pod.namespace, pod.name, pod.uid)
    return Endpoint((address,), _Conditions(ready, serving, terminating), target, pod.node, zone)


def _is_shown_alike(old: Record, new: Record) -> bool:
    """Whether slices tell the same of a pod in two states."""
    before, after = pods.status(old), pods.status(new)
    if before.pod_ip != after.pod_ip or (old.deletion is None) is not (new.deletion is None) or old.node != new.node:
        return not before.pod_ip and not after.pod_ip
    if before is after or not after.pod_ip:
        return True
    return before.phase == after.phase and pods.is_ready(old) is pods.is_ready(new)


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


def _canonical(value: object) -> bytes:
    return msgspec.json.encode(value or None, order="sorted")
