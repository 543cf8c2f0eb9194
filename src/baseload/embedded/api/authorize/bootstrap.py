"""The roles and bindings that every cluster begins with, as a real API server makes them.

`roles.json` is written by tools/build_roles.py. A rule is words: verbs, groups, resources and, in some, names; or verbs
and paths. What is there already stays as it is.
"""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final, cast

from baseload.embedded.api.authorize import gathering
from baseload.embedded.api.authorize.grants import GROUP
from baseload.embedded.store import parse
from baseload.embedded.store.record import Json
from baseload.embedded.store.store import Store

_Tree = dict[str, Json]

_LABEL: Final = "kubernetes.io/bootstrapping"
_JOINS: Final = "rbac.authorization.k8s.io/aggregate-to-"
_AUTOUPDATE: Final = "rbac.authorization.kubernetes.io/autoupdate"


def furnish(store: Store) -> None:
    """Gives a store the roles and bindings that it has not."""
    for tree in _objects():
        resource = store.resource_of(GROUP, str(tree["kind"]))
        assert resource is not None
        draft = parse.parse_object(resource, tree)
        if store.find(resource, draft.namespace, draft.name) is None:
            store.create(draft)
    gathering.aggregate(store)


def _objects() -> Iterator[_Tree]:
    content = json.loads((files(__package__) / "roles.json").read_text(encoding="utf-8"))
    for kind, told in content.items():
        for key, said in told.items():
            namespace, _, name = key.rpartition("/")
            labels: _Tree = {_LABEL: "rbac-defaults", **{_JOINS + other: "true" for other in said.get("joins", ())}}
            metadata: _Tree = {"name": name, "labels": labels, "annotations": {_AUTOUPDATE: "true"}}
            if namespace:
                metadata["namespace"] = namespace
            head: _Tree = {"kind": kind, "apiVersion": f"{GROUP}/v1", "metadata": metadata}
            yield {**head, **(_binding(said) if "role" in said else _role(said))}


def _role(said: dict[str, list[str]]) -> _Tree:
    told: _Tree = {}
    if gathers := said.get("gathers"):
        selectors: list[Json] = [{"matchLabels": {_JOINS + other: "true"}} for other in gathers]
        told["aggregationRule"] = {"clusterRoleSelectors": selectors}
    if rules := said.get("rules"):
        told["rules"] = [_rule(rule) for rule in rules]
    return told


def _rule(text: str) -> Json:
    verbs, *rest = (word.split(",") for word in text.split(" "))
    if len(rest) == 1:
        return cast(Json, {"nonResourceURLs": rest[0], "verbs": verbs})
    groups = ["" if group == "core" else group for group in rest[0]]
    told = {"apiGroups": groups, "resources": rest[1], "verbs": verbs}
    return cast(Json, {**told, "resourceNames": rest[2]} if len(rest) > 2 else told)


def _binding(said: dict[str, Any]) -> _Tree:
    kind, name = said["role"].split(" ")
    told: _Tree = {"roleRef": {"apiGroup": GROUP, "kind": kind, "name": name}}
    if said["subjects"]:
        told["subjects"] = [_subject(*subject.split(" ")) for subject in said["subjects"]]
    return told


def _subject(kind: str, named: str) -> Json:
    namespace, slash, name = named.partition("/")
    if kind == "ServiceAccount" and slash:
        return {"kind": kind, "name": name, "namespace": namespace}
    return {"apiGroup": GROUP, "kind": kind, "name": named}
