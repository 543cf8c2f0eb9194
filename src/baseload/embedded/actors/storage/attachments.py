"""Attaches volumes to the nodes that their pods are bound to, and lets go of them when the last pod is gone.

It stands for kube-controller-manager's controller of attachments, which makes and deletes VolumeAttachments, and for
the external attacher of a CSI driver, which has the cloud do it and holds them by a finalizer meanwhile.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from baseload.decide.node.taints import OUT_OF_SERVICE
from baseload.decide.storage import attaching, placing
from baseload.embedded.actors import nodes, pods
from baseload.embedded.actors.recorder import Recorder
from baseload.embedded.actors.storage.disks import DiskError, Disks
from baseload.embedded.actors.storage.jobs import Jobs
from baseload.embedded.actors.storage.objects import GROUP, Objects
from baseload.embedded.actors.workloads.protection import claims as claims_of
from baseload.embedded.actors.workloads.queue import WorkQueue
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.kube.types.core import PersistentVolume
from baseload.kube.types.storage import VolumeAttachment
from baseload.values.instant import SECOND

_ALL: Final = ("added", "removed", "marked", "spec", "status", "other")
_LOOKS: Final = 5 * SECOND  # between two looks at a volume that waits for its node
_EXCLUSIVE: Final = "Volume is already exclusively attached to one node and can't be attached to another"


class Attachments:
    """The controller of attachments."""

    def __init__(self, objects: Objects, jobs: Jobs, disks: Disks, ring: Callable[[], None]) -> None:
        self._objects, self._client = objects, objects.client
        self._jobs, self._disks = jobs, disks
        self._recorder = Recorder(objects.client, "attachdetach-controller")
        self._queue = WorkQueue()  # of volumes
        self._users: dict[str, Record] = {}  # uid -> a pod on a node that names claims
        self._by_claim: dict[str, dict[str, None]] = {}  # namespace/name of a claim -> uids of its users
        self._attached: dict[str, dict[str, str]] = {}  # volume -> node -> name of the attachment
        self._unused: dict[tuple[str, str], int] = {}  # volume and node -> since when no pod there uses it
        client = objects.client
        self._heard = (
            (client.subscribe("", "Pod", ("added", "bound", "removed"), ring, _has_claims), self._hear_pod),
            (client.subscribe("", "Pod", ("status",), ring, _has_claims), self._hear_status),
            (client.subscribe("", "PersistentVolumeClaim", ("spec", "status"), ring), self._hear_claim),
            (client.subscribe(GROUP, "VolumeAttachment", _ALL, ring), self._hear_attachment),
        )

    def begin(self) -> None:
        """Looks at all there is."""
        for record in self._client.records("", "Pod").values():
            self._use(record)
        for record in self._client.records(GROUP, "VolumeAttachment").values():
            self._know(record)

    def work(self, now: int) -> None:
        """Hears what happened, and does what is due."""
        for subscription, hear in self._heard:
            for event in subscription.take():
                hear(event)
        for name in self._queue.take(now):
            try:
                self._sync(name, now)
            except StatusError:
                self._queue.failed(name, now)
            else:
                self._queue.forget(name)

    def next(self, now: int) -> int | None:
        """When something is due."""
        return self._queue.next(now)

    # -- what comes

    def _hear_pod(self, event: Event) -> None:
        if event.type == "DELETED":
            self._leave(event.record)
        else:
            self._use(event.record)

    def _hear_status(self, event: Event) -> None:
        if event.record.uid in self._users and pods.is_over(event.record):
            self._leave(event.record)

    def _use(self, record: Record) -> None:
        """A pod that may have volumes on its node."""
        if not record.node or record.uid in self._users or not (names := claims_of(record)) or pods.is_over(record):
            return
        self._users[record.uid] = record
        for name in names:
            key = f"{record.namespace}/{name}"
            self._by_claim.setdefault(key, {})[record.uid] = None
            self._look_at(record.namespace, name)

    def _leave(self, record: Record) -> None:
        known = self._users.pop(record.uid, None)
        for name in claims_of(known) if known is not None else ():
            self._by_claim[f"{record.namespace}/{name}"].pop(record.uid, None)
            self._look_at(record.namespace, name)

    def _hear_claim(self, event: Event) -> None:
        self._look_at(event.record.namespace, event.record.name)

    def _look_at(self, namespace: str, name: str) -> None:
        claim = self._objects.claim(namespace, name)
        if claim is not None and claim.spec.volume_name:
            self._queue.add(claim.spec.volume_name)

    def _hear_attachment(self, event: Event) -> None:
        if event.type != "DELETED":
            self._know(event.record)
            return
        spec = self._objects.read(event.record, VolumeAttachment).spec
        self._objects.forget(event.record)
        volume = spec.source.persistent_volume_name
        self._attached.get(volume, {}).pop(spec.node_name, None)
        self._unused.pop((volume, spec.node_name), None)
        self._queue.add(volume)

    def _know(self, record: Record) -> None:
        spec = self._objects.read(record, VolumeAttachment).spec
        volume = spec.source.persistent_volume_name
        if volume:
            self._attached.setdefault(volume, {})[spec.node_name] = record.name
            self._queue.add(volume)

    # -- volumes

    def _sync(self, name: str, now: int) -> None:
        held = self._objects.record("", "PersistentVolume", "", name)
        volume = None if held is None else self._objects.read(held, PersistentVolume)
        wanted: dict[str, Record] = {}  # node -> the first pod there
        if volume is not None and volume.spec.claim_ref is not None and volume.spec.csi is not None:
            key = f"{volume.spec.claim_ref.namespace}/{volume.spec.claim_ref.name}"
            for uid in self._by_claim.get(key, ()):
                wanted.setdefault(self._users[uid].node, self._users[uid])
        for node in list(self._attached.get(name, {})):
            self._keep(name, node, now, is_wanted=node in wanted)
        if volume is not None:
            for node, pod in wanted.items():
                if node not in self._attached.get(name, {}):
                    self._attach(volume, node, pod)

    def _keep(self, name: str, node: str, now: int, *, is_wanted: bool) -> None:
        """An attachment that is there: has the cloud attach it, deletes it, or has the cloud let go of it."""
        record = self._objects.record(GROUP, "VolumeAttachment", "", self._attached[name][node])
        if record is None:
            return
        if record.deletion is not None:
            self._jobs.add(f"detach {record.uid}", lambda: self._detach(record))
            return
        if is_wanted:
            self._unused.pop((name, node), None)
            if not self._objects.read(record, VolumeAttachment).status.attached:
                self._jobs.add(f"attach {record.uid}", lambda: self._attached_by_cloud(record))
            return
        since = self._unused.setdefault((name, node), now)
        if now >= self._released_at(node, since):
            self._client.delete(record)
        else:
            self._queue.add_at(name, now + _LOOKS)

    def _released_at(self, node: str, since: int) -> int:
        held = self._objects.record("", "Node", "", node)
        taints = () if held is None else nodes.spec(held).taints
        return attaching.released_at(
            since,
            is_ready=held is not None and nodes.ready(held) == "True",
            is_out_of_service=any(taint.key == OUT_OF_SERVICE for taint in taints),
        )

    def _attach(self, volume: PersistentVolume, node: str, pod: Record) -> None:
        source, name = volume.spec.csi, volume.metadata.name
        assert source is not None
        if not placing.is_zonal(source.driver):
            return  # nothing is attached; it is mounted over the network
        if self._attached.get(name) and not attaching.is_shared(volume.spec.access_modes):
            message = f'Multi-Attach error for volume "{name}" {_EXCLUSIVE}'
            self._recorder.record(pod, "Warning", "FailedAttachVolume", message)
            return
        tree: dict[str, Any] = {
            "apiVersion": f"{GROUP}/v1",
            "kind": "VolumeAttachment",
            "metadata": {
                "name": attaching.name(source.driver, source.volume_handle, node),
                "finalizers": [_finalizer(source.driver)],
            },
            "spec": {"attacher": source.driver, "nodeName": node, "source": {"persistentVolumeName": name}},
        }
        self._client.create(self._client.kind(GROUP, "VolumeAttachment"), "", msgspec.json.encode(tree))

    # -- the cloud

    async def _attached_by_cloud(self, record: Record) -> None:
        held, handle = self._current(record), self._handle(record)
        if held is None or held.deletion is not None or not handle:
            return
        spec = self._objects.read(held, VolumeAttachment).spec
        try:
            await self._disks.attach(handle, self._machine(spec.node_name))
        except DiskError as failure:
            for pod in self._pods(spec.source.persistent_volume_name, spec.node_name):
                message = f'AttachVolume.Attach failed for volume "{spec.source.persistent_volume_name}" : {failure}'
                self._recorder.record(pod, "Warning", "FailedAttachVolume", message)
            raise
        held = self._current(record)
        if held is None:
            return
        self._client.merge(held, {"status": {"attached": True}}, "status")
        for pod in self._pods(spec.source.persistent_volume_name, spec.node_name):
            message = f'AttachVolume.Attach succeeded for volume "{spec.source.persistent_volume_name}" '
            self._recorder.record(pod, "Normal", "SuccessfulAttachVolume", message)

    async def _detach(self, record: Record) -> None:
        held, handle = self._current(record), self._handle(record)
        if held is None:
            return
        spec = self._objects.read(held, VolumeAttachment).spec
        if handle:
            await self._disks.detach(handle, self._machine(spec.node_name))
        held = self._current(record)
        if held is not None:
            self._client.drop_finalizer(held, _finalizer(spec.attacher))

    def _current(self, record: Record) -> Record | None:
        held = self._objects.record(GROUP, "VolumeAttachment", "", record.name)
        return held if held is not None and held.uid == record.uid else None

    def _handle(self, record: Record) -> str:
        name = self._objects.read(record, VolumeAttachment).spec.source.persistent_volume_name
        held = self._objects.record("", "PersistentVolume", "", name)
        source = None if held is None else self._objects.read(held, PersistentVolume).spec.csi
        return source.volume_handle if source is not None else ""

    def _machine(self, node: str) -> str:
        held = self._objects.record("", "Node", "", node)
        return "" if held is None else nodes.spec(held).provider_id

    def _pods(self, volume: str, node: str) -> Iterator[Record]:
        """The pods of a node that use a volume."""
        held = self._objects.record("", "PersistentVolume", "", volume)
        reference = None if held is None else self._objects.read(held, PersistentVolume).spec.claim_ref
        if reference is not None:
            for uid in self._by_claim.get(f"{reference.namespace}/{reference.name}", ()):
                if self._users[uid].node == node:
                    yield self._users[uid]


def _has_claims(event: Event) -> bool:
    return bool(claims_of(event.record))


def _finalizer(driver: str) -> str:
    return f"external-attacher/{driver.replace('.', '-')}"
