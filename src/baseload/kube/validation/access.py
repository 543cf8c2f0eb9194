"""Roles, and who is bound to them."""

from typing import Any, Final

from baseload.kube.validation import metadata, names
from baseload.kube.validation.fault import Faults, Tree, immutable, invalid, required, unsupported
from baseload.kube.validation.names import each

_GROUP: Final = "rbac.authorization.k8s.io"
_KINDS: Final = ("ServiceAccount", "User", "Group")


def role(tree: Tree, old: Tree | None) -> Faults:
    """A Role."""
    for index, rule in enumerate(tree.get("rules") or ()):
        yield from _rule(rule, f"rules[{index}]", is_namespaced=True)


def cluster_role(tree: Tree, old: Tree | None) -> Faults:
    """A ClusterRole."""
    for index, rule in enumerate(tree.get("rules") or ()):
        yield from _rule(rule, f"rules[{index}]", is_namespaced=False)
    aggregation = tree.get("aggregationRule")
    if aggregation is None:
        return
    selectors = aggregation.get("clusterRoleSelectors")
    path = "aggregationRule.clusterRoleSelectors"
    if not selectors:
        yield required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for index, selector in enumerate(selectors or ()):
        wrong = list(metadata.selector(selector, f"{path}[{index}]"))
        yield from wrong
        if wrong:
            yield invalid(f"{path}[{index}]", None, "invalid label selector.")


def _rule(rule: Tree, at: str, *, is_namespaced: bool) -> Faults:
    urls = rule.get("nonResourceURLs")
    if urls:
        if is_namespaced:
            yield invalid(f"{at}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
        elif rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{at}.nonResourceURLs", urls, why)
    else:
        if not rule.get("apiGroups"):
            yield required(f"{at}.apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            yield required(f"{at}.resources", "resource rules must supply at least one resource")
    if not rule.get("verbs"):
        yield required(f"{at}.verbs")


def role_binding(tree: Tree, old: Tree | None) -> Faults:
    """A RoleBinding."""
    yield from _binding(tree, old, ("Role", "ClusterRole"))
    for index, subject in enumerate(tree.get("subjects") or ()):
        yield from _subject(subject, f"subjects[{index}]", is_namespaced=True)


def cluster_role_binding(tree: Tree, old: Tree | None) -> Faults:
    """A ClusterRoleBinding."""
    yield from _binding(tree, old, ("ClusterRole",))
    for index, subject in enumerate(tree.get("subjects") or ()):
        yield from _subject(subject, f"subjects[{index}]", is_namespaced=False)


def _binding(tree: Tree, old: Tree | None, kinds: tuple[str, ...]) -> Faults:
    reference = tree.get("roleRef", {})
    group, kind, name = (reference.get(field, "") for field in ("apiGroup", "kind", "name"))
    if old is not None and _told(reference) != _told(old.get("roleRef", {})):
        yield immutable("roleRef", _told(reference))
    if group != _GROUP:
        yield unsupported("roleRef.apiGroup", group, (_GROUP,))
    if kind not in kinds:
        yield unsupported("roleRef.kind", kind, kinds)
    yield from names.needed(names.path_segment, name, "roleRef.name")


def _told(reference: Tree) -> dict[str, Any]:
    fields = (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
    return {told: reference.get(name, "") for told, name in fields}


def _subject(subject: Tree, at: str, *, is_namespaced: bool) -> Faults:
    kind, name, group = subject.get("kind", ""), subject.get("name", ""), subject.get("apiGroup", "")
    if kind == "ServiceAccount":
        if name:
            yield from each(names.subdomain(name), f"{at}.name", name)
        if group:
            yield unsupported(f"{at}.apiGroup", group, ("",))
        if not is_namespaced and not subject.get("namespace"):
            yield required(f"{at}.namespace")
    elif kind in ("User", "Group"):
        if group != _GROUP:
            yield unsupported(f"{at}.apiGroup", group, (_GROUP,))
    else:
        yield unsupported(f"{at}.kind", kind, _KINDS)
    if not name:
        yield required(f"{at}.name")
