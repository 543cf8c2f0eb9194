"""The cluster as its controllers look things up: objects by name, nodes and claims by machine, pods by node.

It stands on an informer, which tells what changed; objects are read when somebody asks, and keep their reading.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar, cast

import msgspec

from baseload.control.informer import Informer, Transition
from baseload.kube import kinds
from baseload.kube.client.client import Client
from baseload.kube.client.objects import Object
from baseload.kube.kinds import Kind
from baseload.kube.types.core import Node, PersistentVolumeClaim, Pod
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodeClassReference, NodePool
from baseload.kube.types.meta import Wire
from baseload.kube.types.storage import VolumeAttachment

T = TypeVar("T", bound=Wire)
_Key = tuple[str, str]


def _kind(api_version: str, name: str) -> Kind:
    found = kinds.find(api_version, name)
    assert found is not None
    return found


POD: Final = _kind("v1", "Pod")
NODE: Final = _kind("v1", "Node")
CLAIM: Final = _kind("karpenter.sh/v1", "NodeClaim")
POOL: Final = _kind("karpenter.sh/v1", "NodePool")
CLASS: Final = _kind("karpenter.k8s.aws/v1", "EC2NodeClass")
PROVIDED: Final = ("karpenter.k8s.aws", "EC2NodeClass")
"""The NodeClasses that are launched from here; claims of others are somebody else's"""
VOLUME_CLAIM: Final = _kind("v1", "PersistentVolumeClaim")
ATTACHMENT: Final = _kind("storage.k8s.io/v1", "VolumeAttachment")

KINDS: Final = (
    CLASS,
    POOL,
    CLAIM,
    NODE,
    POD,
    VOLUME_CLAIM,
    ATTACHMENT,
    _kind("v1", "Namespace"),
    _kind("v1", "PersistentVolume"),
    _kind("apps/v1", "DaemonSet"),
    _kind("apps/v1", "Deployment"),
    _kind("apps/v1", "ReplicaSet"),
    _kind("apps/v1", "StatefulSet"),
    _kind("policy/v1", "PodDisruptionBudget"),
    _kind("storage.k8s.io/v1", "StorageClass"),
    _kind("storage.k8s.io/v1", "CSINode"),
)
"""What decisions about nodes look at"""


class _Spec(msgspec.Struct, rename="camel"):
    provider_id: str = msgspec.field(name="providerID", default="")


class _Slim(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Spec = msgspec.field(default_factory=_Spec)


_slim: Final = msgspec.json.Decoder(_Slim).decode


class Observed:
    """One cluster, as far as it was told."""

    def __init__(self, client: Client) -> None:
        self.informer: Final = Informer(client, KINDS)
        self.informer.listen(self._note, POD, NODE, CLAIM)
        self._clock = client.clock
        self._places: dict[tuple[Kind, _Key], str] = {}  # where an object stands in the index of its kind
        self._index: dict[tuple[Kind, str], dict[_Key, None]] = {}
        self._lists: dict[Kind, tuple[int, tuple[Wire, ...]]] = {}  # kind -> after how many changes, all of it

    def now(self) -> int:
        return self._clock.now()

    def changes(self, *kinds: Kind) -> tuple[int, ...]:
        """How often each of some kinds changed so far: where these are the same, so are all the objects."""
        return tuple([self.informer.kept[kind].changes for kind in kinds])

    async def synced(self) -> None:
        """Waits until everything has been read once."""
        while not self.informer.is_synced:
            await self._clock.sleep(0.05)

    def pod(self, namespace: str, name: str) -> Pod | None:
        return self._read(POD, (namespace, name), Pod)

    def node(self, name: str) -> Node | None:
        return self._read(NODE, ("", name), Node)

    def claim(self, name: str) -> NodeClaim | None:
        return self._read(CLAIM, ("", name), NodeClaim)

    def pool(self, name: str) -> NodePool | None:
        return self._read(POOL, ("", name), NodePool)

    def node_class(self, name: str) -> EC2NodeClass | None:
        return self._read(CLASS, ("", name), EC2NodeClass)

    def claims(self) -> tuple[NodeClaim, ...]:
        """All that are launched from here, by name."""
        return self._listed(CLAIM, self._provided)

    def nodes(self) -> Iterator[Node]:
        """All, by name."""
        return self._all(NODE, Node)

    def pools(self) -> tuple[NodePool, ...]:
        return self._listed(POOL, lambda: self._all(POOL, NodePool))

    def attachments(self) -> tuple[VolumeAttachment, ...]:
        return self._listed(ATTACHMENT, lambda: self._all(ATTACHMENT, VolumeAttachment))

    def volume_claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        return self._read(VOLUME_CLAIM, (namespace, name), PersistentVolumeClaim)

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """The pods that are bound to a node, by namespace and name."""
        return tuple(self._indexed(POD, node, Pod))

    def nodes_of(self, provider_id: str) -> tuple[Node, ...]:
        """The Nodes of a machine: one, as a rule."""
        return tuple(self._indexed(NODE, provider_id, Node)) if provider_id else ()

    def claims_of(self, provider_id: str) -> tuple[NodeClaim, ...]:
        return tuple(self._indexed(CLAIM, provider_id, NodeClaim)) if provider_id else ()

    def _provided(self) -> Iterator[NodeClaim]:
        return (claim for claim in self._all(CLAIM, NodeClaim) if is_provided(claim.spec.node_class_ref))

    def _listed(self, kind: Kind, read: Callable[[], Iterable[T]]) -> tuple[T, ...]:
        """What reading a kind gave when an object of it last changed."""
        changes = self.informer.kept[kind].changes
        known = self._lists.get(kind)
        if known is None or known[0] != changes:
            known = self._lists[kind] = changes, tuple(read())
        return cast(tuple[T, ...], known[1])

    def _all(self, kind: Kind, reading: type[T]) -> Iterator[T]:
        for key in sorted(self.informer.kept[kind].objects):
            found = self._read(kind, key, reading)
            if found is not None:
                yield found

    def _indexed(self, kind: Kind, place: str, reading: type[T]) -> Iterator[T]:
        for key in sorted(self._index.get((kind, place), ())):
            found = self._read(kind, key, reading)
            if found is not None:
                yield found

    def _read(self, kind: Kind, key: _Key, reading: type[T]) -> T | None:
        """The object as that type; one that is none counts as absent."""
        held = self.informer.kept[kind].objects.get(key)
        if held is None:
            return None
        try:
            return held.read(reading)
        except msgspec.ValidationError:
            return None

    def _note(self, change: Transition) -> None:
        key = change.kind, change.key
        before, after = self._places.get(key, ""), place_of(change.kind, change.after)
        if before == after:
            return
        if before:
            held = self._index[change.kind, before]
            del held[change.key], self._places[key]
            if not held:
                del self._index[change.kind, before]
        if after:
            self._index.setdefault((change.kind, after), {})[change.key] = None
            self._places[key] = after


def is_provided(ref: NodeClassReference) -> bool:
    """Whether it names a NodeClass that is launched from here."""
    return (ref.group, ref.kind) == PROVIDED


def place_of(kind: Kind, held: Object | None) -> str:
    """The node of a pod, the machine of a Node or a claim; "" where there is none."""
    if held is None:
        return ""
    if kind is POD:
        return held.node_name
    try:
        slim = _slim(held.raw)
    except msgspec.ValidationError:
        return ""
    return slim.spec.provider_id if kind is NODE else slim.status.provider_id
