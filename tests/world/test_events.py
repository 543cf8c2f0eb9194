"""The events of a whole cluster: whether each is written or none, and what becomes of Karpenter's."""

from pathlib import Path
from random import Random
from typing import Any

from baseload.timeline.virtual import VirtualClock
from baseload.world.living import LifeSettings, Living
from tests.world.lives import START, Life, Tree, deployment, node_class, pool, within

KINDS = (("", "Pod"), ("", "Node"), ("apps", "Deployment"), ("apps", "ReplicaSet"), ("karpenter.sh", "NodeClaim"))


def bare(tree: Any) -> Any:
    """Without resourceVersions, which are not given at the same moments."""
    if isinstance(tree, dict):
        return {key: bare(value) for key, value in tree.items() if key != "resourceVersion"}
    return [bare(one) for one in tree] if isinstance(tree, list) else tree


def look(life: Life) -> list[list[Tree]]:
    """Everything, and the events last."""
    return [bare(life.all(*kind)) for kind in (*KINDS, ("", "Event"))]


def hour(*, writes_every_event: bool) -> tuple[list[list[list[Tree]]], int]:
    """What a user sees now and then while much happens and in the hour after, and how much was written by then."""
    life, chance = Life(), Random(3)
    life.living.cluster.events.writes_every_event = writes_every_event
    life.create(node_class())
    life.create(pool(within("node.kubernetes.io/instance-type", "m5.large", "c5.large"), limits={"cpu": "16"}))
    for name in ("web", "api"):
        life.create(deployment(name, 6))
    seen: list[list[list[Tree]]] = []
    for turn in range(18):
        life.run(chance.randrange(60, 340))
        held = life.user.records("apps", "Deployment")[f"default/{('web', 'api')[turn % 2]}"]
        containers = [{"name": "main", "image": f"nginx:{turn}"}]
        change: Tree = {"template": {"spec": {"containers": containers}}}
        if turn % 5 == 3:
            change = {"replicas": 3 + turn}  # more than there may be room for
        life.user.merge(held, {"spec": change})
        if turn % 6 == 5:
            pods = list(life.user.records("", "Pod").values())
            life.user.delete(pods[chance.randrange(len(pods))])
        if turn == 1:
            seen.append(look(life))
    version = life.living.cluster.store.version
    for _ in range(3):
        life.run(1200)
        seen.append(look(life))
    life.close()
    return seen, version


def test_an_hour_is_the_same_whether_each_event_is_written_or_none() -> None:
    lazy, few = hour(writes_every_event=False)
    eager, many = hour(writes_every_event=True)
    assert many - few > 500
    assert lazy == eager
    sources = {it.get("reportingComponent") or it["source"]["component"] for it in lazy[0][-1]}
    assert {"karpenter", "kubelet", "default-scheduler", "replicaset-controller"} <= sources
    assert len(lazy[0][-1]) > len(lazy[-1][-1]) > 0


def of_karpenter(event: Tree) -> bool:
    return bool(event["source"].get("component") == "karpenter" and event["involvedObject"]["kind"] == "Pod")


def test_karpenters_events_are_rows_too_and_equal_ones_are_counted() -> None:
    life = Life()
    life.create(node_class())
    life.create(pool(limits={"cpu": "1"}))
    life.create(deployment("web", 1, cpu="3"))
    life.run(60)
    store = life.living.cluster.store
    resource = life.user.resource("", "Event")
    assert not store.table(resource).records
    [it] = [it for it in life.all("", "Event") if of_karpenter(it)]
    assert (it["reason"], it["involvedObject"]["kind"], it["count"]) == ("FailedScheduling", "Pod", 1)
    life.run(15 * 60)
    [it] = [it for it in life.all("", "Event") if of_karpenter(it)]
    assert it["count"] == 2
    life.close()


def test_with_a_data_directory_events_are_kept_for_the_next_process(tmp_path: Path) -> None:
    clock = VirtualClock(START)
    living = Living(clock, LifeSettings(), data_dir=tmp_path)
    assert living.cluster.events.writes_every_event
    living.close()
