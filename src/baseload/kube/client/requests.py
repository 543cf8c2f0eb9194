"""How each of Kubernetes' verbs is written as a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from baseload.kube.client.errors import BadRequest
from baseload.kube.client.port import JSON, Request, Resource

Body = bytes | Mapping[str, object] | msgspec.Struct
"""An object, or what a verb says about one, as JSON or as something that encodes to it"""

JsonPatch = list[dict[str, object]]
"""The operations of a JSON patch"""

PatchKind = Literal["json", "merge", "strategic"]
Propagation = Literal["Background", "Foreground", "Orphan"]
Validation = Literal["Strict", "Warn", "Ignore"]

APPLY: Final = "application/apply-patch+yaml"
PATCHES: Final[Mapping[PatchKind, str]] = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
PODS: Final = Resource("", "v1", "pods")


@dataclass(frozen=True, slots=True)
class Selected:
    """Which objects of a collection: those of a namespace ("" for all), with these labels and fields."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""

    def query(self) -> dict[str, str]:
        return _said({"labelSelector": self.labels, "fieldSelector": self.fields})


@dataclass(frozen=True, slots=True)
class Writing:
    """How something is written: by whom, really or only as a trial, and what becomes of unknown fields."""

    manager: str = ""  # "" is the client's own name
    dry_run: bool = False
    validation: Validation | None = None

    def query(self, manager: str) -> dict[str, str]:
        told = {"fieldManager": self.manager or manager, "fieldValidation": self.validation or ""}
        return _said({**told, "dryRun": "All" if self.dry_run else ""})


@dataclass(frozen=True, slots=True)
class Deletion:
    """DeleteOptions; "" and None where nothing is said."""

    grace_seconds: int | None = None
    propagation: Propagation | None = None
    uid: str = ""
    version: str = ""
    dry_run: bool = False

    def body(self) -> bytes:
        told: dict[str, object] = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if self.grace_seconds is not None:
            told["gracePeriodSeconds"] = self.grace_seconds
        if self.propagation:
            told["propagationPolicy"] = self.propagation
        if conditions := _said({"uid": self.uid, "resourceVersion": self.version}):
            told["preconditions"] = conditions
        if self.dry_run:
            told["dryRun"] = ["All"]
        return msgspec.json.encode(told)


EVERYTHING: Final = Selected()
WRITING: Final = Writing()
DELETION: Final = Deletion()


def get(resource: Resource, namespace: str, name: str, subresource: str = "") -> Request:
    return Request("GET", _one(resource, namespace, name, subresource))


def page(resource: Resource, selected: Selected, *, limit: int, token: str, version: str) -> Request:
    """A page of a list: the first at that version or the present one, later ones by the token of the page before."""
    told = _said({"limit": str(limit or ""), "continue": token, "resourceVersion": "" if token else version})
    return Request("GET", resource.path(selected.namespace), {**selected.query(), **told})


def watch(resource: Resource, selected: Selected, *, version: str, seconds: int, initial: bool) -> Request:
    """A watch from a version on; with `initial` the objects come first, and a bookmark after them."""
    told = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(seconds), "resourceVersion": version}
    if initial:
        told |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    return Request("GET", resource.path(selected.namespace), {**selected.query(), **_said(told)})


def create(resource: Resource, namespace: str, object: Body, query: Mapping[str, str]) -> Request:
    return Request("POST", resource.path(namespace), query, encoded(object))


def update(resource: Resource, place: tuple[str, str, str], object: Body, query: Mapping[str, str]) -> Request:
    """PUT of an object at (namespace, name, subresource)."""
    return Request("PUT", _one(resource, *place), query, encoded(object))


def patch(
    resource: Resource, place: tuple[str, str, str], change: Body, media_type: str, query: Mapping[str, str]
) -> Request:
    """PATCH of an object at (namespace, name, subresource)."""
    return Request("PATCH", _one(resource, *place), query, encoded(change), media_type)


def delete(resource: Resource, namespace: str, name: str, options: Deletion) -> Request:
    return Request("DELETE", _one(resource, namespace, name), {}, options.body())


def delete_collection(resource: Resource, selected: Selected, options: Deletion) -> Request:
    return Request("DELETE", resource.path(selected.namespace), selected.query(), options.body())


def evict(namespace: str, name: str, options: Deletion, dry_run: Mapping[str, str]) -> Request:
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
        "deleteOptions": msgspec.Raw(options.body()),
    }
    return Request("POST", _one(PODS, namespace, name, "eviction"), dry_run, msgspec.json.encode(eviction))


def bind(namespace: str, name: str, node: str, uid: str, query: Mapping[str, str]) -> Request:
    """A pod, that of the uid where one is named, onto a node."""
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": _said({"name": name, "namespace": namespace, "uid": uid}),
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    return Request("POST", _one(PODS, namespace, name, "binding"), query, msgspec.json.encode(binding))


def encoded(body: Body) -> bytes:
    """A body as JSON."""
    return body if isinstance(body, bytes) else msgspec.json.encode(body)


def _one(resource: Resource, namespace: str, name: str, subresource: str = "") -> str:
    if not name:
        raise BadRequest("resource name may not be empty")
    return resource.path(namespace, name, subresource)


def _said(told: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in told.items() if value}


def raw(path: str) -> Request:
    """GET of any path."""
    return Request("GET", path, {}, b"", JSON)
