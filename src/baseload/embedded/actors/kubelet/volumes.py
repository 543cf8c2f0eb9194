"""Whether the volumes of a pod are there: its claims bound, and what is to be attached attached to its node.

A kubelet waits for that before it starts a container. That a volume is not attached yet it tells nobody, since who
attaches it does; what it cannot make out at all (a claim that is not there, or is not bound) it tells, every ten
seconds (facts of kubelet's volume manager, 1.37.2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from baseload.decide.storage import placing
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.storage.objects import GROUP, Objects
from baseload.embedded.store.record import Record
from baseload.kube.types.core import PersistentVolume, PersistentVolumeClaim, PodSpec, Volume
from baseload.kube.types.storage import VolumeAttachment
from baseload.values.instant import SECOND

RETRIES: Final = 10 * SECOND
_PROTECTED: Final = "kubernetes.io/pvc-protection"


@dataclass(frozen=True, slots=True)
class Lacking:
    """Why a pod cannot be started; `fault` is "" where its volumes are on their way."""

    fault: str


@dataclass(frozen=True, slots=True)
class News:
    """What may make a difference to pods that wait: on these nodes, or for these claims."""

    nodes: frozenset[str]
    claims: frozenset[str]  # namespace/name

    def is_about(self, pod: Record, node: str) -> bool:
        return node in self.nodes or any(key in self.claims for key in _keys(pod))


class Volumes:
    """The volumes of one cluster, as its kubelets see them."""

    def __init__(self, client: ActorClient, ring: Callable[[], None]) -> None:
        self._client, self._objects = client, Objects(client)
        self._attached: dict[tuple[str, str], None] = {}  # volume and node
        seen = ("added", "removed", "status", "other")
        self._attachments = client.subscribe(GROUP, "VolumeAttachment", seen, ring)
        self._claims = client.subscribe("", "PersistentVolumeClaim", ("added", "removed", "spec", "status"), ring)

    def begin(self) -> None:
        """Looks at all there is."""
        for record in self._client.records(GROUP, "VolumeAttachment").values():
            self._know(record)

    def hear(self) -> News | None:
        """What happened since the last time; None where nothing did."""
        attachments, claims = self._attachments.take(), self._claims.take()
        if not attachments and not claims:
            return None
        told: list[str] = []
        for event in attachments:
            spec = self._know(event.record, is_gone=event.type == "DELETED").spec
            told.append(spec.node_name)
        for event in claims:
            if event.type == "DELETED":
                self._objects.forget(event.record)
        return News(frozenset(told), frozenset(event.record.key for event in claims))

    def _know(self, record: Record, *, is_gone: bool = False) -> VolumeAttachment:
        held = self._objects.read(record, VolumeAttachment)
        key = held.spec.source.persistent_volume_name, held.spec.node_name
        if held.status.attached and not is_gone:
            self._attached[key] = None
        else:
            self._attached.pop(key, None)
        if is_gone:
            self._objects.forget(record)
        return held

    def lacking(self, pod: Record, node: str) -> Lacking | None:
        """What keeps a pod from being started on a node; None where nothing does."""
        faults: dict[str, str] = {}  # name in the pod -> why it cannot be made out
        missing: list[str] = []
        for name, claim in _claimed(pod):
            try:
                if not self._is_there(pod.namespace, claim, node):
                    missing.append(name)
            except _NotMadeOut as error:
                faults[name] = f"error processing PVC {pod.namespace}/{claim}: {error}"
        if not faults:
            return Lacking("") if missing else None
        unmounted, unattached, unknown = (
            " ".join(sorted(names)) for names in ([*faults, *missing], missing, list(faults))
        )
        return Lacking(
            f"Unable to attach or mount volumes: unmounted volumes=[{unmounted}], unattached volumes=[{unattached}], "
            f"failed to process volumes=[{unknown}]: {'; '.join(faults.values())}"
        )

    def _is_there(self, namespace: str, name: str, node: str) -> bool:
        record = self._objects.record("", "PersistentVolumeClaim", namespace, name)
        if record is None:
            raise _NotMadeOut(f'failed to fetch PVC from API server: persistentvolumeclaims "{name}" not found')
        if record.deletion is not None and _PROTECTED not in record.finalizers:
            raise _NotMadeOut("PVC is being deleted")
        claim = self._objects.read(record, PersistentVolumeClaim)
        if claim.status.phase != "Bound":
            raise _NotMadeOut("PVC is not bound")
        volume = claim.spec.volume_name
        held = self._objects.record("", "PersistentVolume", "", volume)
        if held is None:
            why = f'failed to fetch PV {volume} from API server: persistentvolumes "{volume}" not found'
            raise _NotMadeOut(why)
        source = self._objects.read(held, PersistentVolume).spec.csi
        self._objects.forget(held)  # it is looked at when a pod begins, and nobody tells when it is gone
        return source is None or not placing.is_zonal(source.driver) or (volume, node) in self._attached


class _NotMadeOut(Exception):
    """Why it cannot be said what a volume of a pod is."""


def has_claims(spec: PodSpec) -> bool:
    """Whether pods of a spec have volumes that are claimed."""
    return any(_is_claimed(held) for held in spec.volumes)


def _is_claimed(volume: Volume) -> bool:
    return volume.persistent_volume_claim is not None or volume.ephemeral is not None


def _claimed(pod: Record) -> list[tuple[str, str]]:
    """The volumes of a pod that are claimed: name in the pod, and claim."""
    return [
        (held.name, f"{pod.name}-{held.name}" if claim is None else claim.claim_name)
        for held in pod.body.spec(PodSpec).volumes
        if (claim := held.persistent_volume_claim) is not None or held.ephemeral is not None
    ]


def _keys(pod: Record) -> list[str]:
    return [f"{pod.namespace}/{claim}" for _, claim in _claimed(pod)]
