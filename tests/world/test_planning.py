"""What a plan says of a pod without a place holds when it is done in the manifests and planned again."""

import json
from pathlib import Path

import pytest

from baseload.plan.provision import ProvisionPlan
from baseload.world import files, planning
from baseload.world.files import Inputs
from tests.world.test_files import CATALOG, EC2, POOL, WEB

LIMITED = POOL % ("a", *EC2, "c") + "  limits: {cpu: 2}\n"
TAINTED = POOL % ("a", *EC2, "c") + "      taints: [{key: team, value: a, effect: NoSchedule}]\n"
GATED = """
apiVersion: v1
kind: Pod
metadata: {name: gated, namespace: default}
spec:
  schedulingGates: [{name: example.com/wait}]
  containers: [{name: c, image: i}]
"""
CASES = {
    "a limit that is too low": (LIMITED, WEB),
    "a taint that is not tolerated": (TAINTED, WEB),
    "a zone that is not on offer": (
        POOL % ("a", *EC2, "c"),
        WEB.replace("      containers", "      nodeSelector: {topology.kubernetes.io/zone: zone-2}\n      containers"),
    ),
    "a request that no type can hold": (POOL % ("a", *EC2, "c"), WEB.replace('cpu: "3"', 'cpu: "9"')),
    "a scheduling gate": (POOL % ("a", *EC2, "c"), GATED),
}


def planned(inputs: Inputs) -> frozenset[str]:
    return frozenset(placement.pod for placement in planning.provision(inputs).placements)


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Inputs, ProvisionPlan]:
    catalog, manifests = tmp_path / "catalog.json", tmp_path / "cluster.yaml"
    catalog.write_text(json.dumps(CATALOG), encoding="utf-8")
    manifests.write_text("\n---\n".join(CASES[request.param]), encoding="utf-8")
    inputs = files.read([str(manifests)], catalog=str(catalog))
    return inputs, planning.explained(inputs)


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_applying_the_fix_places_the_pod(case: tuple[Inputs, ProvisionPlan]) -> None:
    inputs, plan = case

    assert plan.unschedulable
    for failed in plan.unschedulable:
        assert failed.fix is not None
        assert failed.pod in planned(inputs.edited(failed.fix.object, failed.fix.path, failed.fix.to))


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_dropping_any_member_of_a_conflict_places_the_pod(case: tuple[Inputs, ProvisionPlan]) -> None:
    inputs, plan = case
    for failed in plan.unschedulable:
        assert failed.conflict
        for demand in failed.conflict:
            assert failed.pod in planned(inputs.edited(demand.object, demand.path, None))
