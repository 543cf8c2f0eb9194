"""What the server tells of itself: how many requests of which kind, how long they took, whether it is well."""

import asyncio
from collections.abc import Iterator
from typing import Final

import pytest
from prometheus_client import parser
from starlette.types import Message, Receive, Scope, Send

from baseload.embedded.api.measures import Measures
from tests.embedded.api.calling import MAPS, MERGE, PODS, Server, config_map, pod

APPLY: Final = {"content-type": "application/apply-patch+yaml"}
TOTAL: Final = "apiserver_request_total"


def told(server: Server, name: str) -> Iterator[tuple[dict[str, str], float]]:
    """The samples of a name, without the labels that say nothing."""
    text = server.call("GET", "/metrics", headers={}).body.decode()
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == name:
                yield {key: value for key, value in sample.labels.items() if value}, sample.value


@pytest.mark.parametrize(
    ("method", "path", "labels"),
    [
        ("GET", PODS, {"verb": "LIST", "resource": "pods", "scope": "namespace", "code": "200"}),
        ("GET", "/api/v1/pods", {"verb": "LIST", "resource": "pods", "scope": "cluster", "code": "200"}),
        ("GET", f"{PODS}/a", {"verb": "GET", "resource": "pods", "scope": "resource", "code": "404"}),
        ("POST", PODS, {"verb": "POST", "resource": "pods", "scope": "resource", "code": "201"}),
        ("POST", f"{PODS}?dryRun=All", {"verb": "POST", "resource": "pods", "scope": "resource", "dry_run": "All"}),
        ("DELETE", MAPS, {"verb": "DELETECOLLECTION", "resource": "configmaps", "scope": "namespace", "code": "200"}),
        ("DELETE", f"{MAPS}/a", {"verb": "DELETE", "resource": "configmaps", "scope": "resource", "code": "404"}),
        ("GET", f"{PODS}/a/log", {"verb": "CONNECT", "resource": "pods", "subresource": "log", "code": "404"}),
        ("POST", f"{PODS}/a/eviction", {"verb": "POST", "resource": "pods", "subresource": "eviction", "code": "404"}),
        ("GET", "/api/v1/namespaces/default", {"verb": "GET", "resource": "namespaces", "scope": "resource"}),
        ("GET", "/apis/apps/v1/deployments", {"verb": "LIST", "group": "apps", "resource": "deployments"}),
        ("GET", f"{PODS}?watch=1&timeoutSeconds=1", {"verb": "WATCH", "resource": "pods", "scope": "namespace"}),
        ("GET", "/apis", {"verb": "GET", "subresource": "apis", "component": "apiserver"}),
        ("GET", "/readyz", {"verb": "GET", "subresource": "/readyz", "code": "200"}),
        ("GET", "/openapi/v3", {"verb": "GET", "subresource": "openapi/v3", "code": "200"}),
    ],
)
def test_a_request_is_counted_under_a_real_servers_labels(method: str, path: str, labels: dict[str, str]) -> None:
    server = Server()
    server.closing.is_set = "watch" in path  # a watch that ends at once

    body = {"metadata": {"name": "a"}} if "eviction" in path else pod("b") if method == "POST" else {}
    server.call(method, path, body)

    [(counted, number)] = told(server, TOTAL)
    assert number == 1
    assert labels.items() <= counted.items()


def test_patches_are_told_from_applied_configurations() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))
    server.call("PATCH", f"{MAPS}/a", {"data": {"x": "y"}}, MERGE)
    server.call("PATCH", f"{MAPS}/a?fieldManager=m", config_map("a"), APPLY)

    assert {labels["verb"] for labels, _ in told(server, TOTAL)} == {"POST", "PATCH", "APPLY"}


def test_paths_that_nothing_serves_make_no_labels() -> None:
    server = Server()
    for path in ("/nonsense", "/api/v1/nonsense", f"{PODS}/a/nonsense", "/apis/absent.io/v1/things"):
        assert server.call("GET", path).code == 404

    assert list(told(server, TOTAL)) == []


def test_durations_fall_into_a_real_servers_classes() -> None:
    seconds = iter([0.0, 0.3])
    server = Server()
    server.api.measures = Measures(lambda: next(seconds))
    server.call("GET", PODS)

    buckets = {labels["le"]: count for labels, count in told(server, "apiserver_request_duration_seconds_bucket")}
    assert (buckets["0.2"], buckets["0.4"], buckets["+Inf"]) == (0, 1, 1)
    assert [total for _, total in told(server, "apiserver_request_duration_seconds_sum")] == [0.3]


def test_events_of_watches_and_stored_objects_are_counted() -> None:
    server = Server()
    for name in ("a", "b"):
        server.call("POST", MAPS, config_map(name))
    server.call("GET", f"{MAPS}?watch=1&timeoutSeconds=1")

    events = [(labels["resource"], number) for labels, number in told(server, "apiserver_watch_events_total")]
    assert events == [("configmaps", 2)]
    stored = {labels["resource"]: number for labels, number in told(server, "apiserver_resource_objects")}
    assert (stored["configmaps"], stored["namespaces"]) == (2, 4)


def test_watches_that_are_open_and_requests_that_wait_are_told() -> None:
    server = Server()
    seen: list[float] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        text = server.api.measures.answer(server.cluster, "").body.decode()
        for family in parser.text_string_to_metric_families(text):
            if family.name in ("apiserver_longrunning_requests", "apiserver_current_inflight_requests"):
                seen.extend(sample.value for sample in family.samples)

    async def nothing() -> Message:
        return {}

    async def dropped(message: Message) -> None:
        """Nobody listens."""

    for method, query in (("GET", b"watch=true"), ("GET", b""), ("POST", b"")):
        scope = {"type": "http", "method": method, "path": PODS, "query_string": query, "headers": []}
        asyncio.run(server.api.measures.measured(server.cluster, app, scope, nothing, dropped))

    assert seen == [0, 0, 1, 0, 1, 0, 1, 0, 0]  # mutating, reading, watches: during each of the three


def test_health_checks_are_told_one_by_one() -> None:
    server = Server()

    assert server.call("GET", "/readyz").body == b"ok"
    verbose = server.call("GET", "/readyz?verbose")
    assert verbose.body == b"[+]ping ok\n[+]log ok\n[+]store ok\n[+]shutdown ok\nreadyz check passed\n"
    assert verbose.headers["content-type"] == "text/plain; charset=utf-8"
    excluded = server.call("GET", "/livez?verbose&exclude=store&exclude=etcd").body.decode()
    assert excluded.splitlines()[2:] == [
        "[+]store excluded: ok",
        'warn: some health checks cannot be excluded: no matches for "etcd"',
        "livez check passed",
    ]
    assert server.call("GET", "/healthz/ping").body == b"ok"
    absent = server.call("GET", "/livez/absent")
    assert (absent.code, absent.body) == (404, b"404 page not found\n")


def test_a_server_that_stops_is_alive_but_no_longer_ready() -> None:
    server = Server()
    server.closing.set()

    ready = server.call("GET", "/readyz")
    assert ready.code == 500
    assert ready.body.endswith(b"[-]shutdown failed: reason withheld\nreadyz check failed\n")
    assert server.call("GET", "/readyz/shutdown").code == 500
    assert server.call("GET", "/livez").body == b"ok"


def test_the_root_names_what_is_served() -> None:
    paths = Server().call("GET", "/").tree["paths"]

    assert {"/api/v1", "/apis/apps/v1", "/metrics", "/openapi/v3", "/readyz/ping", "/version"} <= set(paths)
    assert paths == sorted(paths)
