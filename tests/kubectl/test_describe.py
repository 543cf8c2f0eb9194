"""What `kubectl describe` and `kubectl events` tell of a cluster in use."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conftest import Golden
from tests.kubectl import furniture, manifests
from tests.kubectl.conftest import Kubectl

GOLDEN: Final = Path(__file__).with_name("golden") / "describe"
_DESCRIBED: Final = (
    "node/n1",
    "pod/web-abc-1",
    "deployment/web",
    "replicaset/web-abc",
    "quota/team",
    "namespace/default",
    "service/web",
    "pvc/disk",
    "limits/sizes",
)
_REASONS: Final = ("Pulled", "Unhealthy", "NodeReady", "Rebooted", "ScalingReplicaSet")


def _create(kubectl: Kubectl, *trees: dict[str, Any]) -> dict[str, str]:
    """Creates objects; their uids by kind."""
    path = 'jsonpath={.kind} {.metadata.uid}{"\\n"}'
    made = kubectl("create", "-o", path, "-f", "-", stdin="\n".join(map(json.dumps, trees)))
    return dict(line.split() for line in made.splitlines())


def _tell(kubectl: Kubectl, what: str, status: object) -> None:
    patch = json.dumps({"status": status})
    kubectl("patch", what, "--subresource=status", "--type=merge", "-p", patch)


@pytest.fixture
def cluster(kubectl: Kubectl) -> Kubectl:
    uids = _create(kubectl, furniture.NODE, furniture.LEASE, furniture.DEPLOYMENT, furniture.QUOTA, *furniture.OTHERS)
    uids |= _create(kubectl, furniture.replica_set(uids["Deployment"]))
    uids |= _create(kubectl, furniture.pod(uids["ReplicaSet"]))
    for what, status in furniture.STATUSES.items():
        _tell(kubectl, what, status)
    _create(
        kubectl,
        furniture.event("a.1", "Pod", "web-abc-1", uids["Pod"], "Pulled", "Container image already present"),
        furniture.event("a.2", "Pod", "web-abc-1", uids["Pod"], "Unhealthy", "Readiness probe failed", "Warning"),
        furniture.event("b.1", "Node", "n1", uids["Node"], "NodeReady", "Node n1 status is now: NodeReady"),
        furniture.event("b.2", "Node", "n1", "n1", "Rebooted", "Node n1 has been rebooted", "Warning"),
        furniture.event("c.1", "Deployment", "web", uids["Deployment"], "ScalingReplicaSet", "Scaled up web-abc to 2"),
    )
    return kubectl


def _ageless(told: str) -> str:
    """What was told, with AGE for how long ago something was by kubectl's own clock."""
    head, events, rows = told.partition("\nEvents:")
    head = re.sub(r"(?m)(?<=\))( +)(?:\d+[smhdy])+$", r"\1AGE", head)
    rows = re.sub(r"(?m)^(  (?:Normal|Warning) +\S+ +)(?:\d+[smhdy])+", r"\1AGE", rows)
    lines = [*head.splitlines(), *re.sub(r"(?m)(?<=\S) {2,}", "  ", events.strip("\n") + rows).splitlines()]
    return "\n".join(line.rstrip() for line in lines) + "\n"


@pytest.mark.new_kubectl  # the elder one has a line more of nodes
@pytest.mark.embedded_only("names the ages")
def test_describe_tells_all_that_there_is_to_tell(cluster: Kubectl, golden: Golden) -> None:
    for what in _DESCRIBED:
        golden(GOLDEN / f"{what.replace('/', '-')}.txt", _ageless(cluster("describe", what)))


def test_a_nodes_pods_and_what_is_left_of_it_are_added_up(cluster: Kubectl) -> None:
    told = cluster("describe", "node", "n1")

    lines = [line.split() for line in told.splitlines()]
    assert ["cpu", "250m", "(6%)", "500m", "(12%)"] in lines
    assert ["memory", "128Mi", "(1%)", "256Mi", "(3%)"] in lines
    assert any(line[:2] == ["default", "web-abc-1"] for line in lines)
    assert "HolderIdentity:  n1" in told
    assert "Node n1 status is now: NodeReady" in told
    assert "Node n1 has been rebooted" in told


def test_custom_resources_are_described_field_by_field(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=manifests.NODE_POOL)

    told = kubectl("describe", "nodepool", "default")
    assert "API Version:  karpenter.sh/v1" in told
    assert re.search(r"Node Class Ref:\n +Group: +karpenter.k8s.aws\n +Kind: +EC2NodeClass\n +Name: +default", told)
    assert re.search(r"Events: +<none>", told)


def test_events_are_selected_by_what_they_are_about_and_by_type(cluster: Kubectl) -> None:
    def reasons(*options: str) -> list[str]:
        """A real server may tell of a service's address by itself."""
        told = [line.split() for line in cluster("events", "--no-headers", *options).splitlines()]
        return sorted(reason for row in told for reason in row[2:4] if reason in _REASONS)

    assert reasons("--for", "pod/web-abc-1") == ["Pulled", "Unhealthy"]
    assert reasons("--types=Warning") == ["Rebooted", "Unhealthy"]
    assert reasons("--for", "deployment/web") == ["ScalingReplicaSet"]
    assert reasons() == sorted(_REASONS)
    assert reasons("-A") == sorted(_REASONS)


@pytest.mark.embedded_only("names the ages")
def test_events_have_their_columns(cluster: Kubectl) -> None:
    cluster.clock.forward(600)

    assert cluster("get", "events", "--field-selector=involvedObject.name=web", "--sort-by=.lastTimestamp") == (
        "LAST SEEN   TYPE     REASON              OBJECT           MESSAGE\n"
        "70m         Normal   ScalingReplicaSet   deployment/web   Scaled up web-abc to 2\n"
    )
