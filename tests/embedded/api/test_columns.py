"""What stands in the cells of a table: ages, paths of custom columns, the state of a pod."""

import pytest

from baseload.embedded.api import jsonpath, pod_rows
from baseload.embedded.store.record import Json
from baseload.values import span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (600, "10m"),
        (3 * 3600, "3h"),
        (7 * 3600 + 60, "7h1m"),
        (47 * 3600, "47h"),
        (3 * 86400 + 7200, "3d2h"),
        (400 * 86400, "400d"),
        (740 * 86400, "2y10d"),
        (9 * 365 * 86400, "9y"),
        (-5, "<invalid>"),
    ],
)
def test_ages_are_told_in_at_most_two_units(seconds: int, text: str) -> None:
    assert span.text(seconds) == text


TREE: Json = {
    "metadata": {"labels": {"karpenter.sh/nodepool": "default"}},
    "spec": {"taints": [{"key": "a"}, {"key": "b"}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Drifted", "status": "False"}]},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (r".metadata.labels.karpenter\.sh/nodepool", ["default"]),
        (".metadata.labels['karpenter.sh/nodepool']", ["default"]),
        ('.status.conditions[?(@.type=="Drifted")].status', ["False"]),
        (".spec.taints[0].key", ["a"]),
        (".spec.taints[-1].key", ["b"]),
        (".spec.taints[*].key", ["a", "b"]),
        ("{.spec.taints[1].key}", ["b"]),
        (".spec.absent.key", []),
        (".spec.taints[7].key", []),
        (".spec..", []),
        ("[?(", []),
    ],
)
def test_paths_of_columns_lead_to_values_or_nowhere(path: str, found: list[Json]) -> None:
    assert jsonpath.find(TREE, path) == found


def container(**state: Json) -> dict[str, Json]:
    return {"status": {"phase": "Running", "containerStatuses": [{"state": dict(state)}]}}


@pytest.mark.parametrize(
    ("pod", "text"),
    [
        ({"status": {"phase": "Pending"}}, "Pending"),
        ({"status": {"phase": "Failed", "reason": "Evicted"}}, "Evicted"),
        ({"status": {"phase": "Running"}, "metadata": {"deletionTimestamp": "x"}}, "Terminating"),
        (container(waiting={"reason": "CrashLoopBackOff"}), "CrashLoopBackOff"),
        (container(terminated={"reason": "OOMKilled", "exitCode": 137}), "OOMKilled"),
        (container(terminated={"exitCode": 3}), "ExitCode:3"),
        (
            {
                "spec": {"initContainers": [{"name": "a"}, {"name": "b"}]},
                "status": {"phase": "Pending", "initContainerStatuses": [{"state": {"waiting": {}}}]},
            },
            "Init:0/2",
        ),
    ],
)
def test_the_state_of_a_pod_is_what_is_most_to_the_point(pod: dict[str, Json], text: str) -> None:
    assert pod_rows.status(pod, 0) == text
