"""A provisioner that lives in the cluster that it provisions: what keeps it from ever beginning, and who says so."""

import os
import subprocess
import sys

import pytest

from tests.scenarios.living import FOLDER, lived, seconds, spec_of


def test_the_deadlock_is_named_with_the_pod_and_what_to_do() -> None:
    [note] = lived("a_hosted-cold").report.notes
    assert note.startswith("deadlock: karpenter does not run, since it lives in pods that wait for a node (karpenter/")
    assert note.endswith("for 12h0m0s), and only karpenter launches nodes: give it nodes of their own")


def test_the_same_cluster_on_a_floor_is_no_deadlock() -> None:
    assert lived("a_hosted-on-a-floor").report.notes == ()
    cold, floor = spec_of("a_hosted-cold"), spec_of("a_hosted-on-a-floor")
    assert [path for path in floor["manifests"] if not path.endswith("nodes.yaml")] == cold["manifests"]
    assert floor["controllers"] == cold["controllers"]


def test_evicted_it_is_down_until_its_next_pod_is_ready() -> None:
    life = lived("a_hosted-on-a-floor")
    stopped, started = (
        [moment for moment in seconds(life.told(event, object="karpenter"), life.report.start) if moment > 60]
        for event in ("controller.stopped", "controller.started")
    )
    assert [int(moment) for moment in stopped] == [6 * 3600 + 1], "which its containers take to end"
    begun = seconds(life.told("controller.started", object="karpenter"), life.report.start)[0]
    assert len(started) == 1
    assert 0 < started[0] - stopped[0] < 60
    assert life.figure("controllers.downTime") == pytest.approx(begun + started[0] - stopped[0])


def test_the_command_tells_of_the_deadlock_and_ends_well_where_that_was_expected() -> None:
    command = [sys.executable, "-m", "baseload", "replay", "--check", str(FOLDER / "a_hosted-cold.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=50)
    assert done.returncode == 0, done.stderr
    assert "deadlock: karpenter does not run" in done.stdout
