"""Requests to a server, without any client's help: what a test sets up, and what a controller would write."""

import json
from typing import Any

from baseload.kube import kinds
from tests.servers.port import Server

JSON = "application/json"
MERGE = "application/merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def ask(
    server: Server, method: str, path: str, body: object = None, *, media_type: str = JSON, accept: str = JSON
) -> tuple[int, Any]:
    """An answer's code and what is in it."""
    connection = server.connect()
    headers = {**server.headers, "content-type": media_type, "accept": accept}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    return response.status, json.loads(text) if text.startswith("{") else text


def put(server: Server, tree: dict[str, Any], namespace: str = "default") -> None:
    """Creates an object with the status that it carries; with `deleted: true` it is deleted then."""
    tree = dict(tree)
    status, deleted = tree.pop("status", None), tree.pop("deleted", False)
    where = collection(tree["apiVersion"], tree["kind"], namespace)
    code, made = ask(server, "POST", where, tree)
    assert code == 201, made
    one = f"{where}/{made['metadata']['name']}"
    if status is not None:
        code, answer = ask(server, "PATCH", f"{one}/status", {"status": status}, media_type=MERGE)
        assert code == 200, answer
    if deleted:
        code, answer = ask(server, "DELETE", one)
        assert code in (200, 202), answer


def collection(api_version: str, name: str, namespace: str = "default") -> str:
    """Where objects of a kind are."""
    kind = kinds.find(api_version, name)
    assert kind is not None, name
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    return f"{root}/namespaces/{namespace}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
