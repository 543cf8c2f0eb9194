"""A status is patched by a short way; what comes out is what the long way, over the whole object, makes."""

import json
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from baseload.embedded.api import status_patches
from tests.embedded.api.calling import MERGE, PODS, Server, pod

STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}
CONDITION = st.fixed_dictionaries(
    {"type": st.sampled_from(["Ready", "Initialized", "PodScheduled"]), "status": st.sampled_from(["True", "False"])},
    optional={"lastProbeTime": st.none(), "message": st.sampled_from(["a", 'null":null', ""])},
)
STATUS = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.sampled_from(["Pending", "Running", None]),
        "podIP": st.sampled_from(["10.0.0.1", "10.0.0.2"]),
        "conditions": st.none() | st.lists(CONDITION, max_size=3, unique_by=lambda held: str(held["type"])),
        "podIPs": st.lists(st.fixed_dictionaries({"ip": st.sampled_from(["10.0.0.1", "10.0.0.2"])}), max_size=2),
        "hostIp": st.just("misspelt"),
        "observedGeneration": st.sampled_from([1, "one"]),
    },
)
PATCH = st.fixed_dictionaries(
    {"status": STATUS},
    optional={
        "metadata": st.sampled_from([{}, {"name": "a"}, {"name": "b"}, {"labels": {"x": "1"}}, {"uid": "other"}]),
        "spec": st.just({"nodeName": "n"}),
    },
)
STEPS = st.lists(st.tuples(st.sampled_from(["kubelet", "ctl"]), st.booleans(), PATCH), min_size=1, max_size=4)


def after(steps: list[tuple[str, bool, Any]]) -> list[tuple[int, Any]]:
    """What the answers to patches of a new pod's status are, one after the other."""
    server = Server()
    server.call("POST", PODS, pod("a"))
    answers = []
    for seconds, (manager, strategic, patch) in enumerate(steps):
        server.clock.forward(seconds)
        headers = {**(STRATEGIC if strategic else MERGE), "user-agent": f"{manager}/1"}
        answer = server.call("PATCH", f"{PODS}/a/status", patch, headers)
        answers.append((answer.code, answer.tree))
    return answers


@given(STEPS)
def test_both_ways_end_alike(steps: list[tuple[str, bool, Any]]) -> None:
    with mock.patch.object(status_patches, "patched", return_value=None):
        wanted = after(steps)

    assert after(steps) == wanted


def test_saying_what_is_there_already_makes_no_version() -> None:
    server = Server()
    server.call("POST", PODS, pod("a"))
    said = {"status": {"phase": "Running", "podIP": "10.0.0.1"}}

    versions = []
    for _ in range(2):
        server.clock.forward(5)
        answer = server.call("PATCH", f"{PODS}/a/status", json.dumps(said).encode(), MERGE)
        versions.append(answer.tree["metadata"]["resourceVersion"])

    assert versions[0] == versions[1]
