"""What kubectl finds out about the server."""

import json
from pathlib import Path

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl
from tests.kubectl.recorded import Recorded
from tests.kubectl.test_definitions import published

pytestmark = pytest.mark.both_kubectls

GOLDEN = Path(__file__).with_name("golden")
NOT_SERVED = (
    "bindings",
    "componentstatuses",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "certificatesigningrequests",
    "clustertrustbundles",
    "podcertificaterequests",
    "flowschemas",
    "prioritylevelconfigurations",
    "ipaddresses",
    "servicecidrs",
    "deviceclasses",
    "devicetaintrules",
    "resourceclaims",
    "resourceclaimtemplates",
    "resourceslices",
    "storageversionmigrations",
)
"""The kinds of a real server that the embedded one does not serve."""


def test_resources_are_told_as_a_real_server_tells_them(kubectl: Kubectl, recorded: Recorded) -> None:
    told = kubectl("api-resources", "-o", "wide")
    if kubectl.server.is_real:
        recorded("api-resources.txt", told)
        return
    real = (GOLDEN / "api-resources.txt").read_text(encoding="utf-8").splitlines()[2:]
    served = {tuple(line.split()) for line in told.splitlines() if "metrics.k8s.io/" not in line}

    wanted = {tuple(line.split()) for line in real}

    assert served - wanted == set()
    assert {row[0] for row in wanted - served} == set(NOT_SERVED)


def test_versions_of_groups_are_those_of_the_resources(kubectl: Kubectl) -> None:
    resources = kubectl("api-resources", "--no-headers", "-o", "wide").splitlines()
    versions = kubectl("api-versions").split()

    assert versions == sorted(versions)
    assert {version for line in resources for version in line.split() if version in versions} <= set(versions)
    assert {"v1", "apps/v1", "karpenter.sh/v1", "policy/v1"} <= set(versions)


def test_explain_walks_into_built_in_and_custom_kinds(kubectl: Kubectl) -> None:
    assert "FIELD: replicas <integer>" in kubectl("explain", "deployment.spec.replicas")
    budgets = kubectl("explain", "nodepool.spec.disruption.budgets")
    assert "GROUP:      karpenter.sh" in budgets
    assert "nodes\t<string> -required-" in budgets


def test_a_definition_is_served_as_soon_as_it_is_established(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=manifests.WIDGETS)
    kubectl("wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=30s")
    if kubectl.server.is_real:
        published(kubectl, "example.com/v1")
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
