"""Actors at the API: what they write is what a request would have written, and only to the object that they mean."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.pods import Condition, PodStatus, status
from baseload.embedded.store.errors import Conflict
from tests.embedded.actors.acting import Stage, pod

RUNNING = PodStatus("Running", (Condition("Ready", "True", last_transition_time="2026-11-30T12:00:00Z"),))


def test_a_written_status_is_managed_like_one_that_was_patched() -> None:
    stage = Stage()
    kubelet = ActorClient(stage.cluster, "kubelet")
    written, patched = stage.create(pod("written")), stage.create(pod("patched"))
    told = msgspec.structs.replace(RUNNING, qos_class="BestEffort")

    kubelet.write_status(written, told, "running")
    kubelet.merge(patched, {"status": msgspec.to_builtins(told)}, "status")

    one, other = stage.tree("", "Pod", "written"), stage.tree("", "Pod", "patched")
    assert one["status"] == other["status"]
    mine, theirs = (
        next(entry for entry in tree["metadata"]["managedFields"] if entry["manager"] == "kubelet")
        for tree in (one, other)
    )
    # A patch owns what it changed, which the class of service was not; a kubelet that writes it all owns it all.
    del mine["fieldsV1"]["f:status"]["f:qosClass"]
    assert mine == theirs


def test_writing_again_renews_the_one_entry() -> None:
    stage = Stage()
    kubelet = ActorClient(stage.cluster, "kubelet")
    held = kubelet.write_status(stage.create(pod("a")), RUNNING, "running")
    stage.run(60)

    kubelet.write_status(held, msgspec.structs.replace(RUNNING, pod_ip="10.0.0.1"), "addressed")

    entries = stage.tree("", "Pod", "a")["metadata"]["managedFields"]
    assert [(entry["manager"], entry["time"]) for entry in entries] == [
        ("user", "2026-11-30T12:00:00Z"),
        ("kubelet", "2026-11-30T12:01:00Z"),
    ]


def test_a_bound_pod_says_so_and_is_bound_once() -> None:
    stage = Stage()
    scheduler = ActorClient(stage.cluster, "kube-scheduler")
    made = stage.create(pod("a"))

    bound = scheduler.bind(made, "n1")

    assert bound.node == "n1"
    condition = status(bound).condition("PodScheduled")
    assert condition is not None
    assert (condition.status, condition.last_transition_time) == ("True", "2026-11-30T12:00:00Z")
    with pytest.raises(Conflict, match='already assigned to node "n1"'):
        scheduler.bind(bound, "n2")


def test_who_took_the_name_since_is_not_written_to() -> None:
    stage = Stage()
    kubelet = ActorClient(stage.cluster, "kubelet")
    first = stage.create(pod("a"))
    stage.user.delete(first)
    stage.create(pod("a"))

    with pytest.raises(Conflict, match="Precondition failed: UID in precondition"):
        kubelet.write_status(first, RUNNING, "running")
    with pytest.raises(Conflict, match="UID"):
        kubelet.delete(first)
    with pytest.raises(Conflict, match="UID"):
        kubelet.merge(first, {"status": {"phase": "Running"}}, "status")


def test_changes_are_heard_by_their_class() -> None:
    stage = Stage()
    rings: list[int] = []
    heard = stage.user.subscribe("", "Pod", ("bound",), lambda: rings.append(1))
    made = stage.create(pod("a"))
    stage.user.bind(made, "n1")

    assert [(event.type, event.record.node) for event in heard.take()] == [("MODIFIED", "n1")]
    assert rings == [1]


TAINTS = [None, [{"key": "a", "effect": "NoSchedule"}], [{"key": "b", "value": "1", "effect": "NoExecute"}], []]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["kubelet", "cni", "cloud"]),
        st.sampled_from([{"taints": taints} for taints in TAINTS] + [{"unschedulable": True}, {"unschedulable": None}]),
    ),
    max_size=6,
)


def respecced(steps: list[tuple[str, dict[str, Any]]], *, merges: bool) -> dict[str, Any]:
    stage = Stage()
    node = stage.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": {"providerID": "p"}})
    for manager, changes in steps:
        stage.run(1)
        client = ActorClient(stage.cluster, manager)
        if merges:
            client.merge(node, {"spec": changes})
        else:
            client.respec(node, changes)
    tree: dict[str, Any] = stage.tree("", "Node", "a")
    return tree


@settings(max_examples=40)
@given(STEPS)
def test_fields_of_a_spec_change_as_by_a_patch(steps: list[tuple[str, dict[str, Any]]]) -> None:
    steps = [(who, {name: value or None for name, value in changes.items()}) for who, changes in steps]
    assert respecced(steps, merges=False) == respecced(steps, merges=True)
