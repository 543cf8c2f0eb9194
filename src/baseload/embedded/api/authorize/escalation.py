"""Roles and bindings give nobody what their writer does not have himself.

He may write them all the same where he has the verb `escalate` on the role, or `bind` on the role that he binds.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from baseload.embedded.api.authorize.attributes import Attributes
from baseload.embedded.api.authorize.authorizer import EVERYTHING, Authorizer
from baseload.embedded.api.authorize.grants import GROUP, BindingSpec, NoRole
from baseload.embedded.api.authorize.rules import ALL, Rule, quoted_all, reaches
from baseload.embedded.api.identity import Identity
from baseload.embedded.store import errors
from baseload.embedded.store.record import Json, Record, encode
from baseload.embedded.store.resource import Resource
from baseload.kube.merge.go_text import quoted

_COLLECTORS: Final = ("finalizers", "ownerReferences", "managedFields", "resourceVersion", "generation")
_AGGREGATION: Final = "must have cluster-admin privileges to use the aggregationRule"


class _Aggregation(msgspec.Struct, rename="camel"):
    cluster_role_selectors: tuple[object, ...] | None = None


class _Role(msgspec.Struct, rename="camel"):
    rules: tuple[Rule, ...] | None = None
    aggregation_rule: _Aggregation | None = None

    @property
    def is_aggregating(self) -> bool:
        return self.aggregation_rule is not None and bool(self.aggregation_rule.cluster_role_selectors)


def check(
    authorizer: Authorizer, identity: Identity, resource: Resource, tree: dict[str, Json], old: Record | None
) -> None:
    """Refuses a role or a binding that gives more than its writer has."""
    if identity.is_master or resource.group != GROUP or (old is not None and _only_collects(tree, old)):
        return
    try:
        if resource.kind.endswith("Binding"):
            _check_binding(authorizer, identity, resource, tree)
        else:
            _check_role(authorizer, identity, resource, tree, old)
    except msgspec.ValidationError:
        return  # it is no role or binding at all, and is refused for that


def _check_role(
    authorizer: Authorizer, identity: Identity, resource: Resource, tree: dict[str, Json], old: Record | None
) -> None:
    name, namespace = _named(tree)
    # A create asks for the right on any name, as its path names none.
    asked = Attributes("escalate", GROUP, resource.plural, namespace=namespace, name=name if old is not None else "")
    if authorizer.allows(identity, asked):
        return
    role = msgspec.convert(tree, _Role)
    _confirm(authorizer, identity, resource, tree, role.rules or ())
    before = None if old is None else msgspec.json.decode(encode(old), type=_Role)
    if role.is_aggregating or (before is not None and before.is_aggregating):
        own = authorizer.rules(identity, "")[0]
        if any(uncovered(own, EVERYTHING)):
            raise errors.forbidden(resource, name, _AGGREGATION)


def _check_binding(authorizer: Authorizer, identity: Identity, resource: Resource, tree: dict[str, Json]) -> None:
    role = msgspec.convert(tree, BindingSpec).role_ref
    _, namespace = _named(tree)
    plural = {"ClusterRole": "clusterroles", "Role": "roles"}.get(role.kind)
    if plural is None:
        return  # refused as invalid
    if authorizer.allows(identity, Attributes("bind", role.api_group, plural, namespace=namespace, name=role.name)):
        return
    try:
        rules = authorizer.grants.rules_of(role, namespace)
    except NoRole as error:
        raise errors.not_found(resource, role.name) from error  # a server names the binding's kind, not the role's
    _confirm(authorizer, identity, resource, tree, rules)


def _confirm(
    authorizer: Authorizer, identity: Identity, resource: Resource, tree: dict[str, Json], rules: Iterable[Rule]
) -> None:
    name, namespace = _named(tree)
    own, granted = authorizer.rules(identity, namespace)
    missing = sorted({str(rule) for rule in compact(uncovered(own, rules))})
    if missing:
        who = f"user {quoted(identity.name)} (groups={quoted_all(identity.groups)})"
        why = f"{who} is attempting to grant RBAC permissions not currently held:\n" + "\n".join(missing)
        if granted.missing:
            why += f"; resolution errors: [{granted.trouble}]"
        raise errors.forbidden(resource, name, why)


def uncovered(own: Iterable[Rule], rules: Iterable[Rule]) -> Iterator[Rule]:
    """The smallest parts of rules that none of somebody's own rules covers."""
    own = tuple(own)
    return (part for rule in rules for part in _parts(rule) if not any(_covers(held, part) for held in own))


def compact(parts: Iterable[Rule]) -> Iterator[Rule]:
    """Smallest parts put together again, as far as they differ in the verb alone."""
    verbs: dict[Rule, list[str]] = {}
    for part in parts:
        key = part if part.urls else msgspec.structs.replace(part, verbs=())
        verbs.setdefault(key, []).extend(part.verbs)
    return (rule if rule.urls else msgspec.structs.replace(rule, verbs=tuple(held)) for rule, held in verbs.items())


def _parts(rule: Rule) -> Iterator[Rule]:
    for group in rule.api_groups:
        for resource in rule.resources:
            for verb in rule.verbs:
                yield from (Rule((verb,), (group,), (resource,), (name,)) for name in rule.resource_names)
                if not rule.resource_names:
                    yield Rule((verb,), (group,), (resource,))
    for url in rule.urls:
        for verb in rule.verbs:
            yield Rule((verb,), urls=(url,))


def _covers(own: Rule, part: Rule) -> bool:
    return (
        _has_all(own.verbs, part.verbs)
        and _has_all(own.api_groups, part.api_groups)
        and all(_has_resource(own.resources, resource) for resource in part.resources)
        and all(any(reaches(held, url) for held in own.urls) for url in part.urls)
        and (
            not own.resource_names or (bool(part.resource_names) and set(part.resource_names) <= {*own.resource_names})
        )
    )


def _has_all(own: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return ALL in own or set(wanted) <= set(own)


def _has_resource(own: tuple[str, ...], resource: str) -> bool:
    if ALL in own or resource in own:
        return True
    _, slash, subresource = resource.partition("/")
    return bool(slash) and f"*/{subresource}" in own


def _only_collects(tree: dict[str, Json], old: Record) -> bool:
    """Whether a write changes nothing but what a garbage collector does."""
    before = msgspec.json.decode(encode(old))
    return _without(tree) == _without(before)


def _without(tree: dict[str, Json]) -> dict[str, Json]:
    metadata = tree.get("metadata")
    held = metadata if isinstance(metadata, dict) else {}
    return {**tree, "metadata": {key: value for key, value in held.items() if key not in _COLLECTORS}}


def _named(tree: dict[str, Json]) -> tuple[str, str]:
    metadata = tree.get("metadata")
    held = metadata if isinstance(metadata, dict) else {}
    return str(held.get("name") or ""), str(held.get("namespace") or "")
