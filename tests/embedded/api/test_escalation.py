"""Nobody gives what he does not have. The words are those of kube-apiserver v1.37.2."""

import pytest

from tests.embedded.api.calling import Server
from tests.embedded.api.granting import (
    GROUP,
    OWN,
    RBAC,
    as_user,
    binding,
    grant,
    grant_everywhere,
    role,
    rule,
    user,
)

MERGE = {"content-type": "application/merge-patch+json"}


@pytest.fixture
def api() -> Server:
    """A server where jane may read some things and write roles and bindings in the namespace default."""
    server = Server()
    grant(
        server,
        user("jane"),
        rule("get,list", "pods"),
        rule("get", "configmaps", names="one,two"),
        rule("create,update,patch", "roles,rolebindings", groups=GROUP),
    )
    return server


def test_a_role_of_what_its_writer_has_may_be_written(api: Server) -> None:
    mine = role("mine", rule("get", "pods"), rule("get", "configmaps", names="one"))
    assert api.call("POST", f"{OWN}/roles", mine, as_user("jane")).code == 201


def test_a_role_of_more_is_refused_and_what_is_missing_is_listed(api: Server) -> None:
    more = role(
        "more",
        rule("get,list,delete", "pods"),
        rule("*", "deployments,replicasets", groups="apps"),
        rule("get,list", "configmaps", names="one,three"),
    )
    refused = api.call("POST", f"{OWN}/roles", more, as_user("jane"))
    assert (refused.code, refused.reason) == (403, "Forbidden")
    assert refused.message.splitlines() == [
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "jane" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:",
        '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["one"], Verbs:["list"]}',
        '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["three"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
        '{APIGroups:["apps"], Resources:["deployments"], Verbs:["*"]}',
        '{APIGroups:["apps"], Resources:["replicasets"], Verbs:["*"]}',
    ]
    assert refused.tree["details"] == {"name": "more", "group": GROUP, "kind": "roles"}
    assert api.call("GET", f"{OWN}/roles/more").code == 404


def test_a_role_may_not_grow_beyond_what_its_writer_has(api: Server) -> None:
    api.call("POST", f"{OWN}/roles", role("mine", rule("get", "pods")))
    grown = api.call("PUT", f"{OWN}/roles/mine", role("mine", rule("get", "secrets")), as_user("jane"))
    assert (grown.code, grown.reason) == (403, "Forbidden")
    assert grown.message.endswith('\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}')


def test_a_finalizer_of_a_greater_role_may_be_taken_off_all_the_same(api: Server) -> None:
    great = {**role("great", rule("*", "*", groups="*"))}
    great["metadata"] = {"name": "great", "finalizers": ["example.com/wait"]}
    api.call("POST", f"{OWN}/roles", great)
    headers = {**as_user("jane"), **MERGE}
    assert api.call("PATCH", f"{OWN}/roles/great", {"metadata": {"finalizers": None}}, headers).code == 200
    assert api.call("PATCH", f"{OWN}/roles/great", {"metadata": {"labels": {"a": "b"}}}, headers).code == 403


def test_a_binding_gives_no_more_than_its_writer_has(api: Server) -> None:
    fine = binding("fine", "given", user("otto"))
    assert api.call("POST", f"{OWN}/rolebindings", fine, as_user("jane")).code == 201
    greater = binding("greater", "view", user("otto"), kind="ClusterRole")
    refused = api.call("POST", f"{OWN}/rolebindings", greater, as_user("jane"))
    assert (refused.code, refused.reason) == (403, "Forbidden")
    head = (
        'rolebindings.rbac.authorization.k8s.io "greater" is forbidden: user "jane" (groups=["system:authenticated"])'
    )
    assert refused.message.startswith(f"{head} is attempting to grant RBAC permissions not currently held:\n")


def test_binding_a_role_that_is_not_there_is_refused_before_it_could_come(api: Server) -> None:
    refused = api.call("POST", f"{OWN}/rolebindings", binding("b", "absent", user("otto")), as_user("jane"))
    assert (refused.code, refused.reason) == (404, "NotFound")
    assert refused.message == 'rolebindings.rbac.authorization.k8s.io "absent" not found'


def test_the_verb_bind_allows_one_role_to_be_bound(api: Server) -> None:
    grant(api, user("jane"), rule("bind", "clusterroles", groups=GROUP, names="view"), name="binder")
    for name, code in (("view", 201), ("edit", 403)):
        bound = binding(name, name, user("otto"), kind="ClusterRole")
        assert api.call("POST", f"{OWN}/rolebindings", bound, as_user("jane")).code == code


def test_the_verb_escalate_allows_any_role_to_be_written(api: Server) -> None:
    grant(api, user("jane"), rule("escalate", "roles", groups=GROUP), name="escalator")
    assert api.call("POST", f"{OWN}/roles", role("great", rule("*", "*", groups="*")), as_user("jane")).code == 201


def test_gathering_roles_takes_every_right_there_is(api: Server) -> None:
    grant_everywhere(api, user("cleo"), rule("create", "clusterroles", groups=GROUP))
    gathering = {**role("all"), "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    refused = api.call("POST", f"{RBAC}/clusterroles", gathering, as_user("cleo"))
    assert (refused.code, refused.reason) == (403, "Forbidden")
    why = "must have cluster-admin privileges to use the aggregationRule"
    assert refused.message == f'clusterroles.rbac.authorization.k8s.io "all" is forbidden: {why}'


def test_paths_are_given_by_whoever_reaches_them(api: Server) -> None:
    own: dict[str, object] = {"verbs": ["get"], "nonResourceURLs": ["/metrics/*"]}
    grant_everywhere(api, user("cleo"), rule("create", "clusterroles", groups=GROUP), own)
    inner: dict[str, object] = {"verbs": ["get"], "nonResourceURLs": ["/metrics/slis"]}
    outer: dict[str, object] = {"verbs": ["get"], "nonResourceURLs": ["/logs"]}
    assert api.call("POST", f"{RBAC}/clusterroles", role("in", inner), as_user("cleo")).code == 201
    refused = api.call("POST", f"{RBAC}/clusterroles", role("out", outer), as_user("cleo"))
    assert refused.message.endswith('\n{NonResourceURLs:["/logs"], Verbs:["get"]}')


def test_masters_give_what_they_like(api: Server) -> None:
    great = role("great", rule("*", "*", groups="*"))
    assert api.call("POST", f"{OWN}/roles", great, as_user("root", group="system:masters")).code == 201
