"""Claims and volumes that are being deleted stay until nobody uses them."""

from abc import abstractmethod
from typing import Final

from baseload.embedded.actors.workloads.controller import Controller
from baseload.embedded.store import selection
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.kube.types.core import PodSpec

_NONE: Final = "names no claims"
"""Noted of the sections of pods, which many share"""


class _Protection(Controller):
    """Takes a finalizer from what is being deleted and no longer used."""

    finalizer: str

    def sync(self, record: Record) -> None:
        if record.deletion is None or self.finalizer not in record.finalizers or self.is_used(record):
            return
        kept = [name for name in record.finalizers if name != self.finalizer]
        self.client.merge(record, {"metadata": {"finalizers": kept or None}})

    @abstractmethod
    def is_used(self, record: Record) -> bool:
        """Whether somebody still needs it."""


class ClaimProtection(_Protection):
    """The controller that protects claims of pods."""

    component, group, kind = "pvc-protection-controller", "", "PersistentVolumeClaim"
    finalizer = "kubernetes.io/pvc-protection"

    def begin(self) -> None:
        super().begin()
        self.place.hear("", "Pod", ("removed",), self._note_pod)

    def _note_pod(self, event: Event) -> None:
        for name in claims(event.record):
            self.queue.add(f"{event.record.namespace}/{name}")

    def is_used(self, record: Record) -> bool:
        """A pod that no node has got yet does not count: it could not start any more."""
        return any(pod.node and record.name in claims(pod) for pod in self.pods.in_namespace(record.namespace))


class VolumeProtection(_Protection):
    """The controller that protects volumes that a claim has."""

    component, group, kind = "pv-protection-controller", "", "PersistentVolume"
    finalizer = "kubernetes.io/pv-protection"

    def begin(self) -> None:
        super().begin()
        self.place.hear("", "PersistentVolume", ("status",), self.note)

    def is_used(self, record: Record) -> bool:
        return selection.field(record, "status.phase") == "Bound"


def claims(pod: Record) -> list[str]:
    """The claims that a pod names."""
    if pod.body.is_noted(_NONE):
        return []
    volumes = pod.body.spec(PodSpec).volumes
    if all(held.persistent_volume_claim is None and held.ephemeral is None for held in volumes):
        pod.body.note(_NONE)
        return []
    named = [held.persistent_volume_claim.claim_name for held in volumes if held.persistent_volume_claim is not None]
    return [*named, *(f"{pod.name}-{held.name}" for held in volumes if held.ephemeral is not None)]
