"""The definitions of custom resources: what a server is given, and what manifests are held to beyond it."""

from typing import Any, cast

import pytest

from baseload.kube.schema import definitions, shape


def served(kind: str) -> dict[str, Any]:
    """The schema that a server gets."""
    return cast("dict[str, Any]", next(crd["schema"] for crd in definitions.custom() if crd["kind"] == kind))


def found(schema: dict[str, Any], value: object) -> list[str]:
    return [f"{finding.path}: {finding.message}" for finding in shape.compare(schema, value).findings]


def test_a_mistake_in_the_kubelet_of_a_node_class_is_found_in_manifests_though_a_server_takes_it() -> None:
    part = {"spec": {"kubelet": {"maxPodz": 10}}}
    kubelet = served("EC2NodeClass")["properties"]["spec"]["properties"]["kubelet"]
    held_to = cast("dict[str, Any]", definitions.of_kind("karpenter.k8s.aws/v1", "EC2NodeClass"))
    assert found(kubelet, part["spec"]["kubelet"]) == []
    assert 'spec.kubelet.maxPodz: unknown field "spec.kubelet.maxPodz"' in found(held_to, part)


def test_a_limit_of_a_pool_is_a_quantity_in_manifests_and_matches_a_pattern_on_a_server() -> None:
    limits = {"cpu": "1O0"}
    told = served("NodePool")["properties"]["spec"]["properties"]["limits"]
    held_to = cast("dict[str, Any]", definitions.of_kind("karpenter.sh/v1", "NodePool"))
    (said,) = found(held_to["properties"]["spec"]["properties"]["limits"], limits)
    assert said.startswith('cpu: Invalid value: "1O0" is not a quantity')
    (said,) = found(told, limits)
    assert said.startswith('cpu: Invalid value: "1O0": cpu in body should match')


@pytest.mark.parametrize("kind", [str(crd["kind"]) for crd in definitions.custom()])
def test_a_server_gets_schemas_without_references(kind: str) -> None:
    assert '"$ref"' not in repr(served(kind)).replace("'", '"')


def test_a_source_is_described_alike_wherever_an_application_has_one() -> None:
    spec = served("Application")["properties"]["spec"]["properties"]
    assert spec["source"] == spec["sources"]["items"]
    assert spec["source"]["required"] == ["repoURL"]
