"""Pods that were made for a workload are explained in the workload's own fields."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from baseload.plan.provision import ProvisionPlan
from baseload.world import files, planning
from baseload.world.files import Inputs
from tests.reference.algebra import ZONE
from tests.reference.building import LADDER, WEB, apart, pool, spread
from tests.reference.drawing import expression


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    (tmp_path / "catalog.json").write_bytes(msgspec.json.encode(LADDER))
    return str(tmp_path / "catalog.json")


def deployment(replicas: int, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m", **spec.pop("requests", {})}}}
    template = {"metadata": {"labels": WEB}, "spec": {"containers": [container], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": WEB}, "template": template},
    }


def read(catalog: str, *objects: dict[str, Any]) -> Inputs:
    listed = [{"apiVersion": "karpenter.sh/v1", **one} for one in objects]
    data = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": listed})
    return files.read(["-"], stdin=lambda: data, catalog=catalog)


def placed(inputs: Inputs) -> ProvisionPlan:
    return planning.provision(inputs)


def test_the_template_is_what_clashes_and_what_is_changed(catalog: str) -> None:
    inputs = read(
        catalog, pool("default", expression(ZONE, "In", "zone-1")), deployment(2, nodeSelector={ZONE: "zone-9"})
    )
    told = planning.explained(inputs).unschedulable
    assert [u.pod for u in told] == ["default/web-x1", "default/web-x2"]
    for one in told:
        assert one.conflict[0].object == "Deployment default/web"
        assert one.conflict[0].path == f'spec.template.spec.nodeSelector["{ZONE}"]'
        assert one.fix is not None
        assert (one.fix.object, one.fix.from_, one.fix.to) == ("Deployment default/web", "zone-9", "zone-1")
        assert placed(inputs.edited(one.fix.object, one.fix.path, one.fix.to)).unschedulable == ()


def test_replicas_that_keep_each_other_away_are_mended_in_one_field(catalog: str) -> None:
    inputs = read(catalog, pool("default", expression(ZONE, "In", "zone-1")), deployment(2, **apart(ZONE)))
    (only,) = planning.explained(inputs).unschedulable
    assert only.fix is not None
    assert (only.fix.object, only.fix.path) == ("Deployment default/web", "spec.template.spec.affinity.podAntiAffinity")
    assert placed(inputs.edited(only.fix.object, only.fix.path, only.fix.to)).unschedulable == ()


def test_replicas_over_three_zones_of_which_the_pool_serves_two(catalog: str) -> None:
    ours = pool("ours", expression(ZONE, "In", "zone-1", "zone-2"), labels={"project": "p"})
    web = deployment(3, nodeSelector={"project": "p"}, **spread())
    inputs = read(catalog, ours, pool("other"), web)
    (only,) = planning.explained(inputs).unschedulable
    assert only.fix is not None
    assert only.fix.path.startswith("spec.template.spec.affinity.nodeAffinity")
    assert placed(inputs.edited(only.fix.object, only.fix.path, only.fix.to)).unschedulable == ()


def test_a_request_that_comes_from_a_limit_is_lowered_beside_it(catalog: str) -> None:
    web = deployment(1)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "20"}}
    inputs = read(catalog, pool(), web)
    (only,) = planning.explained(inputs).unschedulable
    for demand in only.conflict:
        assert placed(inputs.edited(demand.object, demand.path, None)).unschedulable == ()
    assert only.fix is not None
    assert (only.fix.path, only.fix.to) == ("spec.template.spec.containers[0].resources.requests", {"cpu": "16"})
    assert placed(inputs.edited(only.fix.object, only.fix.path, only.fix.to)).unschedulable == ()


def test_a_port_that_comes_from_the_network_of_the_host_is_no_field_to_remove(catalog: str) -> None:
    web = deployment(2, hostNetwork=True)
    web["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
    inputs = read(catalog, pool(limits={"cpu": "16"}), web)
    (only,) = planning.explained(inputs).unschedulable
    assert [demand.path for demand in only.conflict] == ["spec.limits.cpu"]
    for demand in only.conflict:
        assert placed(inputs.edited(demand.object, demand.path, None)).unschedulable == ()


def test_claims_made_from_a_template_are_no_fields_of_the_input(catalog: str) -> None:
    template = deployment(1)["spec"]["template"]
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "early"}}
    database = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": WEB}, "serviceName": "db", "template": template}
        | {"volumeClaimTemplates": [claim]},
    }
    early = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "early"},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "Immediate",
    }
    inputs = read(catalog, pool(), database, early)
    (only,) = planning.explained(inputs).unschedulable
    assert (only.reason, only.conflict) == ("UnusableVolume", ())
    assert only.fix is not None
    assert (only.fix.object, only.fix.to) == ("StorageClass early", "WaitForFirstConsumer")
    assert placed(inputs.edited(only.fix.object, only.fix.path, only.fix.to)).unschedulable == ()


def test_pods_of_one_workload_stay_one_shape_when_its_template_is_changed(catalog: str) -> None:
    inputs = read(catalog, pool(taints=[{"key": "t", "effect": "NoSchedule"}]), deployment(3))
    told = planning.explained(inputs).unschedulable
    assert {str(one.fix) for one in told} == {str(told[0].fix)}
    assert told[0].fix is not None
    assert told[0].fix.path == "spec.template.spec.tolerations[0]"
