"""Versions of a custom kind between which only a webhook converts.

The words are those of kube-apiserver v1.37.2 for one that it cannot reach, but for the reason why not.
"""

from typing import Any

import pytest

from tests.embedded.api.calling import MERGE, Server

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
HOOKS = "/apis/example.com/{}/namespaces/default/hooks"
APPLY = {"content-type": "application/apply-patch+yaml"}
URL = {"url": "https://127.0.0.1:1/convert"}
SERVICE = {"service": {"namespace": "default", "name": "nope", "path": "/convert"}}
OF_URL = 'Post "https://127.0.0.1:1/convert?timeout=30s": this server calls no webhooks'
OF_SERVICE = 'Post "https://nope.default.svc:443/convert?timeout=30s": service "nope" not found'


def server(client: dict[str, Any]) -> Server:
    """A server with a kind in v1, which is stored, and v2."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "hooks", "kind": "Hook"},
        "versions": versions,
        "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client}},
    }
    made = Server()
    assert made.call("POST", DEFINITIONS, {"metadata": {"name": "hooks.example.com"}, "spec": spec}).code == 201
    return made


def hook(version: str, name: str = "a") -> dict[str, Any]:
    return {"apiVersion": f"example.com/{version}", "kind": "Hook", "metadata": {"name": name}}


@pytest.mark.parametrize(("client", "why"), [(URL, OF_URL), (SERVICE, OF_SERVICE)])
def test_another_version_than_the_stored_one_cannot_be_had(client: dict[str, Any], why: str) -> None:
    made = server(client)
    assert made.call("POST", HOOKS.format("v1"), hook("v1")).code == 201
    assert made.call("GET", f"{HOOKS.format('v1')}/a").code == 200
    other = HOOKS.format("v2")

    asked = [("GET", f"{other}/a"), ("GET", other), ("DELETE", f"{other}/a"), ("DELETE", other)]
    said = [made.call(method, path) for method, path in asked]
    said.append(made.call("PATCH", f"{other}/a", {"metadata": {"labels": {"a": "b"}}}, MERGE))

    message = f"conversion webhook for example.com/v1, Kind=Hook failed: {why}"
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 500}
    assert [answer.tree for answer in said] == [{**status, "message": message}] * 5
    assert made.call("GET", f"{HOOKS.format('v1')}/a").code == 200


def test_nothing_is_made_in_another_version_than_the_stored_one() -> None:
    made, other = server(URL), HOOKS.format("v2")

    posted = made.call("POST", other, hook("v2", "b"))
    applied = made.call("PATCH", f"{other}/c?fieldManager=x", hook("v2", "c"), APPLY)

    message = f"conversion webhook for example.com/v2, Kind=Hook failed: {OF_URL}"
    assert [(answer.code, answer.message) for answer in (posted, applied)] == [(500, message)] * 2
    assert made.call("GET", HOOKS.format("v1")).tree["items"] == []


def test_where_there_is_nothing_to_convert_no_webhook_is_missed() -> None:
    made, other = server(URL), HOOKS.format("v2")

    assert made.call("GET", f"{other}/a").code == 404
    assert made.call("GET", other).tree["items"] == []
