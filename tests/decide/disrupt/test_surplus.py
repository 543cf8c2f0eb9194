"""Which nodes of a static pool go first (disruption and lifecycle spec 25.2)."""

from typing import Any

import msgspec

from baseload.decide.disrupt.surplus import surplus
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodeClaim, NodePool
from tests.decide.lifecycle.builders import at, claim, condition, pod, text

PROTECTED: Any = {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}
PODS: dict[str, tuple[Pod, ...]] = {
    "busy": (pod("a"), pod("b")),
    "calm": (pod("c"),),
    "idle": (),
    "daemons": (pod("d", owner="DaemonSet"),),
    "kept": (pod("e", **PROTECTED),),
    "kept-by-daemon": (pod("f", owner="DaemonSet", **PROTECTED),),
    "old": (pod("g"), pod("h"), pod("i")),
}


def pool(replicas: int) -> NodePool:
    return msgspec.convert({"metadata": {"name": "fixed"}, "spec": {"replicas": replicas}}, NodePool)


def named(name: str, **given: Any) -> NodeClaim:
    return claim(name=name, uid=name, status={"providerID": name}, **{"spec": {"expireAfter": "Never"}, **given})


def order(claims: list[NodeClaim], replicas: int) -> list[str]:
    return [it.metadata.name for it in surplus(pool(replicas), claims, PODS, at(3600))]


def test_what_is_cheapest_to_lose_goes_first_and_protected_pods_come_last() -> None:
    launching = claim(name="z-launching", status={"providerID": ""})
    nearly_over = named("old", spec={"expireAfter": "1h1s"})
    claims = [named(name) for name in PODS if name != "old"]

    assert order([*claims, nearly_over, launching], 0) == [
        "z-launching",
        "daemons",
        "idle",
        "old",  # three pods, but it expires in a second
        "calm",
        "busy",
        "kept",
        "kept-by-daemon",
    ]


def test_no_more_go_than_there_are_too_many() -> None:
    claims = [named("busy"), named("calm"), named("idle")]

    assert order(claims, 2) == ["idle"]
    assert order(claims, 3) == order(claims, 4) == []


def test_nodes_that_go_already_or_are_being_replaced_neither_count_nor_are_chosen() -> None:
    going = named("idle", deletionTimestamp=text(0))
    replaced = claim(condition("DisruptionReason", "True"), name="daemons", status={"providerID": "daemons"})

    assert order([going, replaced, named("busy"), named("calm")], 1) == ["calm"]
