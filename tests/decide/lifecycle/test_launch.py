"""Which machine a claim asks for (provisioning spec 19, 27)."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from baseload.catalog.columns import InstanceTypes
from baseload.decide.lifecycle.creation import claim_of
from baseload.decide.lifecycle.launch import Choice, Refused
from baseload.decide.provision.decide import provision
from baseload.decide.provision.options import Options
from baseload.kube.types.core import Pod
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.view import View
from baseload.plan.lifecycle import Launch
from baseload.values.label import CORE_WELL_KNOWN
from tests.cloud.simulated import clouds
from tests.decide.lifecycle.builders import claim, condition

CAPACITY, ZONE = "karpenter.sh/capacity-type", "topology.kubernetes.io/zone"


def node_class(*held: dict[str, str], **status: Any) -> EC2NodeClass:
    arm = [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}]
    amd = [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]
    whole = {
        "subnets": [{"id": f"subnet-{zone}", "zone": zone} for zone in clouds.ZONES],
        "amis": [{"id": "ami-amd", "requirements": amd}, {"id": "ami-arm", "requirements": arm}],
        "securityGroups": [{"id": "sg-1"}],
        "instanceProfile": "nodes",
        "conditions": list(held) or [condition("Ready", "True")],
        **status,
    }
    return msgspec.convert({"metadata": {"name": "default", "generation": 1}, "status": whole}, EC2NodeClass)


def asks(*requirements: tuple[str, str, list[str]], cpu: str = "1", **more: Any) -> NodeClaim:
    written = [{"key": key, "operator": operator, "values": values} for key, operator, values in requirements]
    return claim(spec={"requirements": written, "resources": {"requests": {"cpu": cpu}}, **more})


def table() -> InstanceTypes:
    """The tests' types, the last of which has an accelerator."""
    plain = clouds.types()
    gpus = tuple(10**9 if name == "p3.2xlarge" else 0 for name in plain.names)
    return replace(plain, capacity={**plain.capacity, "nvidia.com/gpu": gpus})


def launch(of: NodeClaim, of_class: EC2NodeClass | None = None) -> Launch:
    found = Choice(table()).launch(of, of_class or node_class(), "test")
    assert isinstance(found, Launch), found
    return found


def refused(of: NodeClaim, of_class: EC2NodeClass | None) -> Refused:
    found = Choice(clouds.types()).launch(of, of_class, "test")
    assert isinstance(found, Refused)
    return found


def test_spot_is_launched_where_it_is_allowed_and_not_dearer_than_on_demand() -> None:
    found = launch(asks())

    assert found.capacity_type == "spot"
    assert {pool.subnet for pool in found.pools} == {"subnet-z1", "subnet-z2", "subnet-z3"}
    # The cheapest on demand is m6g.large at 0.08; spot m5.xlarge costs just that.
    assert {type for pool in found.pools for type in pool.types} == {
        "m5.large",
        "m5.xlarge",
        "c5.large",
        "r5.large",
        "m6g.large",
    }


def test_on_demand_alone_leaves_out_accelerators_unless_nothing_else_fits() -> None:
    on_demand = (CAPACITY, "In", ["on-demand"])

    few = launch(asks(on_demand, cpu="3"))
    assert few.capacity_type == "on-demand"
    assert {pool.types for pool in few.pools} == {("m5.xlarge",)}
    assert {pool.types for pool in launch(asks(on_demand, cpu="6")).pools} == {("p3.2xlarge",)}


def test_each_zone_and_image_is_a_pool_with_its_types_from_the_cheapest() -> None:
    found = launch(asks((ZONE, "In", ["z2"]), (CAPACITY, "In", ["on-demand"])))

    assert [(pool.subnet, pool.image, pool.types) for pool in found.pools] == [
        ("subnet-z2", "ami-amd", ("c5.large", "m5.large", "r5.large", "m5.xlarge")),
        ("subnet-z2", "ami-arm", ("m6g.large",)),
    ]
    assert (found.security_groups, found.instance_profile) == (("sg-1",), "nodes")


def test_a_full_subnet_is_passed_over_for_the_next_one_of_its_zone() -> None:
    of_class = node_class(subnets=[{"id": id, "zone": "z1"} for id in ("full", "roomy")])

    def subnets(*full: str) -> set[str]:
        found = Choice(table(), full).launch(asks(), of_class, "test")
        assert isinstance(found, Launch)
        return {pool.subnet for pool in found.pools}

    assert subnets() == {"full"}
    assert subnets("full") == {"roomy"}


def test_a_machine_s_tags_tell_whose_it_is() -> None:
    assert launch(asks()).tags == {
        "baseload.dev/nodeclaim-uid": "uid-1",
        "eks:eks-cluster-name": "test",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        "karpenter.sh/nodeclaim": "default-abcde",
        "karpenter.sh/nodepool": "default",
        "kubernetes.io/cluster/test": "owned",
    }


def test_what_was_launched_is_known_by_its_type_and_offering() -> None:
    choice = Choice(clouds.types())
    labels = choice.labels("m6g.large", "z3", "spot")

    assert (labels["node.kubernetes.io/instance-type"], labels["kubernetes.io/arch"]) == ("m6g.large", "arm64")
    assert (labels[ZONE], labels[CAPACITY]) == ("z3", "spot")
    capacity, _ = choice.resources("m6g.large")
    assert (capacity["cpu"], capacity["memory"]) == ("2", "8Gi")


@pytest.mark.parametrize(
    ("of_class", "why", "message"),
    [
        (None, "insufficient_capacity", "the EC2NodeClass default is not there, or is being deleted"),
        (
            node_class(condition("Ready", "False", reason="SubnetsNotFound")),
            "nodeclass_not_ready",
            "EC2NodeClass default is not ready: SubnetsNotFound",
        ),
        (node_class(condition("Ready", "Unknown")), "later", "it is not known whether EC2NodeClass default is ready"),
        (
            node_class({**condition("Ready", "True"), "observedGeneration": 0}),  # type: ignore[dict-item]
            "nodeclass_not_ready",
            "EC2NodeClass default has not been reconciled since its last change",
        ),
        (
            node_class(subnets=[]),
            "insufficient_capacity",
            "all requested instance types were unavailable during launch",
        ),
        (node_class(amis=[]), "insufficient_capacity", "all requested instance types were unavailable during launch"),
    ],
)
def test_nothing_is_launched_from_a_class_that_is_not_ready(
    of_class: EC2NodeClass | None, why: str, message: str
) -> None:
    of = asks(nodeClassRef={"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"})

    assert refused(of, of_class) == Refused(why, message)  # type: ignore[arg-type]


def test_a_planned_claim_becomes_an_object_without_what_the_launch_decides() -> None:
    template = {
        "metadata": {"labels": {"team": "a"}, "annotations": {"note": "x"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [{"key": "example.com/kind", "operator": "In", "values": ["b"]}],
            "startupTaints": [{"key": "agent", "effect": "NoSchedule"}],
            "expireAfter": "24h",
            "terminationGracePeriod": "10m",
        },
    }
    pool = msgspec.convert({"metadata": {"name": "default", "uid": "u"}, "spec": {"template": template}}, NodePool)
    waiting = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}
    pod = msgspec.convert({"metadata": {"name": "web", "namespace": "default"}, "spec": waiting}, Pod)
    types = clouds.types()
    [planned] = provision(View(pods=(pod,), node_pools=(pool,)), {"default": types}, Options()).node_claims

    tree: Any = claim_of(planned, pool, CORE_WELL_KNOWN | types.well_known)

    metadata, spec = tree["metadata"], tree["spec"]
    assert metadata["generateName"] == "default-"
    assert metadata["labels"] == {
        "example.com/kind": "b",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        "karpenter.sh/nodepool": "default",
        "team": "a",
    }
    assert metadata["annotations"]["note"] == "x"
    assert metadata["annotations"]["karpenter.sh/nodepool-hash-version"] == "v3"
    assert metadata["ownerReferences"][0] == {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "name": "default",
        "uid": "u",
        "blockOwnerDeletion": True,
    }
    assert spec["resources"]["requests"] == {"cpu": "1", "memory": "1Gi", "pods": "1"}
    assert list(spec["startupTaints"]) == [{"key": "agent", "effect": "NoSchedule"}]
    assert (spec["expireAfter"], spec["terminationGracePeriod"]) == ("24h", "10m")
    keys = {entry["key"] for entry in spec["requirements"]}
    assert "karpenter.sh/registered" not in keys
    assert {"node.kubernetes.io/instance-type", "karpenter.sh/capacity-type", "karpenter.sh/nodepool"} <= keys
