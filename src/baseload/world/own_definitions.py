"""The definitions of custom resources that this program brings along, and their renewal in a data directory.

Each is stored with the fingerprint of its spec. One whose spec still has that fingerprint is as this program once wrote
it, and is renewed when the program has another one by now; any other was changed by somebody and is left alone.
"""

import hashlib
from typing import Final, cast

import msgspec

from baseload.embedded.api.cluster import Cluster
from baseload.embedded.store import parse
from baseload.embedded.store.record import Json, Record
from baseload.kube.schema import definitions

_Tree = dict[str, Json]

FINGERPRINT: Final = "baseload.dev/spec-fingerprint"
_KIND: Final = ("apiextensions.k8s.io", "CustomResourceDefinition")


def all_of_them() -> list[_Tree]:
    """The definitions of the custom resources that a cluster with Karpenter has."""
    return [_definition(crd) for crd in definitions.custom()]


def renew(cluster: Cluster) -> None:
    """Puts the definitions of now in the place of those that an earlier version of this program stored."""
    resource = cluster.store.resource_of(*_KIND)
    assert resource is not None
    for tree in all_of_them():
        metadata = cast(_Tree, tree["metadata"])
        record = cluster.store.find(resource, "", str(metadata["name"]))
        if record is None or not _is_as_written(record) or _says(record) == metadata["annotations"]:
            continue
        kept = {**record.shared.annotations, **cast("dict[str, str]", metadata["annotations"])}
        metadata["annotations"] = cast(Json, kept)
        metadata["labels"] = cast(Json, dict(record.shared.labels))
        metadata["finalizers"] = list(record.finalizers)
        cluster.written(cluster.store.update(parse.parse_object(resource, {**tree, **_based_on(record, metadata)})))


def _based_on(record: Record, metadata: _Tree) -> _Tree:
    return {"metadata": {**metadata, "resourceVersion": str(record.version), "uid": record.uid}}


def _says(record: Record) -> dict[str, str]:
    return {FINGERPRINT: record.shared.annotations.get(FINGERPRINT, "")}


def _is_as_written(record: Record) -> bool:
    return record.shared.annotations.get(FINGERPRINT) == _fingerprint(record.body.tree().get("spec"))


def _fingerprint(spec: Json) -> str:
    return hashlib.sha256(msgspec.json.encode(spec, order="sorted")).hexdigest()[:16]


def _definition(crd: dict[str, object]) -> _Tree:
    group, _, version = str(crd["apiVersion"]).rpartition("/")
    names: _Tree = {
        "kind": cast(Json, crd["kind"]),
        "listKind": f"{crd['kind']}List",
        "plural": cast(Json, crd["plural"]),
        "singular": cast(Json, crd["singular"]),
    }
    for key in ("shortNames", "categories"):
        if crd.get(key):
            names[key] = cast(Json, crd[key])
    told: _Tree = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": cast(Json, crd["schema"])},
        "subresources": cast(Json, crd.get("subresources", {"status": {}})),
        "additionalPrinterColumns": cast(Json, crd.get("additionalPrinterColumns", [])),
    }
    spec: Json = {
        "group": group,
        "names": names,
        "scope": cast(Json, crd["scope"]),
        "versions": [told],
        "conversion": {"strategy": "None"},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{crd['plural']}.{group}", "annotations": {FINGERPRINT: _fingerprint(spec)}},
        "spec": spec,
        "status": {"storedVersions": [version]},
    }
