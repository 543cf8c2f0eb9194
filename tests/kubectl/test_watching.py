"""kubectl get -w and wait."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

pytestmark = pytest.mark.both_kubectls


@contextmanager
def running(kubectl: Kubectl, *arguments: str) -> Iterator[IO[str]]:
    """The output of a command that goes on."""
    command = kubectl.command(*arguments)
    with subprocess.Popen(command, env=kubectl.environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.kill()


def test_a_watch_shows_what_happens_as_rows(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.NODE_CLAIM)
    with running(kubectl, "get", "nodeclaims", "-w") as rows:
        head, first = rows.readline(), rows.readline()
        condition = {"type": "Ready", "status": "True", "reason": "Ready", "lastTransitionTime": "2026-11-30T12:00:00Z"}
        ready = json.dumps({"status": {"nodeName": "n1", "conditions": [{**condition, "message": ""}]}})
        kubectl("patch", "nodeclaim", "default-x1", "--subresource=status", "--type=merge", "-p", ready)
        second = rows.readline()

    assert head.split() == ["NAME", "TYPE", "CAPACITY", "ZONE", "NODE", "READY", "AGE"]
    assert first.split()[:-1] == ["default-x1", "m7g.large", "spot", "eu-west-1a"]
    assert second.split()[:-1] == ["default-x1", "m7g.large", "spot", "eu-west-1a", "n1", "True"]


def test_a_watch_follows_the_selector(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=f"{manifests.pod('a')}---{manifests.pod('b')}")
    with running(kubectl, "get", "pods", "-w", "-l", "app=b", "--no-headers", "--output-watch-events") as rows:
        assert rows.readline().split()[:2] == ["ADDED", "b"]
        kubectl("label", "pod", "a", "other=x")
        kubectl("label", "pod", "b", "--overwrite", "app=c")
        assert rows.readline().split()[:2] == ["DELETED", "b"]


def test_wait_ends_when_the_condition_is_met_or_the_time_is_over(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.node("n1"))
    with running(kubectl, "wait", "--for=condition=Ready", "node/n1", "--timeout=20s") as told:
        ready = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
        kubectl("patch", "node", "n1", "--subresource=status", "--type=merge", "-p", ready)
        assert told.readline() == "node/n1 condition met\n"

    refusal = kubectl.refused("wait", "--for=delete", "node/n1", "--timeout=1s")
    assert refusal.endswith("error: timed out waiting for the condition on nodes/n1\n")
