"""A scenario with something wrong in it is refused with every fault at its path, and nothing runs."""

from pathlib import Path
from typing import Any

import pytest

from baseload.replay import scenario
from baseload.values.errors import BadInput
from tests.replay.stories import NODE_CLASS, deployment, pool, tree

FILE = "story.yaml"


def faults(**spec: Any) -> list[str]:
    try:
        scenario.of_tree(tree(**spec), FILE)
    except BadInput as error:
        return [str(fault) for fault in error.faults]
    return []


def test_a_scenario_that_says_little_is_a_scenario() -> None:
    assert faults() == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"durations": "1h"},
            "spec.durations: is no known setting (did you mean duration? allowed: start, duration, seed, region, "
            "manifests, cloud, controllers, workloads, checkEvery, events, expect)",
        ),
        ({"duration": "soon"}, "spec.duration: Invalid value: 'soon' ("),
        ({"duration": "20000h"}, "spec.duration: is longer than a year: 20000h0m0s (at most 8784h)"),
        ({"start": "yesterday"}, "spec.start: Invalid value: 'yesterday' ("),
        ({"seed": -1}, "spec.seed: Invalid value: -1 (a whole number, 0 or more)"),
        ({"region": "us-east-9"}, "spec.region: unknown: us-east-9 (did you mean us-east-2? one of "),
        ({"manifests": ["missing.yaml"]}, "spec.manifests[0]: there is no file missing.yaml"),
        ({"manifests": ["n" * 300]}, f"spec.manifests[0]: there is no file {'n' * 60}..."),
        ({"manifests": [3]}, "spec.manifests[0]: Invalid value: 3 (a file, relative to the scenario, or an object)"),
        ({"cloud": {"spott": {}}}, "spec.cloud.spott: is no known setting (did you mean spot? "),
        (
            {"cloud": {"outages": [{"zone": "us-east-1z"}]}},
            "spec.cloud.outages[0].zone: Invalid value: 'us-east-1z' (",
        ),
        ({"controllers": [{"name": "karpentr"}]}, "spec.controllers[0].name: Invalid value: 'karpentr' ("),
        (
            {"controllers": [{"name": "karpenter", "options": {"batchIdle": "1s"}}]},
            "spec.controllers[0].options.batchIdle: is no known setting (",
        ),
        (
            {"controllers": [{"name": "kubelet", "hostedBy": {"selector": "a=b"}}]},
            "spec.controllers[0].hostedBy: kubelet lives outside of the cluster (of karpenter, scheduler, ",
        ),
        (
            {"controllers": [{"name": "karpenter", "hostedBy": {}}]},
            "spec.controllers[0].hostedBy.selector: Required value (a text)",
        ),
        (
            {"controllers": [{"name": "kubelet"}, {"name": "kubelet"}]},
            "spec.controllers[1].name: Duplicate value: kubelet",
        ),
        ({"controllers": [{"name": "cni", "enabled": False}]}, "spec.controllers[0].enabled: cni is always there ("),
        ({"workloads": [{"name": "a", "exitsAfter": "later"}]}, 'spec.workloads[0].exitsAfter: "later" is not a '),
        (
            {"workloads": [{"name": "a", "exitsAfter": "9" * 400}]},
            "spec.workloads[0].exitsAfter: is longer than 100 years: ",
        ),
        ({"workloads": [{"name": "a", "exits_after": 1}]}, "spec.workloads[0].exits_after: is not known here ("),
    ],
)
def test_what_is_set_wrongly_is_named_with_what_is_allowed(spec: dict[str, Any], expected: str) -> None:
    found = faults(**spec)
    assert len(found) == 1
    assert found[0].startswith(f"{FILE}: {expected}")


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"at": "1m", "do": "scael"}, ".do: Invalid value: 'scael' (did you mean scale? one of apply, delete, scale, "),
        ({"at": "1m"}, ".do: Required value (one of apply, "),
        ({"do": "apiDown"}, ".at: Required value (a duration from the start, e.g. 10m; or cron, a schedule)"),
        ({"at": "11m", "do": "apiDown"}, ".at: 11m0s is after the end (at most 10m0s)"),
        ({"at": "1m", "do": "apiDown", "every": "2m", "repeat": 6}, ".repeat: the last is at 11m0s, after the end ("),
        ({"at": "1m", "do": "apiDown", "repeat": 6}, ".repeat: says nothing without every (give every, e.g. 1h)"),
        ({"cron": "* * *", "do": "apiDown"}, '.cron: "* * *" is not a schedule: '),
        ({"cron": "0 8 * * *", "do": "apiDown"}, ".cron: is not due before the end (something within 10m0s)"),
        ({"cron": "* * * * *", "timeZone": "Mars", "do": "apiDown"}, ".timeZone: is no time zone (e.g. Europe/Berlin)"),
        ({"cron": "* * * * *", "at": "1m", "do": "apiDown"}, ".at: says nothing beside cron ("),
        ({"at": "1m", "do": "scale", "workload": "web"}, ".replicas: Required value ("),
        ({"at": "1m", "do": "scale", "workload": "wbe", "replicas": 1}, ".workload: unknown: 'wbe' (no manifest of "),
        ({"at": "1m", "do": "interrupt"}, ": says of no Node that it is meant (at least one of node, nodePool, "),
        ({"at": "1m", "do": "interrupt", "nodePool": "gpu"}, ".nodePool: unknown: 'gpu' (no manifest of the scenario "),
        ({"at": "1m", "do": "interrupt", "node": "ip-10-0-0-4.x", "count": 1}, ".node: is one Node, beside count ("),
        (
            {"at": "1m", "do": "interrupt", "nodePool": "default", "count": 1, "percent": 3},
            ".percent: beside count (leave one of them out)",
        ),
        ({"at": "1m", "do": "zoneDown", "zone": "us-east-1z"}, ".zone: unknown: 'us-east-1z' (one of us-east-1a, "),
        ({"at": "1m", "do": "outOfCapacity", "zones": ["x"]}, ".zones[0]: unknown: 'x' (one of us-east-1a, "),
        ({"at": "1m", "do": "apply", "manifests": ["gone.yaml"]}, ".manifests[0]: there is no file gone.yaml"),
        ({"at": "1m", "do": "delete", "kind": "Deploment", "name": "a"}, ".kind: unknown: 'Deploment' (did you mean "),
        ({"at": "1m", "do": "loadCurve", "workload": "web"}, ": does nothing (give cpu or memory)"),
        ({"at": "1m", "do": "loadCurve", "workload": "web", "cpu": {"1m": 1, "0s": 2}}, ".cpu: Invalid value: "),
        ({"at": "1m", "do": "cloudFault", "call": "CreateFleet"}, ": does nothing (give error, delay or lost)"),
        (
            {"at": "1m", "do": "killController", "controller": "me"},
            ".controller: Invalid value: 'me' (one of karpenter",
        ),
        (
            {"at": "1m", "do": "killController", "controller": "scheduler", "afterWrites": 3},
            ".afterWrites: is not of scheduler (of karpenter alone)",
        ),
        ({"at": "1m", "do": "apiDown", "delay": "3s"}, ".delay: is no known setting (allowed: "),
        ({"at": "1m", "do": "apiDown", "controllers": ["sheduler"]}, ".controllers: Invalid value: "),
    ],
)
def test_an_event_that_cannot_be_is_named(event: dict[str, Any], expected: str) -> None:
    found = faults(manifests=[NODE_CLASS, pool(), deployment("web", 1)], events=[{"at": "0s", "do": "apiDown"}, event])
    assert len(found) == 1, found
    assert found[0].startswith(f"{FILE}: spec.events[1]{expected}")


@pytest.mark.parametrize(
    ("expectation", "expected"),
    [
        (
            {"series": "pods.pendin", "at": "1m", "is": 0},
            ".series: Invalid value: 'pods.pendin' (did you mean pods.pending? one of ",
        ),
        ({"is": 1, "at": "1m"}, ".series: Required value ("),
        ({"series": "launches", "is": 1}, ": says not when (one of at, always, eventually, within)"),
        ({"series": "launches", "at": "1m", "always": True, "is": 1}, ": says at and always (one of at, "),
        ({"series": "launches", "at": "1m"}, ": says not what is expected (one of is, isNot, atMost, "),
        ({"series": "launches", "at": "11m", "is": 1}, ".at: 11m0s is after the end (at most 10m0s)"),
        ({"series": "launches", "at": "9m", "for": "2m", "is": 1}, ".at: 11m0s is after the end (at most 10m0s)"),
        ({"series": "launches", "within": "9m", "after": "2m", "is": 1}, ".within: 11m0s is after the end ("),
        (
            {"series": "launches", "at": "1m", "after": "2m", "is": 1},
            ".after: says nothing beside at (of within alone)",
        ),
        ({"series": "launches", "always": {"until": "11m"}, "is": 1}, ".always.until: 11m0s is after the end ("),
        (
            {"series": "launches", "always": {"from": "5m", "until": "4m"}, "is": 1},
            ".always: the interval from 5m0s to 4m0s is empty",
        ),
        ({"series": "launches", "always": True, "for": "1m", "is": 1}, ".for: says nothing beside always ("),
        (
            {"series": "launches", "always": {"form": "1m"}, "is": 1},
            ".always: Invalid value: {'form': '1m'} (true, or ",
        ),
        (
            {"series": "launches", "at": "1m", "atMost": 1, "atLeast": 2},
            ": is at most 1 and is at least 2: no number does (",
        ),
        ({"series": "launches", "at": "1m", "is": 1.5}, ": is 1.5: no number does (bounds that can be kept together)"),
        ({"series": "launches", "at": "1m", "below": 0}, ": is below 0: no series is ever below 0 (0 or more)"),
        ({"series": "launches", "at": "1m", "is": 1, "isNot": 1}, ": is 1 and is not 1: no number does ("),
        ({"series": "launches", "at": "1m", "is": "1e99999999"}, ".is: Invalid value: '1e99999999' (a number)"),
        ({"series": "launches", "at": "1m", "is": "many"}, ".is: Invalid value: 'many' (a number)"),
        ({"series": "launches", "workload": "web", "at": "1m", "is": 1}, ".workload: does not narrow launches (what "),
        (
            {"series": "pods.ready", "workload": "wbe", "at": "1m", "is": 1},
            ".workload: unknown: 'wbe' (no manifest of ",
        ),
        (
            {"series": "evictions", "cause": "drain", "at": "1m", "is": 1},
            ".cause: Invalid value: 'drain' (one of api, ",
        ),
        ({"series": "pods.pendingLongerThan", "at": "1m", "is": 1}, ".longerThan: Required value of pods."),
        ({"series": "launches", "longerThan": "1m", "at": "1m", "is": 1}, ".longerThan: is not of launches ("),
    ],
)
def test_an_expectation_that_cannot_be_met_is_named(expectation: dict[str, Any], expected: str) -> None:
    found = faults(manifests=[deployment("web", 1)], expect=[expectation])
    assert len(found) == 1, found
    assert found[0].startswith(f"{FILE}: spec.expect[0]{expected}")


def test_manifests_are_held_to_their_schemas(tmp_path: Path) -> None:
    broken = deployment("web", 1)
    broken["spec"]["replica"] = 3
    assert any("replica" in fault and FILE in fault for fault in faults(manifests=[broken]))
    (tmp_path / "web.yaml").write_text("apiVersion: v1\nkind: Pod\nspec: []\n", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        scenario.of_tree(tree(manifests=["web.yaml"]), str(tmp_path / FILE))
    assert all(fault.file == str(tmp_path / "web.yaml") for fault in caught.value.faults)


def test_everything_wrong_is_told_at_once() -> None:
    found = faults(
        seed="x",
        manifests=["none.yaml"],
        events=[{"at": "1h", "do": "apiDown"}, {"at": "1m", "do": "nothing"}],
        expect=[{"series": "launches", "at": "1m"}],
        cloud={"boot": {"running": "never"}},
    )
    paths = [fault.split(": ")[1] for fault in found]
    assert paths == [
        "spec.seed",
        "spec.manifests[0]",
        "spec.cloud.boot.running",
        "spec.events[0].at",
        "spec.events[1].do",
        "spec.expect[0]",
    ]


def test_what_is_no_scenario_is_refused_by_its_kind() -> None:
    with pytest.raises(BadInput) as caught:
        scenario.of_tree({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}, FILE)
    told = [str(fault) for fault in caught.value.faults]
    assert told[:2] == [
        f"{FILE}: apiVersion: Invalid value: 'v1' (one of baseload.dev/v1alpha1)",
        f"{FILE}: kind: Invalid value: 'Pod' (one of Scenario)",
    ]
    with pytest.raises(BadInput):
        scenario.of_tree([], FILE)


def test_a_workload_of_another_namespace_is_told_apart() -> None:
    found = faults(
        manifests=[deployment("web", 1, namespace="shop")],
        events=[{"at": "1m", "do": "scale", "workload": "web", "replicas": 2}],
    )
    assert found == [f"{FILE}: spec.events[0].namespace: there is no web in default (it is in shop)"]


def test_a_load_of_memory_may_be_as_large_as_machines_are() -> None:
    load = {"at": "1m", "do": "loadCurve", "workload": "web", "memory": {"0s": "1Gi", "5m": "2Ti"}}
    assert faults(manifests=[deployment("web", 1)], events=[load]) == []
    load["memory"] = "2Pi"
    assert faults(manifests=[deployment("web", 1)], events=[load])[0].startswith(f"{FILE}: spec.events[0].memory: ")
