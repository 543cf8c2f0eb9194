"""What is served, as clients ask for it: aggregated in one document, or classically, a group-version at a time."""

from typing import cast

from baseload.embedded.api.kinds import Kinds, ServedKind
from baseload.embedded.store.record import Json

Tree = dict[str, Json]

_SUB_VERBS: dict[str, list[Json]] = {
    "status": ["get", "patch", "update"],
    "scale": ["get", "patch", "update"],
    "ephemeralcontainers": ["get", "patch", "update"],
    "resize": ["get", "patch", "update"],
    "finalize": ["update"],
    "binding": ["create"],
    "eviction": ["create"],
    "token": ["create"],
    "log": ["get"],
    "attach": ["create", "get"],
    "exec": ["create", "get"],
    "portforward": ["create", "get"],
    "proxy": ["create", "delete", "get", "patch", "update"],
}

_FOREIGN: dict[str, dict[str, str]] = {
    "scale": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
    "eviction": {"group": "policy", "version": "v1", "kind": "Eviction"},
    "binding": {"group": "", "version": "v1", "kind": "Binding"},
    "token": {"group": "authentication.k8s.io", "version": "v1", "kind": "TokenRequest"},
    "attach": {"group": "", "version": "v1", "kind": "PodAttachOptions"},
    "exec": {"group": "", "version": "v1", "kind": "PodExecOptions"},
    "portforward": {"group": "", "version": "v1", "kind": "PodPortForwardOptions"},
}
"""Subresources whose objects are of another kind than what they are part of"""


def aggregated(kinds: Kinds, version: str, *, core: bool) -> Tree:
    """All groups with all their resources; the core group has a document of its own."""
    items: list[Json] = []
    for group, versions in kinds.versions().items():
        if (group == "") != core:
            continue
        told: list[Json] = [
            {
                "version": name,
                "resources": [_discovered(kind) for kind in kinds.of_version(group, name)],
                "freshness": "Current",
            }
            for name in versions
        ]
        metadata: Tree = {"name": group, "creationTimestamp": None} if group else {"creationTimestamp": None}
        items.append({"metadata": metadata, "versions": told})
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": items,
    }


def core_versions(address: str) -> Tree:
    """GET /api."""
    addresses: list[Json] = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def groups(kinds: Kinds) -> Tree:
    """GET /apis."""
    found: list[Json] = [_group(name, versions) for name, versions in kinds.versions().items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def group(kinds: Kinds, name: str) -> Tree | None:
    """GET /apis/GROUP; None where there is none."""
    versions = kinds.versions().get(name)
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)} if versions else None


def resources(kinds: Kinds, group: str, version: str) -> Tree | None:
    """GET /api/v1 or /apis/GROUP/VERSION; None where there is none."""
    found = kinds.of_version(group, version)
    if not found:
        return None
    named = f"{group}/{version}" if group else version
    rows: list[Json] = [row for kind in found for row in _resources(kind)]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": named, "resources": rows}


def _group(name: str, versions: list[str]) -> Tree:
    told: list[Json] = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": told, "preferredVersion": told[0]}


def _resources(kind: ServedKind) -> list[Json]:
    resource = kind.view
    row: Tree = {
        "name": resource.plural,
        "singularName": kind.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        row["shortNames"] = list(kind.short_names)
    if kind.categories:
        row["categories"] = list(kind.categories)
    rows: list[Json] = [row]
    for name in sorted((*kind.subresources, *kind.actions)):
        sub: Tree = {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": _SUB_VERBS[name],
        }
        foreign = _foreign(kind, name)
        if foreign and foreign["group"] == resource.group:
            foreign = {"kind": foreign["kind"]}
        rows.append({**sub, **foreign})
    return rows


def _foreign(kind: ServedKind, name: str) -> dict[str, str]:
    """The kind of a subresource's objects where it is not that of what it is part of."""
    if name == "proxy":
        return {"group": "", "version": "v1", "kind": f"{kind.resource.kind}ProxyOptions"}
    return _FOREIGN.get(name, {})


def _discovered(kind: ServedKind) -> Tree:
    resource = kind.view
    own: Tree = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    told: Tree = {
        "resource": resource.plural,
        "responseKind": own,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        told["shortNames"] = list(kind.short_names)
    if kind.categories:
        told["categories"] = list(kind.categories)
    subresources: list[Json] = [
        {
            "subresource": name,
            "responseKind": cast(Tree, _foreign(kind, name) or own),
            "verbs": _SUB_VERBS[name],
        }
        for name in sorted((*kind.subresources, *kind.actions))
    ]
    return {**told, "subresources": subresources} if subresources else told
