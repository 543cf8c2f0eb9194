"""Who may do what with a server that speaks TLS and asks everybody who he is."""

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import yaml

from baseload.embedded.api.identity import AUTHENTICATED, Identity
from tests.kubectl.conftest import Kubectl
from tests.servers import embedded

TOKENS = {
    "janes": Identity("jane", ("team", AUTHENTICATED), "1"),
    "ottos": Identity("otto", (AUTHENTICATED,)),
}
ROLES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: pools, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}
rules: [{apiGroups: [karpenter.sh], resources: [nodepools], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: pools, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pools}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: otto}]
"""


@dataclass(frozen=True, slots=True)
class Secured:
    """kubectl of the administrator, and of others."""

    admin: Kubectl

    def bearing(self, token: str) -> Kubectl:
        """kubectl of whoever has a token."""
        home = self.admin.home / token[-12:]
        home.mkdir()
        config: Any = yaml.safe_load((self.admin.home / "config").read_text(encoding="utf-8"))
        config["users"][0]["user"] = {"token": token}
        (home / "config").write_text(yaml.safe_dump(config), encoding="utf-8")
        return Kubectl(home, self.admin.server)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture
def secured(tmp_path: Path, keys: Path) -> Iterator[Secured]:
    with embedded.running(keys, TOKENS) as server:
        server.write_kubeconfig(tmp_path / "config")
        yield Secured(Kubectl(tmp_path, server))


def test_the_administrator_comes_by_certificate_and_may_do_everything(secured: Secured) -> None:
    told = secured.admin("auth", "whoami", "-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}")
    assert told == 'system:admin ["system:masters","system:authenticated"]'
    assert secured.admin("auth", "can-i", "*", "*", "-A") == "yes\n"


def test_who_may_view_may_view_and_no_more(secured: Secured) -> None:
    jane = secured.bearing("janes")
    refused = jane.refused("get", "pods")
    told = 'User "jane" cannot list resource "pods" in API group "" in the namespace "default"'
    assert refused == f"Error from server (Forbidden): pods is forbidden: {told}\n"
    secured.admin("create", "rolebinding", "view", "--clusterrole=view", "--group=team")
    assert jane.run("get", "pods").err == "No resources found in default namespace.\n"
    refused = jane.refused("run", "web", "--image=nginx")
    assert 'pods is forbidden: User "jane" cannot create resource "pods" in API group "" in the namespace' in refused
    assert 'secrets is forbidden: User "jane" cannot list resource "secrets"' in jane.refused("get", "secrets")


def test_can_i_says_yes_or_no_and_ends_with_it(secured: Secured) -> None:
    jane = secured.bearing("janes")
    secured.admin("create", "rolebinding", "view", "--clusterrole=view", "--user=jane")
    yes, no = jane.run("auth", "can-i", "list", "pods"), jane.run("auth", "can-i", "delete", "pods")
    assert (yes.out, yes.code) == ("yes\n", 0)
    assert (no.out, no.code) == ("no\n", 1)
    assert jane.run("auth", "can-i", "get", "pods", "--subresource=log").out == "yes\n"
    assert jane.run("auth", "can-i", "get", "/healthz").out == "yes\n"
    assert jane.run("auth", "can-i", "list", "pods", "-n", "kube-system").out == "no\n"


def test_the_list_of_what_one_may_is_the_table_of_a_real_server(secured: Secured) -> None:
    lines = secured.bearing("janes")("auth", "can-i", "--list").splitlines()
    assert lines[0].split() == ["Resources", "Non-Resource", "URLs", "Resource", "Names", "Verbs"]
    rows = [line.split() for line in lines[1:]]
    assert rows[:3] == [
        ["selfsubjectreviews.authentication.k8s.io", "[]", "[]", "[create]"],
        ["selfsubjectaccessreviews.authorization.k8s.io", "[]", "[]", "[create]"],
        ["selfsubjectrulesreviews.authorization.k8s.io", "[]", "[]", "[create]"],
    ]
    assert ["[/api/*]", "[]", "[get]"] in rows
    assert ["[/version]", "[]", "[get]"] in rows
    first = secured.admin("auth", "can-i", "--list").splitlines()[1]
    assert first.split() == ["*.*", "[]", "[]", "[*]"]


def test_whoami_tells_user_and_groups(secured: Secured) -> None:
    lines = [line.split(maxsplit=1) for line in secured.bearing("janes")("auth", "whoami").splitlines()]
    groups = "[team system:authenticated]"
    assert lines == [["ATTRIBUTE", "VALUE"], ["Username", "jane"], ["UID", "1"], ["Groups", groups]]


def test_acting_as_another_takes_the_right_to(secured: Secured) -> None:
    told = secured.admin("auth", "whoami", "--as=otto", "--as-group=ops", "-o", "jsonpath={.status.userInfo}")
    assert told == '{"groups":["ops","system:authenticated"],"username":"otto"}'
    assert secured.admin.run("auth", "can-i", "list", "pods", "--as=otto").out == "no\n"
    refused = secured.bearing("janes").refused("get", "--raw", "/api/v1/nodes", "--as=otto")
    asked = 'User "jane" cannot impersonate-on:user-info:list resource "nodes" in API group "" at the cluster scope'
    assert refused == f"Error from server (Forbidden): nodes is forbidden: {asked}\n"


def test_a_role_joins_view_by_its_label(secured: Secured) -> None:
    secured.admin("create", "clusterrolebinding", "view", "--clusterrole=view", "--user=jane")
    jane = secured.bearing("janes")
    assert jane.run("auth", "can-i", "list", "nodepools.karpenter.sh").out == "no\n"
    secured.admin("apply", "-f", "-", stdin=ROLES.split("---")[0])
    assert jane.run("auth", "can-i", "list", "nodepools.karpenter.sh").out == "yes\n"
    assert jane.run("get", "nodepools").err == "No resources found\n"


def test_a_token_of_a_service_account_is_that_account(secured: Secured) -> None:
    secured.admin("create", "serviceaccount", "robot")
    secured.admin("create", "rolebinding", "robot", "--clusterrole=edit", "--serviceaccount=default:robot")
    robot = secured.bearing(secured.admin("create", "token", "robot", "--duration=10m").strip())
    told = robot("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    assert told == "system:serviceaccount:default:robot"
    assert robot("create", "configmap", "mine", "--from-literal=a=b") == "configmap/mine created\n"
    assert "cannot list resource" in robot.refused("get", "nodes")
    secured.admin("delete", "serviceaccount", "robot")
    assert robot.refused("get", "pods") == "error: You must be logged in to the server (Unauthorized)\n"
    short = secured.admin.refused("create", "token", "default", "--duration=5m")
    assert "may not specify a duration less than 10 minutes" in short


def test_nobody_gives_what_he_does_not_have(secured: Secured) -> None:
    secured.admin("create", "rolebinding", "admin", "--clusterrole=admin", "--user=jane")
    jane = secured.bearing("janes")
    assert jane("create", "role", "reader", "--verb=get", "--resource=pods") == (
        "role.rbac.authorization.k8s.io/reader created\n"
    )
    refused = jane.refused("create", "role", "nodes", "--verb=get", "--resource=nodes")
    assert refused.splitlines() == [
        'Error from server (Forbidden): roles.rbac.authorization.k8s.io "nodes" is forbidden: user "jane" '
        '(groups=["team" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}',
    ]
    refused = jane.refused("create", "rolebinding", "root", "--clusterrole=cluster-admin", "--user=jane")
    assert "is attempting to grant RBAC permissions not currently held:" in refused


def test_reconcile_makes_roles_and_bindings_and_then_has_nothing_to_do(secured: Secured) -> None:
    out = secured.admin("auth", "reconcile", "-f", "-", stdin=ROLES)
    assert "clusterrole.rbac.authorization.k8s.io/pools reconciled" in out
    assert "rolebinding.rbac.authorization.k8s.io/pools reconciled" in out
    again = secured.admin("auth", "reconcile", "-f", "-", stdin=ROLES)
    assert "added" not in again
    assert secured.bearing("ottos").run("auth", "can-i", "get", "nodepools.karpenter.sh").out == "yes\n"


def test_a_token_that_nobody_has_is_unauthorized(secured: Secured) -> None:
    wrong = secured.bearing("nobodys").refused("get", "--raw", "/version")
    assert wrong == "error: You must be logged in to the server (Unauthorized)\n"


def test_whoever_shows_nothing_may_see_how_the_server_is_and_no_more(secured: Secured, keys: Path) -> None:
    trusted = ssl.create_default_context(cafile=str(keys / "ca.crt"))
    for path in ("/livez", "/readyz", "/healthz", "/version"):
        assert urlopen(secured.admin.server.address + path, context=trusted, timeout=10).status == 200
    with pytest.raises(HTTPError) as raised:
        urlopen(f"{secured.admin.server.address}/api", context=trusted, timeout=10)
    with raised.value as refused:
        told = json.load(refused)
    assert (told["code"], told["reason"]) == (403, "Forbidden")
    assert told["message"] == 'forbidden: User "system:anonymous" cannot get path "/api"'


def test_a_new_cluster_has_the_bootstrap_roles_of_a_real_one(kubectl: Kubectl) -> None:
    ours = embedded.objects("rbac.authorization.k8s.io")
    found = kubectl("get", "clusterroles,clusterrolebindings,roles,rolebindings", "-A", "-l", _BOOTSTRAP, "-o", "json")
    items = {_key(tree): tree for tree in json.loads(found)["items"]}
    assert items.keys() == {_key(tree) for tree in ours}
    for tree in ours:
        theirs = items[_key(tree)]
        for part in ("roleRef", "subjects", "aggregationRule"):
            assert theirs.get(part) == tree.get(part)
        if "aggregationRule" not in tree:  # a controller fills those in, where one runs
            assert (theirs.get("rules") or []) == tree.get("rules", [])
        assert theirs["metadata"]["labels"] == tree["metadata"]["labels"]


_BOOTSTRAP = "kubernetes.io/bootstrapping=rbac-defaults"


def _key(tree: Any) -> tuple[str, str, str]:
    return tree["kind"], tree["metadata"].get("namespace", ""), tree["metadata"]["name"]
