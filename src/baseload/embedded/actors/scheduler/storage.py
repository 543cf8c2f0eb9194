"""Claims, volumes and classes as the scheduler reads them, and bindings that wait for a volume (cluster-actors 6.7).

What is to be bound is written at once: a volume is promised to its claim, or the claim is told for which node it is to
be provisioned. Who binds volumes does the rest, which is looked for each second; after ten minutes the pod is given up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from baseload.decide.schedule import volumes
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.queue import Waiting
from baseload.decide.schedule.volumes import SELECTED_NODE, Plan, Storage
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store.record import Record, encode
from baseload.kube import reading as json_reading
from baseload.kube.types.core import PersistentVolume, PersistentVolumeClaim
from baseload.kube.types.meta import Wire
from baseload.kube.types.storage import CSINode, StorageClass
from baseload.values import instant

POLL: Final = 1 * instant.SECOND
LATE: Final = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
T = TypeVar("T", bound=Wire)


@dataclass(eq=False, slots=True)
class Binding:
    """A pod that has its node and waits for its volumes."""

    entry: Waiting
    record: Record
    node: str
    plan: Plan
    until: int
    next: int


class Claims:
    """The storage of one cluster, read anew where it changed."""

    def __init__(self, client: ActorClient, cluster: Cluster) -> None:
        self._client: Final = client
        self._cluster: Final = cluster
        self._read: Final[dict[tuple[str, str], tuple[Record, Wire]]] = {}
        self._version = -1
        self._storage: Final = Storage()
        self.bindings: Final[dict[str, Binding]] = {}

    def now(self, version: int) -> Storage:
        """The storage as it is; `version` rises with every change of it."""
        if version != self._version:
            self._version = version
            held = self._storage
            held.claims = {
                (it.metadata.namespace, it.metadata.name): it
                for it in self._all("", "PersistentVolumeClaim", PersistentVolumeClaim)
            }
            held.volumes = {it.metadata.name: it for it in self._all("", "PersistentVolume", PersistentVolume)}
            held.classes = {it.metadata.name: it for it in self._all("storage.k8s.io", "StorageClass", StorageClass)}
            held.limits = {it.metadata.name: _limits(it) for it in self._all("storage.k8s.io", "CSINode", CSINode)}
        return self._storage

    def plan(self, version: int, entry: Waiting, node: str) -> Plan:
        """What is to be bound for a pod on a node."""
        found = self._cluster.node(node)
        assert found is not None
        return volumes.Check(self.now(version), entry.pod, self._cluster).plan(found.facts)

    def begin(self, binding: Binding) -> None:
        """Promises and asks for volumes. Raises what the API refuses."""
        self.bindings[binding.entry.pod.uid] = binding
        for claim, volume in binding.plan.bindings:
            namespace, name = claim.metadata.namespace, claim.metadata.name
            self._storage.reserved[volume] = namespace, name
            reference = {
                "kind": "PersistentVolumeClaim",
                "apiVersion": "v1",
                "namespace": namespace,
                "name": name,
                "uid": claim.metadata.uid,
            }
            change = {
                "metadata": {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
                "spec": {"claimRef": reference},
            }
            self._client.merge(self._get("PersistentVolume", "", volume), change)
        for claim in binding.plan.provisions:
            held = self._get("PersistentVolumeClaim", claim.metadata.namespace, claim.metadata.name)
            self._client.merge(held, {"metadata": {"annotations": {SELECTED_NODE: binding.node}}})

    def end(self, binding: Binding) -> None:
        """The binding is over, one way or the other."""
        self.bindings.pop(binding.entry.pod.uid, None)
        for _, volume in binding.plan.bindings:
            self._storage.reserved.pop(volume, None)

    def fault(self, version: int, binding: Binding) -> str | None:
        """What went wrong for good; "" where nothing did and not all is bound yet; None where all is."""
        storage, namespace = self.now(version), binding.record.namespace
        asked = {claim.metadata.name for claim in binding.plan.provisions}
        left = False
        for name in binding.entry.pod.claims:
            claim = storage.claims.get((namespace, name))
            if claim is None:
                return f'running PreBind plugin "VolumeBinding": persistentvolumeclaim "{name}" not found'
            if volumes.is_bound(claim):
                continue
            left = True
            if name in asked and claim.metadata.annotations.get(SELECTED_NODE) != binding.node:
                return f'running PreBind plugin "VolumeBinding": provisioning failed for PVC "{name}"'
        return "" if left else None

    def due(self, now: int) -> list[Binding]:
        """The bindings whose next look is due."""
        return [binding for binding in self.bindings.values() if binding.next <= now]

    def next(self) -> int | None:
        return min((binding.next for binding in self.bindings.values()), default=None)

    def _all(self, group: str, kind: str, reading: type[T]) -> Iterator[T]:
        for key, record in self._client.records(group, kind).items():
            place = kind, key
            known = self._read.get(place)
            if known is None or known[0] is not record:
                known = self._read[place] = record, json_reading.decoded(encode(record), reading)
            assert isinstance(known[1], reading)
            yield known[1]

    def _get(self, kind: str, namespace: str, name: str) -> Record:
        return self._client.store.get(self._client.resource("", kind), namespace, name)


def _limits(node: CSINode) -> Mapping[str, int]:
    counts = ((driver.name, driver.allocatable) for driver in node.spec.drivers)
    return {name: held.count for name, held in counts if held is not None and held.count is not None}
