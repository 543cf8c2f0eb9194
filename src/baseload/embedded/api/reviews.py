"""The reviews: what an API answers when it is asked who somebody is, and what he may do."""

import json
from typing import TYPE_CHECKING, Final, cast

import msgspec

from baseload.embedded.api import computed
from baseload.embedded.api.authorize.attributes import Attributes
from baseload.embedded.api.authorize.authorizer import Decision
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.identity import Identity
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.target import Target
from baseload.embedded.api.tokens import AUDIENCE, Refused
from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest, Cause, Invalid
from baseload.embedded.store.record import Json
from baseload.embedded.store.resource import Resource

if TYPE_CHECKING:
    from baseload.embedded.api.kinds import Reply

_AUTHENTICATION: Final = "authentication.k8s.io/v1"
_AUTHORIZATION: Final = "authorization.k8s.io/v1"
_NAMELESS: Final = Resource("authorization.k8s.io", "v1", "", "")
"""What a server says that an invalid review is: it has lost the kind by then"""


class _OnResource(msgspec.Struct):
    namespace: str = ""
    verb: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""


class _OnPath(msgspec.Struct):
    path: str = ""
    verb: str = ""


class _Asked(msgspec.Struct, rename="camel"):
    """The spec of a review of access."""

    resource_attributes: _OnResource | None = None
    non_resource_attributes: _OnPath | None = None
    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: dict[str, tuple[str, ...]] = {}

    @property
    def attributes(self) -> Attributes:
        on, path = self.resource_attributes, self.non_resource_attributes
        if on is not None:
            return Attributes(on.verb, on.group, on.resource, on.subresource, on.namespace, on.name)
        assert path is not None
        return Attributes(path.verb, path=path.path or "/")


class _Token(msgspec.Struct):
    token: str = ""
    audiences: tuple[str, ...] = ()


def kinds() -> list[ServedKind]:
    """The kinds of the reviews."""
    return [
        _kind(_AUTHENTICATION, "SelfSubjectReview", _who_am_i),
        _kind(_AUTHENTICATION, "TokenReview", _whose_token),
        _kind(_AUTHORIZATION, "LocalSubjectAccessReview", _may_he_here, namespaced=True),
        _kind(_AUTHORIZATION, "SelfSubjectAccessReview", _may_i),
        _kind(_AUTHORIZATION, "SelfSubjectRulesReview", _what_may_i),
        _kind(_AUTHORIZATION, "SubjectAccessReview", _may_he),
    ]


def _kind(api_version: str, name: str, reply: "Reply", *, namespaced: bool = False) -> ServedKind:
    return computed.kind(api_version, name, f"{name.lower()}s", verbs=("create",), reply=reply, namespaced=namespaced)


def _answer(target: Target, metadata: Tree, status: Tree, spec: Json = None) -> Tree:
    resource = target.kind.resource
    if target.namespace:
        metadata = {**metadata, "namespace": target.namespace}
    head: Tree = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
    return {**head, "status": status} if spec is None else {**head, "spec": _without_empty(spec), "status": status}


def _without_empty(value: Json) -> Json:
    """A spec as a server gives it back: what says nothing is left out."""
    if not isinstance(value, dict):
        return value
    return {key: _without_empty(held) for key, held in value.items() if held not in ("", [], None)}


def _who_am_i(cluster: Cluster, target: Target, call: Call) -> Tree:
    computed.sent(target, call)
    return _answer(target, {"creationTimestamp": cluster.now()}, {"userInfo": user_info(call.identity)})


def user_info(identity: Identity) -> Tree:
    """A user as reviews tell him."""
    told: Tree = {"username": identity.name}
    if identity.uid:
        told["uid"] = identity.uid
    if identity.groups:
        told["groups"] = list(identity.groups)
    if identity.extra:
        told["extra"] = {key: cast(Json, list(values)) for key, values in sorted(identity.extra.items())}
    return told


def _whose_token(cluster: Cluster, target: Target, call: Call) -> Tree:
    tree = computed.sent(target, call)
    spec = msgspec.convert(tree["spec"], _Token)
    if not spec.token:
        raise BadRequest("token is required for TokenReview in authentication")
    try:
        identity, audiences = cluster.tokens.identity(spec.token, spec.audiences or (AUDIENCE,))
    except Refused as error:
        return _answer(target, {}, {"user": {}, "error": str(error)}, tree["spec"])
    status: Tree = {"authenticated": True, "user": user_info(identity), "audiences": list(audiences)}
    return _answer(target, {}, status, tree["spec"])


def _may_i(cluster: Cluster, target: Target, call: Call) -> Tree:
    tree = computed.sent(target, call)
    asked = _asked(tree)
    _check_one(asked)
    return _answer(target, {}, _decided(cluster.authorizer.decide(call.identity, asked.attributes)), tree["spec"])


def _may_he(cluster: Cluster, target: Target, call: Call) -> Tree:
    tree = computed.sent(target, call)
    asked = _asked(tree)
    _check_one(asked)
    _check_somebody(asked)
    return _answer(target, {}, _decided(_decide(cluster, asked)), tree["spec"])


def _may_he_here(cluster: Cluster, target: Target, call: Call) -> Tree:
    tree = computed.sent(target, call)
    asked = _asked(tree)
    _check_one(asked)
    _check_somebody(asked)
    on, path = asked.resource_attributes, asked.non_resource_attributes
    if on is not None and on.namespace != target.namespace:
        message = f'Invalid value: "{on.namespace}": must match metadata.namespace'
        raise _invalid("spec.resourceAttributes.namespace", message)
    if path is not None:
        message = f"Invalid value: {_go(path)}: disallowed on this kind of request"
        raise _invalid("spec.nonResourceAttributes", message)
    return _answer(target, {}, _decided(_decide(cluster, asked)), tree["spec"])


def _what_may_i(cluster: Cluster, target: Target, call: Call) -> Tree:
    tree = computed.sent(target, call)
    spec = tree["spec"]
    namespace = spec.get("namespace") if isinstance(spec, dict) else None
    if not isinstance(namespace, str) or not namespace:
        raise BadRequest("no namespace on request")
    rules, granted = cluster.authorizer.rules(call.identity, namespace)
    on_resources: list[Json] = []
    on_paths: list[Json] = []
    for rule in rules:
        if rule.resources:
            told: Tree = {
                "verbs": list(rule.verbs),
                "apiGroups": list(rule.api_groups),
                "resources": list(rule.resources),
                "resourceNames": list(rule.resource_names),
            }
            on_resources.append({key: value for key, value in told.items() if value})
        if rule.urls:
            on_paths.append({"verbs": list(rule.verbs), "nonResourceURLs": list(rule.urls)})
    status: Tree = {"resourceRules": on_resources, "nonResourceRules": on_paths, "incomplete": False}
    if granted.missing:
        status["evaluationError"] = granted.trouble
    return _answer(target, {}, status, {})


def _asked(tree: Tree) -> _Asked:
    return msgspec.convert(tree["spec"], _Asked)


def _decide(cluster: Cluster, asked: _Asked) -> Decision:
    identity = Identity(asked.user, asked.groups, asked.uid, asked.extra)
    return cluster.authorizer.decide(identity, asked.attributes)


def _decided(decision: Decision) -> Tree:
    status: Tree = {"allowed": decision.is_allowed}
    return {**status, "reason": decision.reason} if decision.reason else status


def _check_one(asked: _Asked) -> None:
    path = asked.non_resource_attributes
    if (asked.resource_attributes is None) == (path is None):
        shown = "null" if path is None else _go(path)
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise _invalid("spec", f"Invalid value: {shown}: {why}")


def _check_somebody(asked: _Asked) -> None:
    if not asked.user and not asked.groups:
        raise _invalid("spec.user", 'Invalid value: "": at least one of user or group must be specified')


def _go(path: _OnPath) -> str:
    return json.dumps({"Path": path.path, "Verb": path.verb}, separators=(",", ":"), ensure_ascii=False)


def _invalid(field: str, message: str) -> Invalid:
    return errors.invalid(_NAMELESS, "", (Cause("FieldValueInvalid", message, field),))
