"""What a claim and a volume need next: to be bound, provisioned, waited for, given up or reclaimed.

Rules of Kubernetes' controller of persistent volumes: a volume that names the claim comes first, then the smallest that
suits, then a new one by the claim's class. A class that waits for the first consumer gives nothing before the scheduler
has chosen a node.
"""

from dataclasses import dataclass
from typing import Final, Literal

from baseload.kube.types.core import ObjectReference, PersistentVolume, PersistentVolumeClaim
from baseload.kube.types.storage import StorageClass
from baseload.values import quantity
from baseload.values.selector import Selector, compile

SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
DELAYED: Final = "WaitForFirstConsumer"
_IN_TREE: Final = {"kubernetes.io/aws-ebs": "ebs.csi.aws.com"}
"""in-tree provisioner -> the CSI driver that took its place"""


@dataclass(frozen=True, slots=True)
class Bind:
    """The claim gets a volume that is there."""

    volume: str


@dataclass(frozen=True, slots=True)
class Provision:
    """A volume is made for the claim; `node` is where its first pod is to run, "" where that is open."""

    driver: str
    node: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing can be done now, which is told."""

    reason: str
    message: str
    type: Literal["Normal", "Warning"] = "Normal"


@dataclass(frozen=True, slots=True)
class Lost:
    """The claim's volume is gone."""


Step = Bind | Provision | Wait | Lost | None


class Volumes:
    """The volumes of a cluster, by name, and by the claim that they name."""

    def __init__(self) -> None:
        self.by_name: Final[dict[str, PersistentVolume]] = {}
        self._named: Final[dict[tuple[str, str], dict[str, None]]] = {}
        self._free: Final[dict[str, PersistentVolume]] = {}

    def put(self, volume: PersistentVolume) -> None:
        """A volume as it is now."""
        name, held = volume.metadata.name, volume.spec.claim_ref
        self.drop(name)
        self.by_name[name] = volume
        if held is None:
            self._free[name] = volume
        else:
            self._named.setdefault((held.namespace, held.name), {})[name] = None

    def drop(self, name: str) -> None:
        """A volume is no more."""
        volume = self.by_name.pop(name, None)
        self._free.pop(name, None)
        if volume is not None and (held := volume.spec.claim_ref) is not None:
            self._named[held.namespace, held.name].pop(name, None)

    def promised(self, claim: PersistentVolumeClaim) -> str | None:
        """The volume that names a claim, by an administrator's hand or the scheduler's."""
        named = self._named.get((claim.metadata.namespace, claim.metadata.name), {})
        return next((name for name in sorted(named) if _is_of(self.by_name[name].spec.claim_ref, claim)), None)

    def smallest(self, claim: PersistentVolumeClaim) -> str | None:
        """The smallest free volume that suits a claim."""
        return min(((_size(it), name) for name, it in self._free.items() if _suits(it, claim)), default=(0, None))[1]


def next_of_claim(claim: PersistentVolumeClaim, volumes: Volumes, storage: StorageClass | None) -> Step:
    """What a claim needs; None where it has what it needs, or is being deleted."""
    if claim.status.phase == "Lost":
        return None
    name = claim.spec.volume_name
    if name and BIND_COMPLETED in claim.metadata.annotations:
        volume = volumes.by_name.get(name)
        if volume is None or not _is_of(volume.spec.claim_ref, claim):
            return Lost()
        return None if claim.status.phase == "Bound" else Bind(name)
    if claim.metadata.deletion_timestamp:
        return None
    if name:
        volume = volumes.by_name.get(name)
        is_free = volume is not None and (volume.spec.claim_ref is None or _is_of(volume.spec.claim_ref, claim))
        return Bind(name) if is_free else None
    if (promised := volumes.promised(claim)) is not None:
        return Bind(promised)
    return _found(claim, volumes, storage)


def _found(claim: PersistentVolumeClaim, volumes: Volumes, storage: StorageClass | None) -> Step:
    """A volume for a claim that none names."""
    node = claim.metadata.annotations.get(SELECTED_NODE, "")
    is_delayed = storage is not None and storage.volume_binding_mode == DELAYED
    if is_delayed and not node:
        return Wait("WaitForFirstConsumer", "waiting for first consumer to be created before binding")
    if not is_delayed and (found := volumes.smallest(claim)) is not None:
        return Bind(found)
    if not claim.spec.storage_class_name:
        return Wait("FailedBinding", "no persistent volumes available for this claim and no storage class is set")
    if storage is None:
        message = f'storageclass.storage.k8s.io "{claim.spec.storage_class_name}" not found'
        return Wait("ProvisioningFailed", message, "Warning")
    if storage.provisioner in ("", NO_PROVISIONER):
        return None
    return Provision(_IN_TREE.get(storage.provisioner, storage.provisioner), node)


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    if volume.spec.claim_ref is not None or volume.metadata.deletion_timestamp or volume.status.phase != "Available":
        return False
    selector = Selector() if claim.spec.selector is None else compile(claim.spec.selector)
    return (
        volume.spec.storage_class_name == (claim.spec.storage_class_name or "")
        and (volume.spec.volume_mode or "Filesystem") == (claim.spec.volume_mode or "Filesystem")
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
        and _size(volume) >= asked(claim)
        and selector.matches(volume.metadata.labels)
    )


def next_phase(
    volume: PersistentVolume, claim: PersistentVolumeClaim | None
) -> Literal["Available", "Bound", "Released"]:
    """What a volume is, by the claim that it names; `claim` is the one of that name."""
    held = volume.spec.claim_ref
    if held is None or not held.uid:
        return "Available"
    if claim is None or claim.metadata.uid != held.uid:
        return "Released"
    return "Bound" if claim.spec.volume_name == volume.metadata.name else "Available"


def is_reclaimed(volume: PersistentVolume) -> bool:
    """Whether a volume that was released goes, with the disk behind it."""
    return volume.status.phase in ("Released", "Failed") and volume.spec.persistent_volume_reclaim_policy == "Delete"


def asked(claim: PersistentVolumeClaim) -> int:
    """How large a volume a claim wants."""
    return quantity.parse(claim.spec.resources.requests.get("storage", 0))


def _size(volume: PersistentVolume) -> int:
    return quantity.parse(volume.spec.capacity.get("storage", 0))


def _is_of(reference: ObjectReference | None, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume names that claim; an administrator may have left the uid out."""
    if reference is None or (reference.namespace, reference.name) != (claim.metadata.namespace, claim.metadata.name):
        return False
    return reference.uid in ("", claim.metadata.uid)
