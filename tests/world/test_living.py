"""A cluster with everything in it: what a user applies is carried out by all parts together."""

from collections.abc import Iterator

import pytest

from baseload.control.settings import Settings
from baseload.world.living import Hosting, LifeSettings
from tests.world.lives import Life, deployment, node_class, pool, within

SPOT_M5_C5 = (
    within("karpenter.k8s.aws/instance-family", "m5", "c5"),
    within("karpenter.sh/capacity-type", "spot"),
)


@pytest.fixture
def life() -> Iterator[Life]:
    life = Life()
    yield life
    life.close()


def test_pods_that_find_no_room_run_on_new_nodes_within_a_minute(life: Life) -> None:
    life.create(node_class())
    life.create(pool(*SPOT_M5_C5, limits={"cpu": "500"}))
    life.create(deployment("web", 20))
    life.run(3)
    assert life.ready() == 0
    life.run(57)
    assert life.ready() == 20
    for claim in life.all("karpenter.sh", "NodeClaim"):
        labels = claim["metadata"]["labels"]
        assert labels["node.kubernetes.io/instance-type"].split(".")[0] in ("m5", "c5")
        assert labels["karpenter.sh/capacity-type"] == "spot"
        assert int(claim["status"]["capacity"]["cpu"]) >= 20


def test_events_are_gone_after_an_hour(life: Life) -> None:
    life.create(deployment("web", 1))
    life.run(10)
    told = {event["metadata"]["name"] for event in life.all("", "Event") if event["reason"] == "SuccessfulCreate"}
    assert told
    life.run(3700)
    assert not told & {event["metadata"]["name"] for event in life.all("", "Event")}


def test_a_pools_limit_holds_when_more_is_asked_for(life: Life) -> None:
    life.create(node_class())
    life.create(pool(*SPOT_M5_C5, limits={"cpu": "50"}))
    life.create(deployment("web", 100))
    life.run(300)
    assert 0 < sum(int(it["status"]["capacity"]["cpu"]) for it in life.all("karpenter.sh", "NodeClaim")) <= 50
    assert 0 < life.ready() < 50


def test_a_node_carries_the_taints_that_its_user_data_names_and_none_of_karpenters_once_it_is_registered(
    life: Life,
) -> None:
    config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {registerWithTaints: "
    taint = "[{key: example.com/agent, value: none, effect: NoSchedule}]}}}"
    life.create(node_class(userData=config + taint))
    life.create(pool())
    life.create(deployment("web", 1))
    life.run(60)
    nodes = life.all("", "Node")
    assert nodes
    for node in nodes:
        kept = [taint for taint in node["spec"]["taints"] if not taint["key"].startswith("node.kubernetes.io/")]
        assert kept == [{"key": "example.com/agent", "value": "none", "effect": "NoSchedule"}]


def test_a_node_of_the_users_own_gets_a_machine_and_stays(life: Life) -> None:
    size = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    life.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "floor", "labels": {"kubernetes.io/hostname": "floor"}},
            "spec": {"providerID": "aws:///us-east-1a/i-0123456789abcdef0"},
            "status": {"capacity": size, "allocatable": size},
        }
    )
    life.create(deployment("web", 2))
    life.run(600)
    assert life.ready() == 2
    assert [it["spec"]["nodeName"] for it in life.all("", "Pod")] == ["floor", "floor"]


def test_without_karpenter_pods_wait() -> None:
    life = Life(LifeSettings(karpenter=None))
    life.create(node_class())
    life.create(pool())
    life.create(deployment("web", 1))
    life.run(600)
    assert (life.ready(), life.all("karpenter.sh", "NodeClaim")) == (0, [])
    life.close()


def test_a_karpenter_that_lives_on_its_own_nodes_can_never_begin() -> None:
    hosts = {"karpenter": Hosting("kube-system", "app=karpenter")}
    life = Life(LifeSettings(karpenter=Settings(), hosts=hosts))
    life.create(node_class())
    life.create(pool())
    karpenter = deployment("karpenter", 1)
    life.create(karpenter, "kube-system")
    life.create(deployment("web", 1))
    life.run(3600)
    assert life.ready() == 0
    assert life.living.processes["karpenter"].starts == 0
    life.close()
