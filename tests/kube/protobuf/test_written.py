"""What Go's structs keep of a tree: their `omitempty` fields go when they are empty, all others are always told."""

from typing import Any

import pytest

from baseload.kube.protobuf import written


def kept(api_version: str, kind: str, tree: Any) -> Any:
    return written.of_kind(api_version, kind).of(tree)


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {}}], **spec}, "status": {}}


@pytest.mark.parametrize(
    "empty",
    [
        {"nodeSelector": {}},
        {"tolerations": []},
        {"hostNetwork": False},
        {"serviceAccountName": ""},
        {"priority": None},
        {"affinity": None},
    ],
)
def test_an_empty_value_is_forgotten_where_nothing_is_said_of_it(empty: dict[str, Any]) -> None:
    assert kept("v1", "Pod", pod(**empty))["spec"].keys() == {"containers"}


@pytest.mark.parametrize(
    "told",
    [
        {"automountServiceAccountToken": False},
        {"terminationGracePeriodSeconds": 0},
        {"securityContext": {}},
        {"affinity": {}},
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {"containers": [{"name": "c", "resources": {}}]},
    ],
)
def test_what_a_pointer_leads_to_is_kept_however_empty(told: dict[str, Any]) -> None:
    assert kept("v1", "Pod", pod(**told))["spec"] == pod(**told)["spec"]


def test_what_is_always_told_is_null_or_empty_where_nobody_gave_it() -> None:
    assert kept("rbac.authorization.k8s.io/v1", "Role", {"rules": []}) == {"metadata": {}, "rules": None}
    assert kept("networking.k8s.io/v1", "NetworkPolicy", {}) == {"metadata": {}, "spec": {"podSelector": {}}}
    assert kept("scheduling.k8s.io/v1", "PriorityClass", {})["value"] == 0


def test_null_in_a_map_or_list_is_its_items_zero() -> None:
    labels = {"metadata": {"name": "p", "labels": {"a": None}}, "data": {"b": None}}

    assert kept("v1", "ConfigMap", labels) == {"metadata": {"name": "p", "labels": {"a": ""}}, "data": {"b": ""}}
    assert kept("v1", "Pod", pod(tolerations=[None]))["spec"]["tolerations"] == [{}]
    assert kept("v1", "Pod", pod(containers=[None]))["spec"]["containers"] == [{"name": "", "resources": {}}]
    assert kept("v1", "LimitRange", {"spec": {"limits": [{"type": "Pod", "max": {"cpu": None}}]}})["spec"] == {
        "limits": [{"type": "Pod", "max": {"cpu": "0"}}]
    }


def test_values_that_are_none_of_their_type_are_left_to_the_decoder() -> None:
    assert kept("v1", "Pod", pod(containers={"a": None}, volumes="none", nodeSelector=["a"]))["spec"] == {
        "containers": {"a": None},
        "volumes": "none",
        "nodeSelector": ["a"],
    }


def test_schemas_are_gone_through_wherever_they_stand() -> None:
    schema = {"type": "object", "required": [], "properties": {"a": {"items": {"enum": [], "type": "string"}}}}
    told = {"type": "object", "properties": {"a": {"items": {"type": "string"}}}}
    tree: dict[str, Any] = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}

    found = kept("apiextensions.k8s.io/v1", "CustomResourceDefinition", tree)

    assert found["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == told


def test_a_default_in_a_schema_is_nobodys_to_change() -> None:
    schema = {"type": "object", "default": {"a": [], "b": None}, "additionalProperties": False}
    tree: dict[str, Any] = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}

    found = kept("apiextensions.k8s.io/v1", "CustomResourceDefinition", tree)

    assert found["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == schema


def test_a_pod_without_anything_to_forget_is_not_gone_through() -> None:
    tree = pod(containers=[{"name": "c", "resources": {}}], volumes=[{"name": "v", "emptyDir": {}}], hostNetwork=True)

    assert kept("v1", "Pod", tree) is tree


def test_a_kind_that_no_table_tells_of_stays_as_it_is() -> None:
    tree: dict[str, Any] = {"metadata": {"labels": {}}}

    assert kept("example.com/v1", "Widget", tree) is tree
