"""Kinds that are answered, not stored."""

from typing import Any

import pytest

from baseload.embedded.api import computed
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.target import Target
from tests.embedded.api.calling import JSON, Server

AGGREGATED = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
MEASURES = "/apis/metrics.k8s.io/v1beta1"


@pytest.fixture
def api() -> Server:
    return Server()


@pytest.fixture
def measured(api: Server) -> Server:
    """A server with a kind that is read alone."""

    def reply(cluster: Cluster, target: Target, call: Call) -> Tree:
        return {"kind": "Measure", "of": target.name or "all", "in": target.namespace}

    kind = computed.kind(
        "metrics.k8s.io/v1beta1",
        "Measure",
        "measures",
        verbs=("get", "list"),
        reply=reply,
        namespaced=True,
        schema={"type": "object", "properties": {}},
    )
    api.cluster.kinds.add(kind)
    return api


def found(items: list[Any], **wanted: str) -> Any:
    return next(item for item in items if all(item[key] == value for key, value in wanted.items()))


def test_computed_kind_is_discovered_with_its_own_verbs_alone(measured: Server) -> None:
    classic = measured.call("GET", MEASURES).tree["resources"]
    assert found(classic, name="measures")["verbs"] == ["get", "list"]
    groups = measured.call("GET", "/apis", headers=AGGREGATED).tree["items"]
    group = next(item for item in groups if item["metadata"]["name"] == "authentication.k8s.io")
    assert found(group["versions"][0]["resources"], resource="selfsubjectreviews")["verbs"] == ["create"]


def test_openapi_has_the_paths_that_a_computed_kind_serves_and_no_others(measured: Server) -> None:
    paths = measured.call("GET", f"/openapi/v3{MEASURES}").tree["paths"]
    where = f"{MEASURES}/namespaces/{{namespace}}/measures"
    assert {path: sorted(set(told) & {"get", "post", "put", "patch", "delete"}) for path, told in paths.items()} == {
        f"{MEASURES}/measures": ["get"],
        where: ["get"],
        f"{where}/{{name}}": ["get"],
    }
    reviews = measured.call("GET", f"/openapi/v3{REVIEWS.rpartition('/')[0]}").tree["paths"]
    assert list(reviews) == [REVIEWS, "/apis/authentication.k8s.io/v1/tokenreviews"]


def test_get_and_list_of_a_computed_kind_reach_its_reply(measured: Server) -> None:
    where = f"{MEASURES}/namespaces/default/measures"
    assert measured.call("GET", f"{where}/one").tree == {"kind": "Measure", "of": "one", "in": "default"}
    assert measured.call("GET", f"{MEASURES}/measures").tree == {"kind": "Measure", "of": "all", "in": ""}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{MEASURES}/namespaces/default/measures"),
        ("DELETE", f"{MEASURES}/namespaces/default/measures/one"),
        ("GET", f"{MEASURES}/measures?watch=true"),
        ("GET", REVIEWS),
        ("DELETE", REVIEWS),
    ],
)
def test_other_verbs_on_a_computed_kind_are_not_allowed(measured: Server, method: str, path: str) -> None:
    refused = measured.call(method, path, {})
    assert (refused.code, refused.reason) == (405, "MethodNotAllowed")
    assert refused.message == "the server does not allow this method on the requested resource"


@pytest.mark.parametrize("path", [f"{REVIEWS}/one", f"{MEASURES}/namespaces/default/measures/one/status"])
def test_what_no_verb_reaches_is_no_path(measured: Server, path: str) -> None:
    assert measured.call("GET", path).code == 404


def test_self_subject_review_tells_who_asks(api: Server) -> None:
    told = api.call("POST", REVIEWS, {})
    assert told.code == 201
    groups = ["system:masters", "system:authenticated"]
    assert told.tree["status"] == {"userInfo": {"username": "system:admin", "groups": groups}}


def test_unknown_field_of_a_review_is_refused_when_that_is_asked(api: Server) -> None:
    refused = api.call("POST", f"{REVIEWS}?fieldValidation=Strict", {"foo": 1})
    assert (refused.code, refused.reason) == (400, "BadRequest")
    handled = 'SelfSubjectReview in version "v1" cannot be handled as a SelfSubjectReview'
    assert refused.message == f'{handled}: strict decoding error: unknown field "foo"'
    assert api.call("POST", REVIEWS, {"foo": 1}).headers["warning"] == '299 - "unknown field \\"foo\\""'


def test_review_of_another_kind_is_refused(api: Server) -> None:
    body = {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1"}
    refused = api.call("POST", REVIEWS, body, headers=JSON)
    assert (refused.code, refused.reason) == (400, "BadRequest")
    assert refused.message.startswith("TokenReview in version")
