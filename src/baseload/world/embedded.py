"""The embedded cluster put together: a store, the kinds of Kubernetes and Karpenter, and manifests to begin with."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import msgspec

from baseload.embedded import machine, private
from baseload.embedded.api import usage as usages
from baseload.embedded.api import verbs
from baseload.embedded.api.admission import CHAIN
from baseload.embedded.api.cluster import ACTIVE, Cluster, furnish
from baseload.embedded.api.identity import Identity
from baseload.embedded.api.usage import Usage
from baseload.embedded.store import journal as journals
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.journal import SqliteJournal
from baseload.embedded.store.ports import Chance, Clock
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.store import Store
from baseload.kube.manifests import Found, Manifests
from baseload.values.errors import BadInput, Fault
from baseload.world import own_definitions

_Tree = dict[str, Json]

PRIORITY_CLASSES: Final = (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000))
KEYS: Final = "pki"
"""The folder of keys and certificates in a data directory"""
_FIRST: Final = ("CustomResourceDefinition", "Namespace", "PriorityClass")


@dataclass(frozen=True, slots=True)
class Embedded:
    """A cluster in this process; `close` gives its data directory back."""

    cluster: Cluster
    journal: SqliteJournal | None
    untouched: tuple[str, ...] = ()
    """Objects of the manifests, as `Kind namespace/name`, that the data directory has already: they stay as they are"""

    def close(self) -> None:
        if self.journal is not None:
            self.journal.close()


def build(
    data_dir: Path | None,
    manifests: Manifests | None,
    *,
    clock: Clock | None = None,
    chance: Chance = machine.CHANCE,
    usage: Usage = usages.requested,
    tokens: Mapping[str, Identity] | None = None,
) -> Embedded:
    """A cluster as a new one is, or as the data directory has it, with the manifests created in it.

    `chance` draws uids and names. `usage` says what running pods use: without a kubelet, what they request. `tokens`
    are known from the start.
    """
    clock = clock or machine.WallClock()
    journal = None if data_dir is None else journals.open(data_dir)
    key = secrets.token_bytes(32) if data_dir is None else private.kept(data_dir / KEYS / "sa.key", _new_key)
    store = Store(clock, chance, journal=journal)
    begun = 0 if journal is None else store.version
    cluster = Cluster(store, clock, CHAIN, key=key, static_tokens=dict(tokens or {}))
    for kind in usages.kinds(usage):
        cluster.kinds.add(kind)
    furnish(cluster, [*own_definitions.all_of_them(), *_priority_classes()])
    own_definitions.renew(cluster)
    untouched = () if manifests is None else _create(cluster, manifests, begun)
    cluster.store.commit()
    return Embedded(cluster, journal, untouched)


def _new_key() -> bytes:
    return secrets.token_bytes(32)


def _priority_classes() -> list[_Tree]:
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "preemptionPolicy": "PreemptLowerPriority",
            "description": "Used for system critical pods.",
        }
        for name, value in PRIORITY_CLASSES
    ]


def _create(cluster: Cluster, manifests: Manifests, begun: int) -> tuple[str, ...]:
    """Creates what the manifests hold, with the status that it has there; what cannot be created is a fault.

    What is there since a version before `begun` stays as it is, and is returned.
    """
    faults: list[Fault] = []
    untouched: list[str] = []
    ordered = sorted(
        manifests.found, key=lambda found: _FIRST.index(found.kind) if found.kind in _FIRST else len(_FIRST)
    )
    renamed: dict[str, str] = {}
    for found in _owners_first(ordered):
        try:
            record = _create_one(cluster, found, renamed)
            if record is not None and record.version <= begun:
                untouched.append(found.ref)
        except StatusError as error:
            faults.append(found.fault(str(error)))
    if faults:
        raise BadInput(faults)
    return tuple(untouched)


def _owners_first(ordered: Sequence[Found]) -> list[Found]:
    """The objects with the owners before what they own, so that references can follow the new uids."""
    by_uid = {str(uid): found for found in ordered if (uid := _metadata(found).get("uid"))}
    done: dict[int, Found] = {}
    for found in ordered:
        chain = [found]
        while (owner := _owner(chain[-1], by_uid)) is not None and owner not in chain and id(owner) not in done:
            chain.append(owner)
        done.update((id(link), link) for link in reversed(chain) if id(link) not in done)
    return list(done.values())


def _owner(found: Found, by_uid: dict[str, Found]) -> Found | None:
    owners = (str(reference.get("uid")) for reference in _references(found))
    return next((by_uid[uid] for uid in owners if uid in by_uid), None)


def _create_one(cluster: Cluster, found: Found, renamed: dict[str, str]) -> Record | None:
    kind = cluster.kinds.of_version_named(found.api_version, found.kind)
    if kind is None or not kind.is_stored:
        return None  # a dump holds more kinds than are served
    tree: _Tree = msgspec.json.decode(found.json)
    metadata = cast(_Tree, tree.setdefault("metadata", {}))
    old = str(metadata.get("uid") or "")
    if kind.resource.namespaced:
        metadata["namespace"] = found.namespace or "default"
        _make_namespace(cluster, str(metadata["namespace"]))
    for name in ("uid", "resourceVersion", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(name, None)
    if old and found.kind == "Job" and tree.get("status"):
        metadata["uid"] = old  # by which its selector knows its pods
    if "ownerReferences" in metadata:
        kept = [reference for reference in _references(found) if reference.get("uid") in renamed]
        metadata["ownerReferences"] = [{**held, "uid": renamed[str(held["uid"])]} for held in kept]
    record = verbs.seed(cluster, kind, tree)
    if old:
        renamed[old] = record.uid
    return record


def _make_namespace(cluster: Cluster, name: str) -> None:
    kind = cluster.kinds.named("", "Namespace")
    assert kind is not None
    if cluster.store.find(kind.resource, "", name) is None:
        verbs.seed(cluster, kind, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, **ACTIVE})


def _metadata(found: Found) -> _Tree:
    tree = msgspec.json.decode(found.json)
    metadata = tree.get("metadata") if isinstance(tree, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _references(found: Found) -> list[_Tree]:
    references = _metadata(found).get("ownerReferences")
    return [held for held in references if isinstance(held, dict)] if isinstance(references, list) else []
