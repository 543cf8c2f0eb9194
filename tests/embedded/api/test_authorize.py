"""Who may do what: roles, bindings and the refusals. The words are those of kube-apiserver v1.37.2."""

from itertools import cycle, islice

import pytest

from baseload.embedded.store import record as records
from baseload.embedded.store.store import HISTORY
from tests.embedded.api.calling import MAPS, PODS, Server, config_map
from tests.embedded.api.granting import (
    AUTHORIZATION,
    GROUP,
    OWN,
    RBAC,
    account,
    as_user,
    binding,
    decided,
    grant,
    grant_everywhere,
    group,
    may,
    role,
    rule,
    user,
)


@pytest.fixture
def api() -> Server:
    return Server()


def test_whoever_has_no_role_is_refused_in_words_that_name_what_he_asked(api: Server) -> None:
    refused = api.call("GET", PODS, headers=as_user("jane"))
    assert (refused.code, refused.reason) == (403, "Forbidden")
    told = 'User "jane" cannot list resource "pods" in API group "" in the namespace "default"'
    assert refused.message == f"pods is forbidden: {told}"
    assert refused.tree["details"] == {"kind": "pods"}


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("GET", f"{PODS}/a", 'pods "a" is forbidden: User "jane" cannot get resource "pods" in API group "" in the'),
        ("GET", "/api/v1/pods?watch=true", 'pods is forbidden: User "jane" cannot watch resource "pods" in API group '),
        ("GET", "/api/v1/pods?watch=yes", 'pods is forbidden: User "jane" cannot watch resource "pods" in API group '),
        ("GET", "/api/v1/pods?watch=", 'pods is forbidden: User "jane" cannot watch resource "pods" in API group "" '),
        ("DELETE", PODS, 'pods is forbidden: User "jane" cannot deletecollection resource "pods" in API group ""'),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/default/deployments/a/scale",
            'deployments.apps "a" is forbidden: User "jane" cannot patch resource "deployments/scale" in API',
        ),
        ("GET", "/api/v1/namespaces/x", 'namespaces "x" is forbidden: User "jane" cannot get resource "namespaces" in'),
        (
            "GET",
            "/apis/no.io/v1/its",
            'its.no.io is forbidden: User "jane" cannot list resource "its" in API group "no',
        ),
        ("GET", "/nowhere", 'forbidden: User "jane" cannot get path "/nowhere"'),
        ("POST", "/version", 'forbidden: User "jane" cannot post path "/version"'),
    ],
)
def test_refusals_name_the_verb_that_a_request_comes_to(api: Server, method: str, path: str, message: str) -> None:
    refused = api.call(method, path, {} if method == "PATCH" else b"", as_user("jane"))
    assert (refused.code, refused.reason) == (403, "Forbidden")
    assert refused.message.startswith(message)


def test_marks_of_html_in_a_refusal_are_written_out(api: Server) -> None:
    told = api.call("GET", PODS, headers=as_user("a<b>&c")).message
    assert told.startswith('pods is forbidden: User "a&lt;b&gt;&amp;c" cannot list')


def test_a_role_holds_in_its_namespace_alone(api: Server) -> None:
    grant(api, user("jane"), rule("get,list", "pods"))
    assert api.call("GET", PODS, headers=as_user("jane")).code == 200
    assert api.call("GET", "/api/v1/namespaces/kube-system/pods", headers=as_user("jane")).code == 403
    assert api.call("GET", "/api/v1/pods", headers=as_user("jane")).code == 403


def test_a_cluster_role_bound_in_a_namespace_holds_there_alone(api: Server) -> None:
    api.call("POST", f"{OWN}/rolebindings", binding("v", "view", user("jane"), kind="ClusterRole"))
    assert may(api, "jane", "list", "pods")
    assert not may(api, "jane", "list", "pods", "kube-system")


def test_a_cluster_role_binding_holds_everywhere(api: Server) -> None:
    api.call("POST", f"{RBAC}/clusterrolebindings", binding("v", "view", user("jane"), kind="ClusterRole"))
    assert may(api, "jane", "list", "pods", "kube-system")
    assert may(api, "jane", "list", "pods", "")
    assert not may(api, "jane", "list", "secrets")


def test_the_reason_of_a_yes_is_the_binding(api: Server) -> None:
    grant(api, user("jane"), rule("get", "pods"))
    assert decided(api, "jane", "get", "pods") == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "given/default" of Role "given" to User "jane"',
    }
    assert decided(api, "jane", "get", "secrets") == {"allowed": False}


def test_a_binding_to_a_role_that_is_not_there_gives_nothing_and_is_named(api: Server) -> None:
    api.call("POST", f"{OWN}/rolebindings", binding("b", "gone", user("mia")))
    refused = api.call("GET", PODS, headers=as_user("mia"))
    assert refused.message.endswith(': rbac: RBAC: role.rbac.authorization.k8s.io "gone" not found')


def test_groups_and_service_accounts_are_subjects(api: Server) -> None:
    grant(api, group("team"), rule("get", "pods"), name="a")
    grant(api, account("robot"), rule("get", "secrets"), name="b")
    assert api.call("GET", f"{PODS}/x", headers=as_user("jane", group="team")).code == 404
    assert api.call("GET", f"{PODS}/x", headers=as_user("jane", group="other")).code == 403
    assert may(api, "system:serviceaccount:default:robot", "get", "secrets")
    assert not may(api, "system:serviceaccount:kube-system:robot", "get", "secrets")


def test_resource_names_leave_lists_out_unless_they_ask_for_that_name(api: Server) -> None:
    grant(api, user("jane"), rule("get,list,create", "configmaps", names="one"))
    assert api.call("GET", f"{MAPS}/one", headers=as_user("jane")).code == 404
    assert api.call("GET", f"{MAPS}/two", headers=as_user("jane")).code == 403
    assert api.call("GET", MAPS, headers=as_user("jane")).code == 403
    assert api.call("GET", f"{MAPS}?fieldSelector=metadata.name%3Done", headers=as_user("jane")).code == 200
    assert api.call("POST", MAPS, config_map("one"), as_user("jane")).code == 403


def test_a_subresource_is_a_resource_of_its_own(api: Server) -> None:
    grant(api, user("jane"), rule("get", "pods"), rule("get", "*/scale", groups="apps"))
    assert not may(api, "jane", "get", "pods", subresource="log")
    assert may(api, "jane", "get", "deployments", group="apps", subresource="scale")
    assert not may(api, "jane", "get", "deployments", group="apps")


def test_applying_what_is_not_there_takes_the_right_to_create(api: Server) -> None:
    grant(api, user("pat"), rule("patch", "configmaps"))
    body = {"apiVersion": "v1", **config_map("new")}
    headers = {**as_user("pat"), "content-type": "application/apply-patch+yaml"}
    refused = api.call("PATCH", f"{MAPS}/new?fieldManager=me", body, headers)
    assert (refused.code, refused.reason) == (403, "Forbidden")
    told = 'User "pat" cannot create resource "configmaps" in API group "" in the namespace "default"'
    assert refused.message == f'configmaps "new" is forbidden: {told}'


def test_what_is_changed_about_roles_and_bindings_holds_at_once(api: Server) -> None:
    grant(api, user("jane"), rule("get", "pods"))
    assert may(api, "jane", "get", "pods")
    api.call("PUT", f"{OWN}/roles/given", role("given", rule("get", "secrets")))
    assert (may(api, "jane", "get", "pods"), may(api, "jane", "get", "secrets")) == (False, True)
    api.call("PUT", f"{OWN}/rolebindings/given", binding("given", "given", user("otto")))
    assert (may(api, "jane", "get", "secrets"), may(api, "otto", "get", "secrets")) == (False, True)
    api.call("DELETE", f"{OWN}/rolebindings/given")
    assert not may(api, "otto", "get", "secrets")


def test_the_index_is_made_anew_where_the_log_no_longer_reaches_back(api: Server) -> None:
    grant(api, user("jane"), rule("get", "pods"))
    assert may(api, "jane", "get", "pods")
    resource = api.cluster.store.resource_of(GROUP, "Role")
    assert resource is not None
    bodies = cycle([records.body(b'"rules":[]'), records.body(b'"rules":[{"verbs":["get"]}]')])
    for body in islice(bodies, 2 * HISTORY + 1):
        api.cluster.store.change(resource, "default", "given", lambda old, body=body: old.with_body(body))  # type: ignore[misc]
    api.call("PUT", f"{OWN}/roles/given", role("given", rule("get", "secrets")))
    assert (may(api, "jane", "get", "pods"), may(api, "jane", "get", "secrets")) == (False, True)


def test_the_anonymous_may_read_how_the_server_is_and_nothing_else(api: Server) -> None:
    nobody = as_user("system:anonymous")
    for path in ("/version", "/healthz", "/livez", "/readyz"):
        assert api.call("GET", path, headers=nobody).code == 200
    for path in ("/api", "/apis", "/openapi/v3", PODS):
        assert api.call("GET", path, headers=nobody).code == 403
    assert api.call("GET", "/api", headers=as_user("jane")).code == 200


# -- roles that are made of others


def test_a_role_that_gathers_others_has_their_rules_at_once_and_no_longer_than_they_have(api: Server) -> None:
    gathering = {
        "metadata": {"name": "all"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]},
        "rules": [],
    }
    api.call("POST", f"{RBAC}/clusterroles", gathering)
    api.call("POST", f"{RBAC}/clusterrolebindings", binding("all", "all", user("jane"), kind="ClusterRole"))
    assert not may(api, "jane", "get", "pods")
    api.call("POST", f"{RBAC}/clusterroles", role("one", rule("get", "pods"), labels={"part": "yes"}))
    api.call("POST", f"{RBAC}/clusterroles", role("two", rule("get", "nodes"), labels={"part": "no"}))
    assert api.call("GET", f"{RBAC}/clusterroles/all").tree["rules"] == [rule("get", "pods")]
    assert (may(api, "jane", "get", "pods"), may(api, "jane", "get", "nodes", "")) == (True, False)
    api.call("DELETE", f"{RBAC}/clusterroles/one")
    assert not may(api, "jane", "get", "pods")


def test_a_role_for_view_joins_edit_and_admin_too(api: Server) -> None:
    label = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    for name in ("view", "edit", "admin"):
        api.call("POST", f"{OWN}/rolebindings", binding(name, name, user(name), kind="ClusterRole"))
    assert not any(may(api, name, "get", "nodepools", group="karpenter.sh") for name in ("view", "edit", "admin"))
    pools = rule("get", "nodepools", groups="karpenter.sh")
    api.call("POST", f"{RBAC}/clusterroles", role("pools", pools, labels=label))
    assert all(may(api, name, "get", "nodepools", group="karpenter.sh") for name in ("view", "edit", "admin"))


def test_roles_that_gather_each_other_in_a_circle_come_to_rest(api: Server) -> None:
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        tree = {
            "metadata": {"name": name, "labels": {"is": name}},
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"is": other}}]},
            "rules": [rule("get", name)],
        }
        assert api.call("POST", f"{RBAC}/clusterroles", tree).code == 201


def test_a_new_cluster_has_the_roles_of_a_real_one(api: Server) -> None:
    found = {
        plural: len(api.call("GET", f"{RBAC}/{plural}").tree["items"])
        for plural in ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
    }
    assert found == {"clusterroles": 73, "clusterrolebindings": 54, "roles": 7, "rolebindings": 7}
    scheduler = "system:kube-scheduler"
    reason = f'RBAC: allowed by ClusterRoleBinding "{scheduler}" of ClusterRole "{scheduler}" to User "{scheduler}"'
    assert decided(api, scheduler, "create", "pods", subresource="binding") == {"allowed": True, "reason": reason}
    rules = api.call("GET", f"{RBAC}/clusterroles/system:public-info-viewer").tree["rules"]
    assert rules == [{"nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version", "/version/"], "verbs": ["get"]}]


# -- reviews


def test_rules_review_lists_what_somebody_has(api: Server) -> None:
    grant_everywhere(api, user("jane"), rule("get", "nodes", names="a"))
    answer = api.call(
        "POST", f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}, as_user("jane")
    )
    status = answer.tree["status"]
    told = {"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"], "resourceNames": ["a"]}
    assert told in status["resourceRules"]
    assert {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version", "/version/"]} in status[
        "nonResourceRules"
    ]
    assert status["incomplete"] is False


@pytest.mark.parametrize(
    ("kind", "spec", "message", "field"),
    [
        (
            "selfsubjectaccessreviews",
            {},
            "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
            "spec",
        ),
        (
            "selfsubjectaccessreviews",
            {"resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/x"}},
            'Invalid value: {"Path":"/x","Verb":""}: exactly one of nonResourceAttributes or resourceAttributes must '
            "be specified",
            "spec",
        ),
        (
            "subjectaccessreviews",
            {"resourceAttributes": {"verb": "get"}},
            'Invalid value: "": at least one of user or group must be specified',
            "spec.user",
        ),
        (
            "namespaces/default/localsubjectaccessreviews",
            {"user": "jane", "resourceAttributes": {"namespace": "x"}},
            'Invalid value: "x": must match metadata.namespace',
            "spec.resourceAttributes.namespace",
        ),
        (
            "namespaces/default/localsubjectaccessreviews",
            {"user": "jane", "nonResourceAttributes": {"path": "/version", "verb": "get"}},
            'Invalid value: {"Path":"/version","Verb":"get"}: disallowed on this kind of request',
            "spec.nonResourceAttributes",
        ),
    ],
)
def test_a_review_that_asks_nothing_sensible_is_invalid(
    api: Server, kind: str, spec: dict[str, object], message: str, field: str
) -> None:
    refused = api.call("POST", f"{AUTHORIZATION}/{kind}", {"spec": spec})
    assert (refused.code, refused.reason) == (422, "Invalid")
    assert refused.message == f'.authorization.k8s.io "" is invalid: {field}: {message}'
    cause = {"reason": "FieldValueInvalid", "message": message, "field": field}
    assert refused.tree["details"] == {"group": "authorization.k8s.io", "causes": [cause]}


def test_local_review_answers_for_its_namespace(api: Server) -> None:
    grant(api, user("jane"), rule("get", "pods"))
    spec = {"user": "jane", "resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}}
    answer = api.call("POST", f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews", {"spec": spec})
    assert (answer.code, answer.tree["status"]["allowed"]) == (201, True)
    assert answer.tree["metadata"] == {"namespace": "default"}
    assert answer.tree["spec"] == spec


def test_rules_review_needs_a_namespace(api: Server) -> None:
    refused = api.call("POST", f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {}})
    assert (refused.code, refused.reason, refused.message) == (400, "BadRequest", "no namespace on request")
