"""A whole object that passes the quick look has no unknown field, and Go can read it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.embedded.api import fields
from baseload.kube.schema import definitions
from baseload.kube.validation import decoding
from baseload.kube.validation.whole import whole
from tests.kube import inputs

CONTAINER: dict[str, Any] = {
    "name": "c",
    "resources": {"requests": {"cpu": 1, "memory": "1Gi"}},
    "ports": [{"containerPort": 1}],
    "livenessProbe": {"httpGet": {"port": "http", "path": "/"}, "periodSeconds": 3},
}
POD: dict[str, Any] = {
    "metadata": {"name": "a", "labels": {"app": "web"}, "creationTimestamp": "2026-01-01T00:00:00Z"},
    "spec": {
        "containers": [CONTAINER],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
        "terminationGracePeriodSeconds": 30,
        "hostNetwork": False,
        "overhead": {"cpu": "0.5"},
    },
    "status": {
        "conditions": [{"lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "containerStatuses": [{"restartCount": 1, "allocatedResources": {"cpu": "1"}}],
    },
}
SECRET: dict[str, Any] = {"metadata": {"name": "a"}, "data": {"a": "YQ==", "b": ""}, "type": "Opaque"}
TIMES = ["2026-01-01 00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00.5+02:00", "0001-01-01T00:00:00+10:00"]
AMOUNTS = ["1e3", "1Q", " 1 ", "1.5.5", "-1", "", "12e", "+1k"]
ODD: st.SearchStrategy[object] = st.sampled_from(
    ["x", "YQ", "YQ=", 1, 1.0, 1.5, -1, True, None, [], {}, ["x"], [None], {"x": 1}, 2**31, 2**63, *TIMES, *AMOUNTS]
)


def faults(kind: str, tree: dict[str, Any]) -> list[str]:
    """What is wrong with the shape of an object, looked at field by field."""
    schema = definitions.of_kind("v1", kind)
    assert schema is not None
    return [*fields.unknown(schema, tree, custom=False), *filter(None, [decoding.fault(schema, tree)])]


@given(inputs.changed(POD, ODD))
def test_a_pod_that_passes_has_no_unknown_field_and_can_be_read(pod: dict[str, Any]) -> None:
    if whole("v1", "Pod").passes(json.dumps(pod).encode()):
        assert faults("Pod", pod) == []


@given(inputs.changed(SECRET, ODD))
def test_a_secret_that_passes_has_no_unknown_field_and_can_be_read(secret: dict[str, Any]) -> None:
    if whole("v1", "Secret").passes(json.dumps(secret).encode()):
        assert faults("Secret", secret) == []


@pytest.mark.parametrize(("kind", "tree"), [("Pod", POD), ("Secret", SECRET)])
def test_a_right_object_passes_so_that_nobody_looks_at_it_field_by_field(kind: str, tree: dict[str, Any]) -> None:
    assert whole("v1", kind).passes(json.dumps(tree).encode())
    assert faults(kind, tree) == []


def test_nothing_is_needed_in_a_status_and_a_spec_needs_what_its_schema_says() -> None:
    assert whole("v1", "Pod").passes(json.dumps({**POD, "status": {"containerStatuses": [{}]}}).encode())
    assert not whole("v1", "Pod").passes(json.dumps({**POD, "spec": {"containers": [{}]}}).encode())


def test_all_of_an_object_is_looked_into_but_for_definitions_inside_themselves() -> None:
    assert whole("v1", "Pod").is_exact
    assert not whole("apiextensions.k8s.io/v1", "CustomResourceDefinition").is_exact
