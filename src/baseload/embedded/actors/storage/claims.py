"""Binds claims and volumes, has disks made for claims, and reclaims what is left of them.

It stands for kube-controller-manager's controller of persistent volumes and for the external provisioner of a CSI
driver. A volume is named after the uid of its claim, so that one which was made before a restart is found again.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from baseload.decide.storage import binding, placing
from baseload.decide.storage.binding import BIND_COMPLETED, BY_CONTROLLER, Bind, Lost, Provision, Volumes, Wait
from baseload.embedded.actors import nodes
from baseload.embedded.actors.recorder import Recorder
from baseload.embedded.actors.storage.disks import DiskError, Disks
from baseload.embedded.actors.storage.jobs import Jobs
from baseload.embedded.actors.storage.objects import GROUP, Objects
from baseload.embedded.actors.workloads.queue import WorkQueue
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.kube.types.core import PersistentVolume, PersistentVolumeClaim
from baseload.kube.types.storage import StorageClass
from baseload.values import quantity
from baseload.values.label import ZONE

_ALL: Final = ("added", "removed", "marked", "spec", "status", "other")
_PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
_PROVISIONER: Final = "volume.kubernetes.io/storage-provisioner"
_RETRIED: Final = 15.0
"""Seconds until a claim is looked at again that waits for an administrator: the controller's resync"""


class Claims:
    """The controller of claims and volumes."""

    def __init__(self, objects: Objects, jobs: Jobs, disks: Disks, ring: Callable[[], None]) -> None:
        self._objects, self._client = objects, objects.client
        self._jobs, self._disks = jobs, disks
        self._binder = Recorder(objects.client, "persistentvolume-controller")
        self._volumes = Volumes()
        self._of_claims, self._of_volumes = WorkQueue(), WorkQueue()
        client = objects.client
        self._heard = (
            (client.subscribe("", "PersistentVolumeClaim", _ALL, ring), self._hear_claim),
            (client.subscribe("", "PersistentVolume", _ALL, ring), self._hear_volume),
            (client.subscribe(GROUP, "StorageClass", ("added", "removed"), ring), self._hear_class),
        )

    def begin(self) -> None:
        """Looks at all there is."""
        for record in self._client.records("", "PersistentVolume").values():
            self._volumes.put(self._objects.read(record, PersistentVolume))
            self._of_volumes.add(record.name)
        for key in self._client.records("", "PersistentVolumeClaim"):
            self._of_claims.add(key)

    def work(self, now: int) -> None:
        """Hears what happened, and does what is due."""
        for subscription, hear in self._heard:
            for event in subscription.take():
                hear(event)
        for queue, sync in ((self._of_claims, self._sync_claim), (self._of_volumes, self._sync_volume)):
            for key in queue.take(now):
                try:
                    sync(key)
                except StatusError:
                    queue.failed(key, now)
                else:
                    queue.forget(key)

    def next(self, now: int) -> int | None:
        """When something is due."""
        moments = [at for queue in (self._of_claims, self._of_volumes) if (at := queue.next(now)) is not None]
        return min(moments, default=None)

    # -- what comes

    def _hear_claim(self, event: Event) -> None:
        record = event.record
        if event.type == "DELETED":
            self._objects.forget(record)
        else:
            self._of_claims.add(record.key)
        volume = self._volumes.by_name.get(record.body.field("spec.volumeName"))
        if volume is not None:
            self._of_volumes.add(volume.metadata.name)

    def _hear_volume(self, event: Event) -> None:
        record = event.record
        if event.type == "DELETED":
            self._volumes.drop(record.name)
            self._objects.forget(record)
            reading = msgspec.convert({"metadata": {}, **record.body.tree()}, PersistentVolume)
        else:
            reading = self._objects.read(record, PersistentVolume)
            self._volumes.put(reading)
            self._of_volumes.add(record.name)
        held = reading.spec.claim_ref
        if held is not None:
            self._of_claims.add(f"{held.namespace}/{held.name}")

    def _hear_class(self, event: Event) -> None:
        if event.type == "DELETED":
            self._objects.forget(event.record)
        for key, record in self._client.records("", "PersistentVolumeClaim").items():
            if record.body.field("spec.storageClassName") == event.record.name:
                self._of_claims.add(key)

    # -- claims

    def _sync_claim(self, key: str) -> None:
        record = self._client.records("", "PersistentVolumeClaim").get(key)
        if record is None:
            return
        claim = self._objects.read(record, PersistentVolumeClaim)
        storage = self._objects.storage_class(claim.spec.storage_class_name or "")
        match binding.next_of_claim(claim, self._volumes, storage):
            case Bind(volume):
                self._bind(record, claim, volume)
            case Provision(driver, node):
                assert storage is not None
                self._provision(record, driver, node, storage)
            case Lost():
                self._client.merge(record, {"status": {"phase": "Lost"}}, "status")
                message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
                self._binder.record(record, "Warning", "ClaimLost", message)
            case Wait(reason, message, type):
                self._wait(record, claim, Wait(reason, message, type))
            case None:
                self._wait(record, claim, None)

    def _wait(self, record: Record, claim: PersistentVolumeClaim, why: Wait | None) -> None:
        if not claim.status.phase:
            record = self._client.merge(record, {"status": {"phase": "Pending"}}, "status")
        if why is not None:
            self._binder.record(record, why.type, why.reason, why.message)
            if why.reason != "WaitForFirstConsumer":
                self._of_claims.add_at(record.key, self._client.cluster.clock.now() + round(_RETRIED * 10**9))

    def _bind(self, record: Record, claim: PersistentVolumeClaim, name: str) -> None:
        """The volume first, then the claim: a half of it is found again."""
        volume, held = self._volumes.by_name[name], self._objects.record("", "PersistentVolume", "", name)
        if held is None:
            return
        reference = volume.spec.claim_ref
        if reference is None or reference.uid != claim.metadata.uid:
            change: dict[str, Any] = {"spec": {"claimRef": _reference(record)}}
            if reference is None:
                change["metadata"] = {"annotations": {BY_CONTROLLER: "yes"}}
            held = self._client.merge(held, change)
        if volume.status.phase != "Bound":
            self._client.merge(held, {"status": {"phase": "Bound"}}, "status")
        if claim.spec.volume_name != name or BIND_COMPLETED not in claim.metadata.annotations:
            marks = {BIND_COMPLETED: "yes", **({} if claim.spec.volume_name else {BY_CONTROLLER: "yes"})}
            record = self._client.merge(record, {"metadata": {"annotations": marks}, "spec": {"volumeName": name}})
        status = {"phase": "Bound", "accessModes": list(volume.spec.access_modes), "capacity": volume.spec.capacity}
        self._client.merge(record, {"status": status}, "status")

    # -- disks for claims

    def _provision(self, record: Record, driver: str, node: str, storage: StorageClass) -> None:
        claim = self._objects.read(record, PersistentVolumeClaim)
        if claim.metadata.annotations.get(_PROVISIONER) != driver or not claim.status.phase:
            record = self._client.merge(record, {"metadata": {"annotations": {_PROVISIONER: driver}}})
            record = self._client.merge(record, {"status": {"phase": "Pending"}}, "status")
            message = (
                f"Waiting for a volume to be created either by the external provisioner '{driver}' or manually by the "
                "system administrator. If volume creation is delayed, please verify that the provisioner is running "
                "and correctly registered."
            )
            self._binder.record(record, "Normal", "ExternalProvisioning", message)
        self._jobs.add(f"create {record.uid}", lambda: self._create(record, driver, node, storage))

    async def _create(self, record: Record, driver: str, node: str, storage: StorageClass) -> None:
        teller, claim = Recorder(self._client, driver), self._objects.read(record, PersistentVolumeClaim)
        name = f"pvc-{record.uid}"
        told = f'External provisioner is provisioning volume for claim "{record.namespace}/{record.name}"'
        teller.record(record, "Normal", "Provisioning", told)
        zone, error = self._zone(record, driver, node, storage)
        try:
            if error:
                raise DiskError(error)
            handle = await self._disks.create(name, zone, binding.asked(claim))
        except DiskError as failure:
            held = self._still(record)
            if held is None:
                return
            message = f'failed to provision volume with StorageClass "{storage.metadata.name}": {failure}'
            teller.record(held, "Warning", "ProvisioningFailed", message)
            if node and self._objects.record("", "Node", "", node) is None:
                self._client.merge(held, {"metadata": {"annotations": {binding.SELECTED_NODE: None}}})
                return  # the scheduler chooses anew
            raise
        held = self._still(record)
        if held is None:
            await self._disks.delete(handle)
            return
        tree = _volume(held, claim, storage, driver, handle, zone)
        try:
            self._client.create(self._client.kind("", "PersistentVolume"), "", msgspec.json.encode(tree))
        except StatusError as failure:
            if failure.code != 409:
                raise DiskError(str(failure)) from failure
        teller.record(held, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {name}")

    def _zone(self, record: Record, driver: str, node: str, storage: StorageClass) -> tuple[str, str]:
        """Where the disk is made, or why it cannot be."""
        if not placing.is_zonal(driver):
            return "", ""
        if node:
            held = self._objects.record("", "Node", "", node)
            if held is None:
                return "", f'error getting selected node: node "{node}" not found'
            return held.shared.labels.get(ZONE, ""), ""
        there = self._client.records("", "Node").values()
        candidates = placing.zones(storage, (it.shared.labels.get(ZONE, "") for it in there if nodes.ready(it)))
        if not candidates:
            return "", "error generating accessibility requirements: no available topology found"
        return placing.zone(record.name, candidates), ""

    def _still(self, record: Record) -> Record | None:
        """The claim as it is now, None where it needs no disk any more."""
        held = self._objects.record("", "PersistentVolumeClaim", record.namespace, record.name)
        return held if held is not None and held.uid == record.uid and held.deletion is None else None

    # -- volumes

    def _sync_volume(self, name: str) -> None:
        record = self._objects.record("", "PersistentVolume", "", name)
        if record is None or record.deletion is not None:
            return
        volume = self._objects.read(record, PersistentVolume)
        held = volume.spec.claim_ref
        claim = None if held is None else self._objects.claim(held.namespace, held.name)
        phase = binding.next_phase(volume, claim)
        if volume.status.phase != phase and not (phase == "Released" and volume.status.phase == "Failed"):
            self._client.merge(record, {"status": {"phase": phase}}, "status")
        elif binding.is_reclaimed(volume) and volume.spec.csi is not None:
            handle = volume.spec.csi.volume_handle
            self._jobs.add(f"delete {record.uid}", lambda: self._reclaim(record, handle))

    async def _reclaim(self, record: Record, handle: str) -> None:
        held = self._objects.record("", "PersistentVolume", "", record.name)
        if held is None or held.uid != record.uid:
            return
        try:
            await self._disks.delete(handle)
        except DiskError as failure:
            self._binder.record(held, "Warning", "VolumeFailedDelete", str(failure))
            raise
        held = self._objects.record("", "PersistentVolume", "", record.name)
        if held is not None and held.uid == record.uid:
            self._client.delete(held)


def _reference(claim: Record) -> dict[str, str]:
    return {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.uid,
    }


def _volume(
    record: Record, claim: PersistentVolumeClaim, storage: StorageClass, driver: str, handle: str, zone: str
) -> dict[str, Any]:
    """The object for a new disk."""
    gibibytes = quantity.UNIT * 2**30
    size = -(-binding.asked(claim) // gibibytes)
    spec: dict[str, Any] = {
        "capacity": {"storage": f"{size}Gi"},
        "accessModes": list(claim.spec.access_modes),
        "claimRef": _reference(record),
        "csi": {"driver": driver, "volumeHandle": handle, "fsType": "ext4"},
        "persistentVolumeReclaimPolicy": storage.reclaim_policy or "Delete",
        "storageClassName": storage.metadata.name,
        "volumeMode": claim.spec.volume_mode or "Filesystem",
    }
    if zone:
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pvc-{record.uid}", "annotations": {_PROVISIONED_BY: driver}},
        "spec": spec,
    }
