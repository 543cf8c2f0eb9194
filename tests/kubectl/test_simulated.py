"""What kubectl prints where a pod would have to run."""

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

pytestmark = pytest.mark.embedded_only("pods are simulated")
RUNNING = '{"status":{"phase":"Running"}}'


@pytest.fixture
def running(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "-", stdin=manifests.POD.replace("NAME", "web").replace("NODE", "n1"))
    kubectl("patch", "pod", "web", "--subresource=status", "--type=merge", "-p", RUNNING)
    return kubectl


def test_logs_say_that_the_pod_is_simulated_and_end_well(running: Kubectl) -> None:
    line = "pod default/web is simulated: it runs no container and writes no log\n"

    assert running("logs", "web") == line
    assert running("logs", "-f", "--tail=5", "web") == line
    assert running("logs", "-l", "app=web", "--prefix") == f"[pod/web/main] {line}"
    assert "previous terminated container" in running.refused("logs", "-p", "web")
    assert "container x is not valid for pod web" in running.refused("logs", "web", "-c", "x")


@pytest.mark.new_kubectl  # the elder one puts other words before the server's
@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("exec", "web", "--", "ls"), "it runs no container to run a command in"),
        (("attach", "web"), "it runs no container to attach to"),
        (("port-forward", "web", "18080:80"), "it runs no container to forward a port to"),
        (("cp", "web:/etc/passwd", "copied"), "it runs no container to run a command in"),
    ],
)
def test_what_needs_a_process_fails_in_one_clear_line(running: Kubectl, command: tuple[str, ...], why: str) -> None:
    said = running.refused(*command).splitlines()

    assert said[-1].startswith("error: ")
    assert said[-1].endswith(f"unable to upgrade connection: pod default/web is simulated: {why}")


def test_debug_adds_a_container_to_the_pod(running: Kubectl) -> None:
    running("debug", "web", "--image=busybox", "--container=look", "--profile=general")

    path = "jsonpath={.spec.ephemeralContainers[*].name}"
    assert running("get", "pod", "web", "-o", path) == "look"
