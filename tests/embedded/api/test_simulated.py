"""What needs a running container is checked as elsewhere and then answered as what it is: a simulation."""

from collections.abc import Mapping
from typing import Final

import pytest

from tests.embedded.api.calling import MAPS, PODS, Answered, Server, pod

STRATEGIC: Final = {"content-type": "application/strategic-merge-patch+json"}
NODES: Final = "/api/v1/nodes"
SERVICES: Final = "/api/v1/namespaces/default/services"


def two_containers() -> dict[str, object]:
    containers = [{"name": "a", "image": "nginx:1"}, {"name": "b", "image": "nginx:1"}]
    first = [{"name": "i", "image": "nginx:1"}]
    spec = {"nodeName": "n", "containers": containers, "initContainers": first}
    return {"metadata": {"name": "two"}, "spec": spec}


def bound(name: str) -> dict[str, object]:
    spec = {"nodeName": "n", "containers": [{"name": "main", "image": "nginx:1"}]}
    return {"metadata": {"name": name}, "spec": spec}


@pytest.fixture
def server() -> Server:
    server = Server()
    for body in (pod("unbound"), bound("one"), two_containers()):
        assert server.call("POST", PODS, body).code == 201
    return server


def told(answer: Answered) -> tuple[int, str, str]:
    return answer.code, answer.reason, answer.message


def test_the_log_of_a_pod_on_a_node_is_one_line_that_says_there_is_none(server: Server) -> None:
    answer = server.call("GET", f"{PODS}/one/log")

    assert (answer.code, answer.headers["content-type"]) == (200, "text/plain")
    assert answer.body == b"pod default/one is simulated: it runs no container and writes no log\n"
    assert server.call("GET", f"{PODS}/two/log?container=i&follow=true").code == 200
    assert server.call("GET", f"{PODS}/one/log?tailLines=0").body == b""
    assert server.call("GET", f"{PODS}/one/log?limitBytes=3").body == b"pod"
    stamped = server.call("GET", f"{PODS}/one/log?timestamps=true").body
    assert stamped.endswith(b"Z " + answer.body)


def test_a_pod_without_a_node_has_no_log_at_all(server: Server) -> None:
    answer = server.call("GET", f"{PODS}/unbound/log")

    assert (answer.code, answer.body) == (204, b"")


@pytest.mark.parametrize(
    ("path", "code", "reason", "message"),
    [
        ("absent/log", 404, "NotFound", 'pods "absent" not found'),
        (
            "two/log",
            400,
            "BadRequest",
            "a container name must be specified for pod two, choose one of: [i a b]",
        ),
        ("one/log?container=x", 400, "BadRequest", "container x is not valid for pod one"),
        (
            "one/log?previous=true",
            400,
            "BadRequest",
            'previous terminated container "main" in pod "one" not found',
        ),
        (
            "one/log?tailLines=-1",
            422,
            "Invalid",
            'PodLogOptions "one" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
        ),
        (
            "one/log?sinceSeconds=0",
            422,
            "Invalid",
            'PodLogOptions "one" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0',
        ),
        ("one/log?limitBytes=x", 400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax'),
        (
            "one/log?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
            422,
            "Invalid",
            'PodLogOptions "one" is invalid: []: Forbidden: '
            "at most one of `sinceTime` or `sinceSeconds` may be specified",
        ),
        ("unbound/exec", 400, "BadRequest", "pod unbound does not have a host assigned"),
        ("two/exec", 400, "BadRequest", "a container name must be specified for pod two, choose one of: [i a b]"),
        ("one/attach?container=x", 400, "BadRequest", "container x is not valid for pod one"),
        (
            "one/exec?command=ls",
            501,
            "NotImplemented",
            "pod default/one is simulated: it runs no container to run a command in",
        ),
        ("one/attach", 501, "NotImplemented", "pod default/one is simulated: it runs no container to attach to"),
        (
            "two/portforward",
            501,
            "NotImplemented",
            "pod default/two is simulated: it runs no container to forward a port to",
        ),
        ("one:80/proxy/a/b/c", 501, "NotImplemented", "pod default/one is simulated: nothing answers on its ports"),
    ],
)
def test_what_cannot_be_had_is_refused_in_words(
    server: Server, path: str, code: int, reason: str, message: str
) -> None:
    assert told(server.call("GET", f"{PODS}/{path}")) == (code, reason, message)
    if "/log" not in path:
        assert told(server.call("POST", f"{PODS}/{path}")) == (code, reason, message)
    else:
        assert server.call("POST", f"{PODS}/{path}").code == 405


def test_a_container_that_waits_has_no_log_yet(server: Server) -> None:
    waiting = {"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}
    server.call("PATCH", f"{PODS}/one/status", {"status": {"containerStatuses": [waiting]}}, STRATEGIC)

    answer = server.call("GET", f"{PODS}/one/log")

    message = 'container "main" in pod "one" is waiting to start: ContainerCreating'
    assert told(answer) == (400, "BadRequest", message)


def test_services_and_nodes_pass_nothing_on(server: Server) -> None:
    server.call("POST", NODES, {"metadata": {"name": "n"}})

    assert told(server.call("GET", f"{SERVICES}/https:web:443/proxy/x")) == (
        503,
        "ServiceUnavailable",
        'no endpoints available for service "web"',
    )
    assert told(server.call("GET", f"{NODES}/absent/proxy/metrics"))[2] == 'nodes "absent" not found'
    assert told(server.call("GET", f"{NODES}/n/proxy/metrics"))[0] == 501


def patched(server: Server, part: str, spec: Mapping[str, object]) -> Answered:
    return server.call("PATCH", f"{PODS}/one/{part}", {"metadata": {"labels": {"x": "y"}}, "spec": spec}, STRATEGIC)


def test_a_debugging_container_joins_a_pod_and_nothing_else_changes(server: Server) -> None:
    joined = patched(
        server,
        "ephemeralcontainers",
        {"ephemeralContainers": [{"name": "d", "image": "b"}], "containers": [{"name": "main", "image": "z"}]},
    )

    assert joined.code == 200
    assert [held["name"] for held in joined.tree["spec"]["ephemeralContainers"]] == ["d"]
    assert joined.tree["spec"]["containers"][0]["image"] == "nginx:1"
    assert "labels" not in joined.tree["metadata"]
    assert joined.tree["metadata"]["generation"] == 2
    assert server.call("GET", f"{PODS}/one/ephemeralcontainers").tree["kind"] == "Pod"


@pytest.mark.parametrize(("containers", "what"), [([], "removed"), ([{"name": "d", "image": "other"}], "changed")])
def test_a_debugging_container_stays_as_it_is(server: Server, containers: list[object], what: str) -> None:
    patched(server, "ephemeralcontainers", {"ephemeralContainers": [{"name": "d", "image": "b"}]})

    headers = {"content-type": "application/merge-patch+json"}
    body = {"spec": {"ephemeralContainers": containers}}
    answer = server.call("PATCH", f"{PODS}/one/ephemeralcontainers", body, headers)

    message = f'Forbidden: existing ephemeral containers "d" may not be {what}\n'
    assert (answer.code, answer.reason) == (422, "Invalid")
    assert answer.tree["details"]["causes"] == [
        {"reason": "FieldValueForbidden", "message": message, "field": "spec.ephemeralContainers"}
    ]


def test_a_resize_changes_what_containers_request_and_nothing_else(server: Server) -> None:
    wanted = {"requests": {"cpu": "2"}}
    resized = patched(server, "resize", {"containers": [{"name": "main", "image": "z", "resources": wanted}]})

    container = resized.tree["spec"]["containers"][0]
    assert (container["image"], container["resources"]) == ("nginx:1", wanted)


def test_finalize_lets_a_namespace_go_that_waits(server: Server) -> None:
    server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "old"}})
    held = {"metadata": {"name": "keeper", "finalizers": ["example.com/hold"]}}
    server.call("POST", MAPS.replace("default", "old"), held)
    server.call("DELETE", "/api/v1/namespaces/old")
    body = {"metadata": {"name": "old"}, "spec": {"finalizers": []}}

    assert server.call("GET", "/api/v1/namespaces/old/finalize").code == 405
    answer = server.call("PUT", "/api/v1/namespaces/old/finalize", body)

    assert (answer.code, answer.tree["status"]["phase"]) == (200, "Terminating")
    assert server.call("GET", "/api/v1/namespaces/old").code == 404
