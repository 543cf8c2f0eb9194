"""The subresource `token` of service accounts: a token on request, for an audience and a time, bound to an object."""

from functools import cache
from typing import Final, cast

from baseload.embedded.api import bodies, computed, validation
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.target import Target
from baseload.embedded.api.tokens import AUDIENCE, Bound, Reference, found
from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest, Cause
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.resource import Resource
from baseload.values import instant

_API_VERSION: Final = "authentication.k8s.io/v1"
_RESOURCE: Final = Resource("authentication.k8s.io", "v1", "TokenRequest", "tokenrequests")
_CONFLICTING: Final = Resource("authentication.k8s.io", "v1", "TokenRequest", "TokenRequest")
"""As a server names it in a conflict"""
_SECONDS: Final = 3600
_SHORTEST: Final = 600
_LONGEST: Final = 2**32
_BOUND: Final = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


def issue(cluster: Cluster, target: Target, call: Call) -> Tree:
    """POST of a TokenRequest."""
    tree = _sent(target, call)
    metadata = _map(tree, "metadata")
    if (name := metadata.get("name")) not in (None, "", target.name):
        message = f'Invalid value: "{name}": must match the service account name if specified'
        raise errors.invalid(_RESOURCE, target.name, (Cause("FieldValueInvalid", message, "metadata.name"),))
    account = cluster.store.get(target.kind.resource, target.namespace, target.name)
    if (uid := metadata.get("uid")) and uid != account.uid:
        claim = f"the UID in the token request ({uid}) does not match the UID of the service account ({account.uid})"
        raise errors.conflict(_CONFLICTING, target.name, claim)
    spec = _map(tree, "spec")
    audiences = cast("list[str]", spec.get("audiences") or [AUDIENCE])
    seconds = _seconds(spec)
    bound = _bound(cluster, account, spec)
    told: Tree = {
        "name": account.name,
        "namespace": account.namespace,
        "uid": account.uid,
        "creationTimestamp": cluster.now(),
    }
    head: Tree = {"kind": "TokenRequest", "apiVersion": _API_VERSION, "metadata": {**metadata, **told}}
    asked: Tree = {
        "audiences": cast(Json, audiences),
        "expirationSeconds": seconds,
        "boundObjectRef": spec.get("boundObjectRef"),
    }
    ends = cluster.clock.now() // instant.SECOND * instant.SECOND + seconds * instant.SECOND
    status: Tree = {
        "token": "" if call.is_dry_run else cluster.tokens.issued(bound, audiences, seconds),
        "expirationTimestamp": instant.format(ends),
    }
    return {**head, "spec": asked, "status": status}


def _sent(target: Target, call: Call) -> Tree:
    kind = _kind()
    tree = bodies.tree(Target(kind, target.namespace), call)
    validation.take_known(kind, tree, call)
    validation.check_readable(kind, tree)
    return tree


@cache
def _kind() -> ServedKind:
    return computed.kind(_API_VERSION, "TokenRequest", "tokenrequests", verbs=("create",), reply=issue, namespaced=True)


def _seconds(spec: Tree) -> int:
    seconds = spec.get("expirationSeconds")
    if seconds is None:
        return _SECONDS
    assert isinstance(seconds, int)
    why = ""
    if seconds < _SHORTEST:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > _LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
    if why:
        message = f"Invalid value: {seconds}: {why}"
        raise errors.invalid(_RESOURCE, "", (Cause("FieldValueInvalid", message, "spec.expirationSeconds"),))
    return seconds


def _bound(cluster: Cluster, account: Record, spec: Tree) -> Bound:
    own = Reference(account.name, account.uid)
    if not isinstance(spec.get("boundObjectRef"), dict):
        return Bound(account.namespace, own)
    wanted = _map(spec, "boundObjectRef")
    api_version, kind, name = (str(wanted.get(key) or "") for key in ("apiVersion", "kind", "name"))
    group, _, version = api_version.rpartition("/")
    if group or kind not in _BOUND:
        raise BadRequest(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    record = found(cluster.store, kind, "" if kind == "Node" else account.namespace, name)
    if record is None:
        raise errors.not_found(Resource("", "v1", kind, _BOUND[kind]), name)
    pod_account = record.body.field("spec.serviceAccountName") or "default"
    if kind == "Pod" and pod_account != account.name:
        why = (
            f'cannot bind token for serviceaccount "{account.name}" to pod running with different serviceaccount name.'
        )
        raise BadRequest(why)
    if (uid := wanted.get("uid")) and uid != record.uid:
        why = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise errors.conflict(Resource("", "v1", kind, kind), name, why)
    reference = Reference(name, record.uid)
    match kind:
        case "Pod":
            return Bound(account.namespace, own, pod=reference, node=_node_of(cluster, record))
        case "Secret":
            return Bound(account.namespace, own, secret=reference)
    return Bound(account.namespace, own, node=reference)


def _node_of(cluster: Cluster, pod: Record) -> Reference | None:
    if not pod.node:
        return None
    node = found(cluster.store, "Node", "", pod.node)
    return Reference(pod.node, node.uid if node is not None else "")


def _map(tree: Tree, key: str) -> Tree:
    held = tree.get(key)
    return held if isinstance(held, dict) else {}
