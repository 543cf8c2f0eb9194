"""Acting as another. The words are those of kube-apiserver v1.37.2."""

from typing import Any

import pytest

from baseload.embedded.api.authenticate import Credentials
from baseload.embedded.api.authorize import impersonate
from baseload.embedded.api.identity import Identity
from baseload.embedded.store.errors import BadRequest
from tests.embedded.api.calling import JSON, PODS, Answered, Server
from tests.embedded.api.granting import as_user, grant_everywhere, rule, user

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
SELF = rule("create", "selfsubjectreviews", groups="authentication.k8s.io")


@pytest.fixture
def api() -> Server:
    """A server that bob reaches with a token of his own, and root with his."""
    server = Server()
    bob = Identity("bob", ("system:authenticated",))
    root = Identity("root", ("system:masters", "system:authenticated"))
    server.api.authenticate = Credentials(server.cluster.tokens)
    tokens = server.cluster.static_tokens
    assert isinstance(tokens, dict)
    tokens.update({"bobs": bob, "roots": root})
    return server


def allow(api: Server, *rules: dict[str, object]) -> None:
    """Gives bob rules."""
    master, api.api.authenticate = api.api.authenticate, lambda _: Identity("root", ("system:masters",))
    grant_everywhere(api, user("bob"), *rules)
    api.api.authenticate = master


def bob(api: Server, name: str, path: str = REVIEWS, **headers: str) -> Answered:
    sent = {**as_user(name, **headers), "authorization": "Bearer bobs"}
    return api.call("POST" if path == REVIEWS else "GET", path, {} if path == REVIEWS else b"", sent)


def told(answer: Answered) -> Any:
    assert answer.code == 201, answer.message
    return answer.tree["status"]["userInfo"]


def test_whoever_is_a_master_may_act_as_anybody(api: Server) -> None:
    headers = {**as_user("jane", group="team", uid="42"), "authorization": "Bearer roots"}
    headers["impersonate-extra-some%2fthing"] = "X"
    answer = api.call("POST", REVIEWS, {}, headers)
    groups = ["team", "system:authenticated"]
    assert told(answer) == {"username": "jane", "uid": "42", "groups": groups, "extra": {"some/thing": ["X"]}}


def test_a_service_account_has_its_groups(api: Server) -> None:
    answer = api.call("POST", REVIEWS, {}, {**as_user("system:serviceaccount:a:b"), "authorization": "Bearer roots"})
    groups = ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]
    assert told(answer) == {"username": "system:serviceaccount:a:b", "groups": groups}


@pytest.mark.parametrize("header", ["impersonate-group", "impersonate-uid", "impersonate-extra-foo"])
def test_groups_without_a_user_make_no_sense(api: Server, header: str) -> None:
    refused = api.call("GET", PODS, headers={**JSON, header: "x", "authorization": "Bearer roots"})
    shown = {
        "impersonate-group": 'UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)',
        "impersonate-uid": 'UID:"x", Groups:[]string(nil), Extra:map[string][]string(nil)',
        "impersonate-extra-foo": 'UID:"", Groups:[]string(nil), Extra:map[string][]string{"foo":[]string{"x"}}',
    }
    assert (refused.code, refused.reason) == (400, "BadRequest")
    named = f'&user.DefaultInfo{{Name:"", {shown[header]}}}'
    assert refused.message == f"requested {named} without impersonating a user name"


def test_each_group_that_is_sent_counts() -> None:
    headers = [(b"impersonate-user", b"jane"), (b"impersonate-group", b"a"), (b"impersonate-group", b"b")]
    assert impersonate.wanted(headers) == Identity("jane", ("a", "b"))
    assert impersonate.wanted([(b"accept", b"*/*")]) is None
    with pytest.raises(BadRequest, match="without impersonating a user name"):
        impersonate.wanted(headers[1:])


def test_without_the_right_nobody_acts_as_another(api: Server) -> None:
    refused = bob(api, "jane")
    assert (refused.code, refused.reason) == (403, "Forbidden")
    asked = 'cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io"'
    named = f'User "bob" {asked} at the cluster scope'
    assert refused.message == f"selfsubjectreviews.authentication.k8s.io is forbidden: {named}"
    assert (
        bob(api, "jane", "/version").message
        == 'forbidden: User "bob" cannot impersonate-on:user-info:get path "/version"'
    )


def test_the_verb_impersonate_goes_user_by_user_and_group_by_group(api: Server) -> None:
    allow(api, rule("impersonate", "users", names="jane"), rule("impersonate", "groups", names="team"))
    assert told(bob(api, "jane")) == {"username": "jane", "groups": ["system:authenticated"]}
    assert told(bob(api, "jane", group="team"))["groups"] == ["team", "system:authenticated"]
    refused = bob(api, "jane", group="system:masters")
    assert (refused.code, refused.reason) == (403, "Forbidden")
    asked = 'User "bob" cannot impersonate resource "groups" in API group "" at the cluster scope'
    assert refused.message == f'groups "system:masters" is forbidden: {asked}'
    assert bob(api, "otto").message.startswith(
        'users "otto" is forbidden: User "bob" cannot impersonate resource "users"'
    )


def test_uid_and_extra_take_rights_of_their_own(api: Server) -> None:
    allow(
        api,
        rule("impersonate", "users"),
        rule("impersonate", "uids,userextras/scopes", groups="authentication.k8s.io"),
    )
    assert told(bob(api, "jane", uid="7", extra_scopes="view"))["extra"] == {"scopes": ["view"]}
    refused = bob(api, "jane", extra_other="view")
    asked = 'User "bob" cannot impersonate resource "userextras/other" in API group "authentication.k8s.io"'
    assert refused.message == f'userextras.authentication.k8s.io "view" is forbidden: {asked} at the cluster scope'


def test_constrained_impersonation_is_for_what_it_is_allowed_on_alone(api: Server) -> None:
    allow(
        api,
        rule("impersonate:user-info", "users,groups", groups="authentication.k8s.io"),
        rule("impersonate-on:user-info:create", "selfsubjectreviews", groups="authentication.k8s.io"),
    )
    assert told(bob(api, "jane", group="team"))["groups"] == ["team", "system:authenticated"]
    assert bob(api, "jane", PODS).message.startswith(
        'pods is forbidden: User "bob" cannot impersonate-on:user-info:list'
    )
    refused = bob(api, "jane", group="system:masters")
    assert refused.message.endswith(": impersonating the system:masters group is not allowed")
    assert bob(api, "system:node:a").code == 403


def test_constrained_impersonation_knows_nodes_and_service_accounts(api: Server) -> None:
    allow(
        api,
        rule("impersonate:arbitrary-node", "nodes", groups="authentication.k8s.io"),
        rule("impersonate:serviceaccount", "serviceaccounts", groups="authentication.k8s.io"),
        rule(
            "impersonate-on:arbitrary-node:create,impersonate-on:serviceaccount:create",
            "selfsubjectreviews",
            groups="authentication.k8s.io",
        ),
    )
    node = told(bob(api, "system:node:a"))
    assert node == {"username": "system:node:a", "groups": ["system:nodes", "system:authenticated"]}
    assert told(bob(api, "system:serviceaccount:a:b"))["groups"][1] == "system:serviceaccounts:a"
    assert bob(api, "system:serviceaccount:a:b", group="team").code == 403
    assert bob(api, "jane").code == 403
