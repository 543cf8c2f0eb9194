"""kubectl get -w and wait."""

import json
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl
from tests.kubectl.recorded import Recorded

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


def test_a_watch_shows_what_happens_as_rows(kubectl: Kubectl, recorded: Recorded) -> None:
    kubectl("create", "-f", "-", stdin=manifests.NODE_CLAIM)
    with running(kubectl, "get", "nodeclaims", "-w") as rows:
        shown = [rows.readline(), rows.readline()]
        condition = {"type": "Ready", "status": "True", "reason": "Ready", "lastTransitionTime": "2026-11-30T12:00:00Z"}
        ready = json.dumps({"status": {"nodeName": "n1", "conditions": [{**condition, "message": ""}]}})
        kubectl("patch", "nodeclaim", "default-x1", "--subresource=status", "--type=merge", "-p", ready)
        shown.append(rows.readline())
        kubectl("create", "-f", "-", stdin=manifests.NODE_CLAIM.replace("default-x1", "default-a-long-name"))
        shown.append(rows.readline())
        kubectl("delete", "nodeclaim", "default-x1")
        shown.append(rows.readline())

    recorded("watch/nodeclaims.txt", "".join(map(_ageless, shown)))


def _ageless(row: str) -> str:
    """A row without its age, which stands last."""
    return re.sub(r"(\d+[smh])+$", "AGE", row)


def test_a_watch_of_one_object_begins_with_what_it_is(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=f"{manifests.pod('a')}---{manifests.pod('b')}")
    with running(kubectl, "get", "pod", "a", "-w", "-o", 'jsonpath={.metadata.name} {.status.phase}{"\\n"}') as rows:
        assert rows.readline() == "a Pending\n"
        kubectl("patch", "pod", "a", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Running"}}')
        assert rows.readline() == "a Running\n"


def test_a_watch_of_changes_alone_leaves_out_what_there_is(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.pod("a"))
    with running(kubectl, "get", "pods", "--watch-only", "-o", "name") as rows:
        assert _first_of(rows, kubectl) == "pod/b\n"


def _first_of(rows: IO[str], kubectl: Kubectl) -> str:
    """What a watch tells first, of pods that are made until it tells something."""
    while not select.select([rows], [], [], 0)[0]:
        kubectl("replace", "--force", "-f", "-", stdin=manifests.pod("b"))
    return rows.readline()


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

    refusal = kubectl.refused("wait", "--for=delete", "node/n1", "--timeout=3s")
    assert refusal.endswith("error: timed out waiting for the condition on nodes/n1\n")
