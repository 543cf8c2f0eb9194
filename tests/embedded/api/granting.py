"""Roles and bindings for tests, and calls in somebody's name."""

from typing import Any, Final

from tests.embedded.api.calling import JSON, Answered, Server

RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
OWN: Final = f"{RBAC}/namespaces/default"
AUTHORIZATION: Final = "/apis/authorization.k8s.io/v1"
GROUP: Final = "rbac.authorization.k8s.io"


def rule(verbs: str, resources: str, *, groups: str = "", names: str = "") -> dict[str, object]:
    """A rule, from words with commas between them."""
    told: dict[str, object] = {
        "verbs": verbs.split(","),
        "apiGroups": groups.split(","),
        "resources": resources.split(","),
    }
    return {**told, "resourceNames": names.split(",")} if names else told


def role(name: str, *rules: dict[str, object], labels: dict[str, str] | None = None) -> dict[str, object]:
    return {"metadata": {"name": name, "labels": labels or {}}, "rules": list(rules)}


def binding(name: str, of: str, *subjects: dict[str, str], kind: str = "Role") -> dict[str, object]:
    ref = {"apiGroup": GROUP, "kind": kind, "name": of}
    return {"metadata": {"name": name}, "roleRef": ref, "subjects": list(subjects)}


def user(name: str) -> dict[str, str]:
    return {"kind": "User", "apiGroup": GROUP, "name": name}


def group(name: str) -> dict[str, str]:
    return {"kind": "Group", "apiGroup": GROUP, "name": name}


def account(name: str, namespace: str = "") -> dict[str, str]:
    told = {"kind": "ServiceAccount", "name": name}
    return {**told, "namespace": namespace} if namespace else told


def grant(api: Server, who: dict[str, str], *rules: dict[str, object], name: str = "given") -> None:
    """Gives somebody rules in the namespace default."""
    made(api.call("POST", f"{OWN}/roles", role(name, *rules)))
    made(api.call("POST", f"{OWN}/rolebindings", binding(name, name, who)))


def grant_everywhere(api: Server, who: dict[str, str], *rules: dict[str, object], name: str = "given") -> None:
    """Gives somebody rules in the whole cluster."""
    made(api.call("POST", f"{RBAC}/clusterroles", role(name, *rules)))
    made(api.call("POST", f"{RBAC}/clusterrolebindings", binding(name, name, who, kind="ClusterRole")))


def made(answer: Answered) -> Any:
    assert answer.code == 201, answer.message
    return answer.tree


def as_user(name: str, **headers: str) -> dict[str, str]:
    """The headers of a request in somebody's name."""
    more = {f"impersonate-{key.replace('_', '-')}": value for key, value in headers.items()}
    return {**JSON, "impersonate-user": name, **more}


def decided(api: Server, name: str, verb: str, resource: str, namespace: str = "default", **more: str) -> Any:
    """What a SubjectAccessReview says."""
    on = {"verb": verb, "resource": resource, "namespace": namespace, **more}
    body = {"spec": {"user": name, "resourceAttributes": on}}
    return made(api.call("POST", f"{AUTHORIZATION}/subjectaccessreviews", body))["status"]


def may(api: Server, name: str, verb: str, resource: str, namespace: str = "default", **more: str) -> bool:
    return bool(decided(api, name, verb, resource, namespace, **more)["allowed"])
