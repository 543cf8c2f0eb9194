"""What kubectl finds out about the server."""

import json
from pathlib import Path

import pytest

from tests.conftest import Golden
from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

GOLDEN = Path(__file__).with_name("golden")


@pytest.mark.embedded_only("names every resource")
def test_the_resources_and_versions_are_the_ones_on_record(kubectl: Kubectl, golden: Golden) -> None:
    golden(GOLDEN / "api-resources.txt", kubectl("api-resources") + "\n" + kubectl("api-versions"))


def test_explain_walks_into_built_in_and_custom_kinds(kubectl: Kubectl) -> None:
    assert "FIELD: replicas <integer>" in kubectl("explain", "deployment.spec.replicas")
    budgets = kubectl("explain", "nodepool.spec.disruption.budgets")
    assert "GROUP:      karpenter.sh" in budgets
    assert "nodes\t<string> -required-" in budgets


def test_a_definition_is_served_as_soon_as_it_is_established(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=manifests.WIDGETS)
    kubectl("wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=5s")
    kubectl("apply", "-f", "-", stdin=manifests.WIDGET)

    assert kubectl("get", "wd").splitlines() == ["NAME   SIZE   COLOUR", "one    2      red"]
    assert "How large it is." in kubectl("explain", "widget.spec.size")
    assert kubectl("scale", "widget", "one", "--replicas=5") == "widget.example.com/one scaled\n"
    assert kubectl("get", "widget", "one", "-o", "jsonpath={.spec.size}") == "5"
    kubectl("delete", "crd", "widgets.example.com")
    assert kubectl.refused("get", "--raw", "/apis/example.com/v1/widgets") != ""


def test_the_server_says_that_it_is_well_and_what_it_is(kubectl: Kubectl) -> None:
    assert kubectl("get", "--raw", "/readyz") == "ok"
    assert kubectl("get", "--raw", "/livez") == "ok"
    assert kubectl("get", "--raw", "/readyz?verbose").endswith("readyz check passed\n")
    version = json.loads(kubectl("get", "--raw", "/version"))
    metrics = kubectl("get", "--raw", "/metrics")
    assert "apiserver_request_duration_seconds_bucket{" in metrics
    assert "apiserver_request_total{" in metrics
    assert (version["major"], version["minor"]) == ("1", "37")
    assert "Server Version: v1.37" in kubectl("version")
