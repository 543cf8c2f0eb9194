"""Karpenter is ended in place of each of its writes and cloud calls: nothing leaks, nothing is launched twice."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.replay.stories import NODE_CLASS, SMALL, deployment, lived, pool, verdicts


def story(folder: Path, after: int | None) -> int:
    """Pods come, their claim's node is deleted, they move, and in the end go; how many writes and calls that took."""
    killed = {"at": "0s", "do": "killController", "controller": "karpenter", "afterWrites": after}
    events: list[dict[str, Any]] = [
        {"at": "2s", "do": "scale", "workload": "web", "replicas": 3},
        {"at": "5m", "do": "nodeFailure", "nodePool": "default", "failure": "Dies"},
        {"at": "12m", "do": "scale", "workload": "web", "replicas": 0},
    ]
    report, _ = lived(
        folder,
        duration="15m",
        manifests=[NODE_CLASS, pool(SMALL), deployment("web", 0, cpu="300m")],
        events=[*([killed] if after is not None else []), *events],
        expect=[
            {"series": "pods.ready", "workload": "web", "at": "4m", "is": 3},
            {"series": "pods.ready", "workload": "web", "at": "11m", "is": 3},
            {"series": "launches", "at": "15m", "is": 2},
            {"series": "nodeClaims.total", "at": "15m", "is": 1},
            {"series": "instances", "at": "15m", "is": 1},
            {"series": "nodes.total", "at": "15m", "is": 1},
            {
                "series": "controllers.starts",
                "controller": "karpenter",
                "at": "15m",
                "atLeast": 1 if after is None else 2,
            },
        ],
    )
    assert verdicts(report) == ["holds"] * 7, (after, verdicts(report))
    writes = report.figures["karpenter.writes"]
    assert isinstance(writes, int)
    return writes


def interrupted(folder: Path, points: Iterable[int]) -> int:
    """How many runs were ended at these points, each of which came out well."""
    return sum(story(folder, after) > 0 for after in points)


def test_ended_between_two_writes_it_goes_on_where_it_was(tmp_path: Path) -> None:
    writes = story(tmp_path, None)
    assert writes > 20
    assert interrupted(tmp_path, (2, 5, writes // 2)) == 3


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_same_at_every_point(tmp_path: Path) -> None:
    writes = story(tmp_path, None)
    assert interrupted(tmp_path, range(writes)) == writes
