"""The claims of volumes that a pod has for itself: made when it comes, and owned by it, so that they go with it."""

from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

from baseload.embedded.actors.storage.objects import Objects
from baseload.embedded.actors.workloads.queue import WorkQueue
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.record import Json, Record
from baseload.kube.types.core import PodSpec

_CLAIM: Final = ("", "PersistentVolumeClaim")


class EphemeralVolumes:
    """kube-controller-manager's controller of ephemeral volumes."""

    def __init__(self, objects: Objects, ring: Callable[[], None]) -> None:
        self._objects, self._client = objects, objects.client
        self._queue = WorkQueue()  # of pods
        self._pods = objects.client.subscribe("", "Pod", ("added",), ring)

    def begin(self) -> None:
        """Looks at all there is."""
        for record in self._client.records("", "Pod").values():
            self._note(record)

    def work(self, now: int) -> None:
        """Hears of new pods, and makes the claims of their own."""
        for event in self._pods.take():
            self._note(event.record)
        for key in self._queue.take(now):
            record = self._client.records("", "Pod").get(key)
            if record is None or record.deletion is not None:
                self._queue.forget(key)
                continue
            try:
                self._make(record)
            except StatusError:
                self._queue.failed(key, now)
            else:
                self._queue.forget(key)

    def next(self, now: int) -> int | None:
        """When something is due."""
        return self._queue.next(now)

    def _note(self, pod: Record) -> None:
        if any(volume.ephemeral is not None for volume in pod.body.spec(PodSpec).volumes):
            self._queue.add(pod.key)

    def _make(self, pod: Record) -> None:
        spec = cast(dict[str, Any], pod.body.tree()["spec"])
        for volume in spec["volumes"]:
            template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
            name = f"{pod.name}-{volume['name']}"
            if template is None or self._objects.record(*_CLAIM, pod.namespace, name) is not None:
                continue
            owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid}
            said = template.get("metadata") or {}
            tree: dict[str, Json] = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": name,
                    "labels": said.get("labels") or {},
                    "annotations": said.get("annotations") or {},
                    "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
                },
                "spec": template["spec"],
            }
            self._client.create(self._client.kind(*_CLAIM), pod.namespace, msgspec.json.encode(tree))
