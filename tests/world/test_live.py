"""What is said of a cluster that does not give all that a decision looks at."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from baseload.values.errors import BadInput, Unreachable
from baseload.world import files, kubeconfig, live
from baseload.world.live import Live

Told = Mapping[str, tuple[int, object]]
"""path -> (code, body)"""


def status(code: int, reason: str, message: str) -> tuple[int, object]:
    return code, {"kind": "Status", "message": message, "reason": reason, "code": code}


MISSING = status(404, "NotFound", "the server could not find the requested resource")
VERSION = {"/version": (200, {"major": "1", "minor": "33+", "gitVersion": "v1.33.5-eks-3cfe0ce"})}


def forbidden(plural: str) -> tuple[int, object]:
    message = f'{plural} is forbidden: User "ann" cannot list resource "{plural}" in API group "" at the cluster scope'
    return status(403, "Forbidden", message)


@contextmanager
def cluster(told: Told, folder: Path) -> Iterator[list[tuple[str, str]]]:
    """A server that answers those paths so and every other list with nothing in it; what it was asked."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            path = self.path.partition("?")[0]
            asked.append((self.command, path))
            empty = 200, {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}
            code, body = told.get(path, empty)
            text = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    kubeconfig.write(folder / "config", f"http://127.0.0.1:{server.server_port}")
    try:
        yield asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def read(folder: Path) -> Live:
    return live.read(files.LOOKED_AT, "baseload", str(folder / "config"))


def test_all_that_may_not_be_listed_is_named_with_the_rule_that_allows_it(tmp_path: Path) -> None:
    told = {
        **VERSION,
        "/api/v1": (200, {"kind": "APIResourceList", "resources": [{"name": "pods"}, {"name": "nodes"}]}),
        "/apis/apps/v1": (200, {"kind": "APIResourceList", "resources": [{"name": "deployments"}]}),
        "/api/v1/pods": forbidden("pods"),
        "/api/v1/nodes": forbidden("nodes"),
        "/apis/apps/v1/deployments": forbidden("deployments"),
    }
    with cluster(told, tmp_path) as asked, pytest.raises(BadInput) as bad:
        read(tmp_path)
    (fault,) = bad.value.faults
    assert str(fault) == (
        "context baseload: may not list deployments.apps, nodes, pods: "
        'pods is forbidden: User "ann" cannot list resource "pods" in API group "" at the cluster scope'
    )
    assert fault.mend == (
        "as a ClusterRole that is bound to whoever asks:",
        "rules:",
        '- apiGroups: [""]',
        "  resources: [nodes, pods]",
        "  verbs: [list]",
        '- apiGroups: ["apps"]',
        "  resources: [deployments]",
        "  verbs: [list]",
    )
    assert {method for method, _ in asked} == {"GET"}


def test_a_kind_that_is_not_installed_needs_no_right(tmp_path: Path) -> None:
    told = {**VERSION, "/apis/karpenter.sh/v1/nodepools": forbidden("nodepools"), "/apis/karpenter.sh/v1": MISSING}
    with cluster({**told, "/apis/karpenter.sh": MISSING}, tmp_path):
        found = read(tmp_path)
    assert found.absent == ("NodePool of karpenter.sh/v1",)
    assert found.notes[1] == "Karpenter is not installed in the cluster: it has no NodePool"


def test_an_answer_that_makes_no_sense_is_as_good_as_none(tmp_path: Path) -> None:
    told = {
        **VERSION,
        "/apis/karpenter.sh/v1/nodepools": forbidden("nodepools"),
        "/apis/karpenter.sh/v1": (200, {"kind": "APIResourceList", "resources": None}),
        "/apis/karpenter.sh": (200, "Welcome"),
    }
    with cluster(told, tmp_path):
        found = read(tmp_path)
    assert found.absent == ("NodePool of karpenter.sh/v1",)
    assert found.notes[1] == "the cluster does not say in which versions it has Karpenter's kinds: none of them count"


def test_an_elder_karpenter_is_named_by_its_version(tmp_path: Path) -> None:
    told = {
        **VERSION,
        "/apis/karpenter.sh/v1/nodepools": MISSING,
        "/apis/karpenter.sh/v1/nodeclaims": MISSING,
        "/apis/karpenter.sh": (200, {"kind": "APIGroup", "versions": [{"version": "v1beta1"}]}),
    }
    with cluster(told, tmp_path):
        found = read(tmp_path)
    assert found.notes[1] == (
        "the cluster has Karpenter's kinds in karpenter.sh/v1beta1, and karpenter.sh/v1 is what is read: "
        "none of them count"
    )


def test_what_was_read_is_told_with_the_server_and_its_version(tmp_path: Path) -> None:
    with cluster(VERSION, tmp_path) as asked:
        note = read(tmp_path).notes[0]
    assert note.startswith("read from context baseload (http://127.0.0.1:")
    assert note.endswith(", Kubernetes v1.33.5-eks-3cfe0ce): nothing")
    assert not [path for _, path in asked if "secrets" in path]


def test_credentials_that_nobody_knows_are_bad_input(tmp_path: Path) -> None:
    unknown = status(401, "Unauthorized", "Unauthorized")
    with cluster({"/version": unknown}, tmp_path), pytest.raises(BadInput) as bad:
        read(tmp_path)
    assert str(bad.value) == (
        "context baseload: the server does not know who asks: Unauthorized "
        "(log in again, or mend the user of the context)"
    )


def test_a_server_that_fails_is_as_good_as_unreachable(tmp_path: Path) -> None:
    failing = status(500, "InternalError", "etcdserver: no leader")
    with (
        cluster({**VERSION, "/api/v1/pods": failing}, tmp_path),
        pytest.raises(Unreachable, match=r"^context baseload: etcdserver: no leader$"),
    ):
        read(tmp_path)
