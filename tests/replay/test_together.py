"""Expectations that nothing can keep together are bad input, told at the later of them."""

from typing import Any

import pytest

from baseload.replay import scenario
from baseload.values.errors import BadInput
from tests.replay.stories import NODE_CLASS, deployment, node, pool, tree
from tests.world.lives import Tree

READY, LAUNCHES = "pods.ready", "launches"
THERE: list[Tree] = [NODE_CLASS, pool(), deployment("web", 1), deployment("shop", 1, namespace="shop"), node("floor")]


def expect(series: str, **rest: Any) -> dict[str, Any]:
    return {"series": series, **rest}


def faults(expectations: list[dict[str, Any]], **spec: Any) -> list[str]:
    try:
        scenario.of_tree(tree(duration="1h", manifests=THERE, expect=expectations, **spec), "x.yaml")
    except BadInput as error:
        return [str(fault) for fault in error.faults]
    return []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (expect(READY, always=True, atLeast=3), expect(READY, always=True, atMost=2)),
        (expect(READY, always={"until": "10m"}, atLeast=3), expect(READY, at="10m", below=3)),
        (expect(READY, at="10m", **{"for": "5m", "is": 2}), expect(READY, at="15m", **{"is": 1})),
        (expect(READY, always=True, **{"is": 2}), expect(READY, at="1m", isNot=2)),
        (expect(READY, always=True, atLeast=3), expect(READY, eventually=True, **{"is": 0})),
        (
            expect(READY, always={"from": "5m"}, atMost=3),
            expect(READY, within="10m", after="2m", **{"is": 4, "for": "4m"}),
        ),
        (expect(READY, within="5m", **{"is": 0}), expect(READY, always={"until": "6m"}, atLeast=1)),
        (expect(READY, always=True, atMost=2), expect(READY, workload="web", at="1m", **{"is": 3})),
        (expect(READY, workload="web", at="1m", **{"is": 3}), expect(READY, always=True, atMost=2)),
        (
            expect("pods.pendingLongerThan", longerThan="5m", at="9m", atLeast=2),
            expect("pods.pendingLongerThan", longerThan="2m", at="9m", atMost=1),
        ),
        (expect(LAUNCHES, at="10m", **{"is": 5}), expect(LAUNCHES, at="20m", **{"is": 4})),
        (expect(LAUNCHES, at="20m", **{"is": 4}), expect(LAUNCHES, within="10m", atLeast=5)),
        (expect(LAUNCHES, eventually={"from": "30m"}, atMost=4), expect(LAUNCHES, at="20m", **{"is": 5})),
    ],
)
def test_what_cannot_be_kept_together_is_named(one: dict[str, Any], other: dict[str, Any]) -> None:
    [fault] = faults([expect("nodes.total", at="1m", atLeast=0), one, other])
    assert fault.startswith(f"x.yaml: spec.expect[2]: cannot hold beside spec.expect[1]: {one['series']}"), fault
    assert fault.endswith(" (what can be kept together)")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (expect(READY, always={"until": "10m"}, atLeast=3), expect(READY, always={"from": "10m1ns"}, atMost=2)),
        (expect(READY, always=True, atLeast=3), expect("pods.running", always=True, atMost=2)),
        (expect(READY, always={"until": "10m"}, atLeast=3), expect(READY, eventually=True, **{"is": 0})),
        (
            expect(READY, always={"from": "6m"}, atMost=3),
            expect(READY, within="10m", after="2m", **{"is": 4, "for": "4m"}),
        ),
        (expect(READY, eventually=True, **{"is": 0}), expect(READY, eventually=True, **{"is": 9})),
        (expect(READY, workload="web", at="1m", **{"is": 1}), expect(READY, always=True, atLeast=2)),
        (expect(READY, workload="web", at="1m", **{"is": 1}), expect(READY, namespace="shop", at="1m", **{"is": 2})),
        (
            expect("pods.pendingLongerThan", longerThan="2m", at="9m", atLeast=2),
            expect("pods.pendingLongerThan", longerThan="5m", at="9m", atMost=1),
        ),
        (expect(LAUNCHES, at="10m", **{"is": 5}), expect(LAUNCHES, at="20m", **{"is": 6})),
        (expect("launches.unused", at="10m", **{"is": 5}), expect("launches.unused", at="20m", **{"is": 4})),
        (expect("cost.hour", at="10m", atMost="0.5"), expect("cost.hour", at="10m", atLeast="0.4999")),
    ],
)
def test_what_can_be_kept_together_is_let_through(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert faults([one, other]) == []
    assert faults([other, one]) == []


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            expect(READY, namespace="shopp", at="1m", **{"is": 1}),
            "expect[0].namespace: unknown: 'shopp' (no manifest of ",
        ),
        (
            expect(READY, namespace="shop", workload="web", at="1m", **{"is": 1}),
            "expect[0].namespace: there is no web in shop (it is in default)",
        ),
    ],
)
def test_an_expectation_of_what_is_not_there_is_named(one: dict[str, Any], said: str) -> None:
    [fault] = faults([one])
    assert fault.startswith(f"x.yaml: spec.{said}")


def test_a_node_that_cannot_be_is_named_and_one_of_the_cloud_may_come() -> None:
    def cordon(name: str) -> list[str]:
        return faults([], events=[{"at": "1m", "do": "cordon", "node": name}])

    assert cordon("floor") == cordon("ip-10-0-0-4.ec2.internal") == []
    [fault] = cordon("flor")
    assert fault.startswith("x.yaml: spec.events[0].node: unknown: 'flor' (no manifest of the scenario has it; Nodes ")
