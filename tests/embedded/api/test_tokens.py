"""Tokens of service accounts, from the request to the end. The words are those of kube-apiserver v1.37.2."""

import base64
import json
from typing import Any

import pytest

from baseload.embedded.api.authenticate import Credentials, everybody
from tests.embedded.api.calling import JSON, PODS, Answered, Server, pod
from tests.embedded.api.granting import account, grant, made, rule

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
API = "https://kubernetes.default.svc"


@pytest.fixture
def api() -> Server:
    server = Server()
    made(server.call("POST", ACCOUNTS, {"metadata": {"name": "robot"}}))
    return server


def requested(api: Server, **spec: object) -> Answered:
    return api.call("POST", f"{ACCOUNTS}/robot/token", {"spec": spec})


def token(api: Server, **spec: object) -> str:
    return str(made(requested(api, **spec))["status"]["token"])


def reviewed(api: Server, sent: str, **spec: object) -> Any:
    return made(api.call("POST", REVIEWS, {"spec": {"token": sent, **spec}}))["status"]


def with_token(api: Server, sent: str, path: str = PODS) -> Answered:
    """A request to a server that asks who it is."""
    api.api.authenticate = Credentials(api.cluster.tokens)
    return api.call("GET", path, headers={**JSON, "authorization": f"Bearer {sent}"})


def claims(sent: str) -> Any:
    part = sent.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_a_token_says_whose_it_is_for_whom_and_until_when(api: Server) -> None:
    answer = made(requested(api, expirationSeconds=900))
    held = claims(answer["status"]["token"])
    assert (held["sub"], held["aud"], held["iss"]) == ("system:serviceaccount:default:robot", [API], API)
    assert held["exp"] - held["iat"] == 900
    uid = api.call("GET", f"{ACCOUNTS}/robot").tree["metadata"]["uid"]
    assert held["kubernetes.io"] == {"namespace": "default", "serviceaccount": {"name": "robot", "uid": uid}}
    assert answer["spec"] == {"audiences": [API], "expirationSeconds": 900, "boundObjectRef": None}
    assert (answer["kind"], answer["metadata"]["name"], answer["metadata"]["uid"]) == ("TokenRequest", "robot", uid)


def test_a_token_is_the_service_account(api: Server) -> None:
    grant(api, account("robot"), rule("list", "pods"))
    sent = token(api)
    assert with_token(api, sent).code == 200
    assert with_token(api, sent, "/api/v1/secrets").message.startswith(
        'secrets is forbidden: User "system:serviceaccount:default:robot" cannot list resource "secrets"'
    )


def test_review_tells_whose_a_token_is(api: Server) -> None:
    sent = token(api)
    uid = api.call("GET", f"{ACCOUNTS}/robot").tree["metadata"]["uid"]
    assert reviewed(api, sent) == {
        "authenticated": True,
        "user": {
            "username": "system:serviceaccount:default:robot",
            "uid": uid,
            "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={claims(sent)['jti']}"]},
        },
        "audiences": [API],
    }


def test_a_token_is_good_for_its_audiences_alone(api: Server) -> None:
    sent = token(api, audiences=["vault"])
    assert with_token(api, sent).code == 401
    api.api.authenticate = everybody
    assert reviewed(api, sent, audiences=["vault", "other"])["audiences"] == ["vault"]
    why = f'token audiences ["vault"] is invalid for the target audiences ["{API}"]'
    assert reviewed(api, sent) == {"user": {}, "error": f"[invalid bearer token, {why}]"}


def test_a_token_ends_with_its_time(api: Server) -> None:
    sent = token(api, expirationSeconds=600)
    api.clock.forward(590)
    assert reviewed(api, sent)["authenticated"] is True
    api.clock.forward(90)
    assert reviewed(api, sent)["error"] == "[invalid bearer token, service account token has expired]"
    assert with_token(api, sent).code == 401


def test_a_token_ends_with_its_account_and_a_new_one_of_that_name_has_none(api: Server) -> None:
    sent = token(api)
    api.call("DELETE", f"{ACCOUNTS}/robot")
    assert reviewed(api, sent)["error"] == "[invalid bearer token, service account token has been invalidated]"
    api.call("POST", ACCOUNTS, {"metadata": {"name": "robot"}})
    assert "error" in reviewed(api, sent)


def test_a_bound_token_names_the_pod_and_its_node_and_ends_with_the_pod(api: Server) -> None:
    made(api.call("POST", "/api/v1/nodes", {"metadata": {"name": "n"}}))
    tree: Any = pod("p")
    tree["spec"] |= {"serviceAccountName": "robot", "nodeName": "n"}
    made(api.call("POST", PODS, tree))
    sent = token(api, boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "p"})
    extra = reviewed(api, sent)["user"]["extra"]
    assert extra["authentication.kubernetes.io/pod-name"] == ["p"]
    assert extra["authentication.kubernetes.io/node-name"] == ["n"]
    api.call("DELETE", f"{PODS}/p?gracePeriodSeconds=0")
    assert reviewed(api, sent)["error"] == "[invalid bearer token, service account token has been invalidated]"


def test_a_token_that_was_tampered_with_is_no_token(api: Server) -> None:
    head, body, signature = token(api).split(".")
    forged = base64.urlsafe_b64encode(json.dumps({**claims(f".{body}."), "sub": "root"}).encode()).decode().rstrip("=")
    for sent in (f"{head}.{forged}.{signature}", f"{head}.{body}.", f"{head}.{body}.{'A' * 43}", "a.b.c", "ü"):
        assert reviewed(api, sent) == {"user": {}, "error": "invalid bearer token"}
        assert with_token(api, sent.encode("ascii", "replace").decode()).code == 401
        api.api.authenticate = everybody


def test_wrong_credentials_are_unauthorized_and_none_are_anonymous(api: Server) -> None:
    refused = with_token(api, "nope", "/version")
    assert (refused.code, refused.reason, refused.message) == (401, "Unauthorized", "Unauthorized")
    nobody = api.call("GET", PODS)
    assert (nobody.code, nobody.reason) == (403, "Forbidden")
    assert nobody.message.startswith('pods is forbidden: User "system:anonymous" cannot list')
    assert api.call("GET", "/version").code == 200


@pytest.mark.parametrize(
    ("spec", "code", "reason", "message"),
    [
        (
            {"expirationSeconds": 10},
            422,
            "Invalid",
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not '
            "specify a duration less than 10 minutes",
        ),
        (
            {"expirationSeconds": 2**32 + 1},
            422,
            "Invalid",
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may '
            "not specify a duration larger than 2^32 seconds",
        ),
        (
            {"boundObjectRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "x"}},
            400,
            "BadRequest",
            "cannot bind token to object of type /v1, Kind=ConfigMap",
        ),
        (
            {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "x"}},
            404,
            "NotFound",
            'secrets "x" not found',
        ),
    ],
)
def test_a_token_that_cannot_be_had_is_refused_in_words(
    api: Server, spec: dict[str, object], code: int, reason: str, message: str
) -> None:
    refused = requested(api, **spec)
    assert (refused.code, refused.reason, refused.message) == (code, reason, message)


def test_a_token_is_bound_to_a_pod_of_its_own_account(api: Server) -> None:
    made(api.call("POST", PODS, pod("p")))
    refused = requested(api, boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "p"})
    why = 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.'
    assert (refused.code, refused.reason, refused.message) == (400, "BadRequest", why)


def test_a_token_of_another_object_than_the_path_names_is_refused(api: Server) -> None:
    refused = api.call("POST", f"{ACCOUNTS}/robot/token", {"metadata": {"name": "other"}})
    assert (refused.code, refused.reason) == (422, "Invalid")
    why = 'metadata.name: Invalid value: "other": must match the service account name if specified'
    assert refused.message == f'TokenRequest.authentication.k8s.io "robot" is invalid: {why}'
    absent = api.call("POST", f"{ACCOUNTS}/absent/token", {})
    assert (absent.code, absent.message) == (404, 'serviceaccounts "absent" not found')


def test_the_key_is_in_no_text_of_the_server(api: Server) -> None:
    shown = repr(api.cluster) + repr(api.cluster.tokens)
    assert repr(api.cluster.key) not in shown
    assert api.cluster.key.hex() not in shown


def test_review_without_a_token_is_no_review(api: Server) -> None:
    refused = api.call("POST", REVIEWS, {"spec": {}})
    assert (refused.code, refused.message) == (400, "token is required for TokenReview in authentication")
