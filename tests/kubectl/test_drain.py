"""kubectl drain: cordon, evict, and wait where a disruption budget says so."""

import json

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

RUNNING = json.dumps({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""
DRAIN = ("drain", "n1", "--force", "--grace-period=0")


def running_pod(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=f"{manifests.node('n1')}---{manifests.pod('web', 'n1')}")
    kubectl("patch", "pod", "web", "--subresource=status", "--type=merge", "-p", RUNNING)


def allow(kubectl: Kubectl, disruptions: int) -> None:
    """What the disruption controller would write."""
    status = {"observedGeneration": 1, "disruptionsAllowed": disruptions, "currentHealthy": 1, "desiredHealthy": 1}
    patch = json.dumps({"status": status})
    kubectl("patch", "pdb", "web", "--subresource=status", "--type=merge", "-p", patch)


def test_a_drained_node_is_cordoned_and_empty(kubectl: Kubectl) -> None:
    running_pod(kubectl)

    told = kubectl(*DRAIN)

    assert told.startswith("node/n1 cordoned\nevicting pod default/web\n")
    assert told.endswith("node/n1 drained\n")
    assert kubectl("get", "pods", "-o", "name") == ""


def test_a_budget_holds_up_a_drain_and_counts_what_it_lets_go(kubectl: Kubectl) -> None:
    running_pod(kubectl)
    kubectl("create", "-f", "-", stdin=BUDGET)
    allow(kubectl, 0)

    refusal = kubectl.refused(*DRAIN, "--timeout=3s")

    assert "Cannot evict pod as it would violate the pod's disruption budget." in refusal
    allow(kubectl, 1)
    kubectl(*DRAIN)
    assert kubectl("get", "pdb", "web", "-o", "jsonpath={.status.disruptionsAllowed}") == "0"
    assert kubectl("get", "pdb", "--no-headers").split()[:4] == ["web", "1", "N/A", "0"]
