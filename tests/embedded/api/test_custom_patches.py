"""Custom resources are patched section by section; what comes out is what the long way makes, over the whole object."""

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.embedded.api import custom_patches
from baseload.embedded.api.cluster import furnish
from baseload.world import own_definitions
from tests.embedded.api.calling import MERGE, Server

STRING: dict[str, Any] = {"type": "string"}
STATUS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "x-kubernetes-validations": [{"rule": "!has(self.a) || self.a != 'bad'", "message": "is bad"}],
    "properties": {
        "a": STRING,
        "count": {"type": "integer", "minimum": 0, "default": 3},
        "kind": {"type": "string", "enum": ["x", "y"]},
        "nothing": {"type": "string", "nullable": True},
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": STRING, "status": STRING},
                "x-kubernetes-validations": [{"rule": "self.type != oldSelf.type || self.status != 'never'"}],
            },
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
SPEC_SCHEMA = {
    "type": "object",
    "properties": {"size": {"type": "integer"}},
    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "spec is immutable"}],
}
CONDITION = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["Ready", "Launched", None]),
        "status": st.sampled_from(["True", "never", 7]),
        "unknown": st.just(1),
    },
)
STATUS = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sampled_from(["good", "bad", None, 1]),
        "count": st.sampled_from([0, 1, -1, "one", None]),
        "kind": st.sampled_from(["x", "z", None]),
        "nothing": st.sampled_from([None, "n"]),
        "conditions": st.none() | st.lists(CONDITION, max_size=3),
        "free": st.sampled_from([{}, {"any": None}, {"any": {"thing": [1, None]}}]),
        "unknown": st.just("field"),
    },
)
PATCH = st.fixed_dictionaries(
    {"status": STATUS | st.none()},
    optional={
        "metadata": st.sampled_from(
            [{}, {"name": "a"}, {"name": "b"}, {"labels": {"x": "1"}}, {"resourceVersion": "1"}]
        ),
        "spec": st.just({"size": 2}),
    },
)
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u-1"}
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.sampled_from([{}, None, {"x": "1"}, {"x": None, "y": "2"}, {"x": 3}, {"not a key": "v"}]),
        "annotations": st.sampled_from([None, {"a": "b"}, {"a": "c" * 300_000}]),
        "finalizers": st.sampled_from(
            [[], ["example.com/one"], ["example.com/one", "example.com/two"], ["bare"], None]
        ),
        "ownerReferences": st.sampled_from([[], [OWNER], [{**OWNER, "uid": ""}], [{**OWNER, "more": 1}], None]),
        "generateName": st.just("g-"),
        "name": st.sampled_from(["a", "b"]),
        "uid": st.sampled_from(["", "another"]),
        "resourceVersion": st.just("1"),
        "unknown": st.just("field"),
    },
)
ABOUT = st.fixed_dictionaries({"metadata": METADATA | st.none()}, optional={"spec": st.just({"size": 2})})
WHO, HOW = st.sampled_from(["one", "two"]), st.sampled_from(["", "Strict", "Warn"])
STEPS = st.lists(
    st.tuples(WHO, HOW, st.tuples(st.just("/status"), PATCH) | st.tuples(st.just(""), ABOUT)),
    max_size=5,
)
Step = tuple[str, str, tuple[str, Any]]


def definition(**more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": SPEC_SCHEMA, "status": STATUS_SCHEMA}, **more}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
    }


def served(**more: Any) -> Server:
    server = Server()
    made = server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(**more))
    assert made.code == 201, made.message
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"size": 1}}
    assert server.call("POST", "/apis/example.com/v1/things", thing).code == 201
    return server


def after(steps: list[Step], **more: Any) -> list[tuple[int, Any, str]]:
    """What the answers to patches of a thing or its status are, one after the other."""
    server = served(**more)
    answers: list[tuple[int, Any, str]] = []
    for seconds, (manager, mode, (part, patch)) in enumerate(steps):
        server.clock.forward(seconds)
        path = f"/apis/example.com/v1/things/a{part}{f'?fieldValidation={mode}' if mode else ''}"
        answer = server.call("PATCH", path, patch, {**MERGE, "user-agent": f"{manager}/1"})
        answers.append((answer.code, answer.tree, answer.headers.get("warning", "")))
    return answers


@given(STEPS)
def test_both_ways_end_alike(steps: list[Step]) -> None:
    with mock.patch.object(custom_patches, "patched", return_value=None):
        wanted = after(steps)

    assert after(steps) == wanted


@settings(max_examples=20)
@given(STEPS)
def test_rules_on_the_whole_object_are_looked_at_on_the_whole(steps: list[Step]) -> None:
    rule = {"rule": "!has(self.status) || !has(self.status.count) || self.status.count <= self.spec.size"}
    with mock.patch.object(custom_patches, "patched", return_value=None):
        wanted = after(steps, **{"x-kubernetes-validations": [rule]})

    assert after(steps, **{"x-kubernetes-validations": [rule]}) == wanted


def test_patches_of_a_status_and_of_metadata_go_the_short_way() -> None:
    server = served()
    short: list[bool] = []
    way = custom_patches.patched

    def watched(*args: Any) -> Any:
        record = way(*args)
        short.append(record is not None)
        return record

    with mock.patch.object(custom_patches, "patched", watched):
        for value in ("one", "two", "bad"):
            server.call("PATCH", "/apis/example.com/v1/things/a/status", {"status": {"a": value}}, MERGE)
        server.call("PATCH", "/apis/example.com/v1/things/a", {"metadata": {"labels": {"x": "1"}}}, MERGE)
        server.call("PATCH", "/apis/example.com/v1/things/a", {"metadata": {"labels": {"x y": "1"}}}, MERGE)
        server.call("PATCH", "/apis/example.com/v1/things/a/status", {"status": {"a": "three"}}, MERGE)
    assert short == [True, True, False, True, False, True]


def test_a_patch_of_metadata_lets_the_last_finalizer_of_a_deleted_object_go() -> None:
    server = served()
    path = "/apis/example.com/v1/things/a"
    server.call("PATCH", path, {"metadata": {"finalizers": ["example.com/one"]}}, MERGE)
    server.call("DELETE", path)
    more = {"metadata": {"finalizers": ["example.com/one", "example.com/two"]}}
    assert server.call("PATCH", path, more, MERGE).code == 422
    assert server.call("GET", path).code == 200
    server.call("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    assert server.call("GET", path).code == 404


def test_an_old_state_is_refused_and_the_present_one_taken() -> None:
    server = served()
    path = "/apis/example.com/v1/things/a/status"
    first = server.call("PATCH", path, {"status": {"a": "one"}}, MERGE).tree["metadata"]["resourceVersion"]
    stale = {"metadata": {"resourceVersion": str(int(first) - 1)}, "status": {"a": "two"}}
    assert server.call("PATCH", path, stale, MERGE).code == 409
    present = {"metadata": {"resourceVersion": first}, "status": {"a": "two"}}
    assert server.call("PATCH", path, present, MERGE).code == 200


@pytest.mark.parametrize("plural", ["nodeclaims", "nodepools"])
def test_karpenters_statuses_go_the_short_way_and_end_alike(plural: str) -> None:
    def story() -> list[Any]:
        server = Server()
        furnish(server.cluster, own_definitions.all_of_them())
        ref = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
        spec: dict[str, Any] = {"nodeClassRef": ref, "requirements": []}
        if plural == "nodepools":
            spec = {"template": {"spec": spec}}
        kind = {"nodeclaims": "NodeClaim", "nodepools": "NodePool"}[plural]
        tree = {"apiVersion": "karpenter.sh/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}
        path = f"/apis/karpenter.sh/v1/{plural}"
        told = [server.call("POST", path, tree).tree]
        for number in range(4):
            condition = {
                "type": "Ready",
                "status": ("Unknown", "True")[number % 2],
                "reason": f"Reason{number}",
                "message": "",
                "lastTransitionTime": "2026-11-30T12:00:00Z",
            }
            server.clock.forward(1)
            change = {"status": {"conditions": [condition]}}
            told.append(server.call("PATCH", f"{path}/a/status", json.dumps(change).encode(), MERGE).tree)
        return told

    with mock.patch.object(custom_patches, "patched", return_value=None):
        wanted = story()
    assert story() == wanted
    assert wanted[-1]["status"]["conditions"][0]["reason"] == "Reason3"
