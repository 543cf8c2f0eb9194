"""The exercise with the real kubectl: nodes come while somebody watches, pods run within a minute, the limit holds."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from baseload.values import instant
from tests.cli.servers import running
from tests.servers import kubectls

EXERCISE = Path(__file__).parents[2] / "examples" / "exercise"
FAMILIES = ("m5.", "c5.")
LIMIT = 500
POD = 1.5  # vCPU


@dataclass(frozen=True, slots=True)
class Kubectl:
    """The real kubectl with a cluster's kubeconfig."""

    home: Path

    def command(self, *arguments: str) -> list[str]:
        config, cache = f"--kubeconfig={self.home / 'config'}", f"--cache-dir={self.home / 'cache'}"
        return [str(kubectls.program(kubectls.NEW)), config, cache, *arguments]

    def __call__(self, *arguments: str) -> str:
        return subprocess.run(self.command(*arguments), check=True, capture_output=True, text=True, timeout=120).stdout

    def items(self, *arguments: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self("get", *arguments, "-o", "json"))["items"]
        return found

    @contextmanager
    def watching(self, kind: str) -> Iterator[Callable[[], list[list[str]]]]:
        """The rows that `get KIND -w` has shown so far, as words."""
        shown, command = self.home / "watched", self.command("get", kind, "-w", "--no-headers")
        with shown.open("w") as out, subprocess.Popen(command, stdout=out) as watch:
            try:
                yield lambda: [line.split() for line in shown.read_text().splitlines()]
            finally:
                watch.kill()


def until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.3)


def condition(object: dict[str, Any], type: str) -> dict[str, str]:
    conditions = object.get("status", {}).get("conditions", [])
    found = [it for it in conditions if (it["type"], it["status"]) == (type, "True")]
    return found[0] if found else {}


def waited(pod: dict[str, Any]) -> float:
    """Seconds of the cluster's time from the pod's creation until it was Ready."""
    ready = instant.parse(condition(pod, "Ready")["lastTransitionTime"])
    return (ready - instant.parse(pod["metadata"]["creationTimestamp"])) / 10**9


def vcpus(claims: list[dict[str, Any]]) -> int:
    return sum(int(claim.get("status", {}).get("capacity", {}).get("cpu", "0")) for claim in claims)


def exercise(home: Path, speed: int) -> None:
    kubectl = Kubectl(home)
    there = [argument for name in ("nodes", "running") for argument in ("-f", str(EXERCISE / f"{name}.yaml"))]
    with running("up", "--speed", str(speed), "--kubeconfig", str(home / "config"), *there):
        kubectl("apply", "-f", str(EXERCISE / "nodeclass.yaml"), "-f", str(EXERCISE / "nodepool.yaml"))
        with kubectl.watching("nodeclaims") as rows:
            kubectl("apply", "-f", str(EXERCISE / "inflate.yaml"))
            kubectl("wait", "--for=condition=Available", "deployment/inflate", "--timeout=90s")
            pods_run(kubectl, slack=1 if speed == 1 else 3)
            until(lambda: bool(rows()) and rows()[-1][5] == "True", 60)
            comes_into_sight(rows())
        kubectl("scale", "deployment", "inflate", "--replicas=400")
        limit_holds(kubectl, 600 / speed + 60)


def pods_run(kubectl: Kubectl, slack: int) -> None:
    pods = kubectl.items("pods", "-l", "app=inflate")
    assert len(pods) == 5
    assert max(waited(pod) for pod in pods) <= 60 * slack
    elastic = {claim["status"]["nodeName"] for claim in kubectl.items("nodeclaims")}
    assert {pod["spec"]["nodeName"] for pod in pods} <= elastic, "none of them had room on what was there"


def comes_into_sight(rows: list[list[str]]) -> None:
    """A row of `get nodeclaims` is NAME TYPE CAPACITY ZONE NODE READY AGE; what is not known yet is left out."""
    name, first, last = rows[0][0], rows[0], rows[-1]
    assert {row[0] for row in rows} == {name}
    assert len(first) < len(last), "it is seen before it has a machine"
    assert last[1].startswith(FAMILIES)
    assert last[2] == "spot"
    assert last[3].startswith("us-east-1")


def limit_holds(kubectl: Kubectl, seconds: float) -> None:
    most: list[int] = []

    def is_spent() -> bool:
        claims = kubectl.items("nodeclaims")
        most.append(vcpus(claims))
        return most[-1] > LIMIT - 20 and all(condition(claim, "Initialized") for claim in claims)

    until(is_spent, seconds)
    until(lambda: counts(kubectl)["Running"] >= (LIMIT - 20) / POD * 0.9, seconds)
    assert max(most) <= LIMIT
    assert counts(kubectl)["Pending"] == 400 - counts(kubectl)["Running"] >= 400 - LIMIT / POD
    pool = json.loads(kubectl("get", "nodepool", "default", "-o", "json"))
    assert int(pool["status"]["resources"]["cpu"]) == most[-1]
    assert all(isinstance(claim["status"]["capacity"]["cpu"], str) for claim in kubectl.items("nodeclaims"))


def counts(kubectl: Kubectl) -> dict[str, int]:
    phases = kubectl("get", "pods", "-l", "app=inflate", "-o", "jsonpath={.items[*].status.phase}").split()
    return {phase: phases.count(phase) for phase in ("Running", "Pending")}


def test_nodes_come_before_ones_eyes_and_the_limit_holds(tmp_path: Path) -> None:
    exercise(tmp_path, speed=20)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_so_they_do_in_wall_time(tmp_path: Path) -> None:
    exercise(tmp_path, speed=1)
