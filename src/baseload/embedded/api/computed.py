"""Kinds that are answered, not stored: reviews of who may do what, and measurements.

Such a kind has its place in discovery, in OpenAPI and in paths like any other, the verbs that it is declared with, and
a `Reply` that works out the answer from the cluster, the target of the request and the call (with `call.identity`, who
asks). The store never hears of it.

    Kinds.add(computed.kind("metrics.k8s.io/v1beta1", "NodeMetrics", "nodes", verbs=("get", "list"), reply=..., ...))

A reply tells get from list by `target.name`, and takes the body of a create with `sent`. What it gives is answered as
it stands, with 201 to a create and 200 otherwise.
"""

from typing import TYPE_CHECKING

from baseload.embedded.api import bodies, validation
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.refusals import no_such_method, no_such_path
from baseload.embedded.api.target import Target
from baseload.embedded.store.resource import Resource
from baseload.kube.merge import types
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema

if TYPE_CHECKING:
    from baseload.embedded.api.kinds import Reply


def kind(
    api_version: str,
    name: str,
    plural: str,
    *,
    verbs: tuple[str, ...],
    reply: "Reply",
    namespaced: bool = False,
    short_names: tuple[str, ...] = (),
    schema: Schema | None = None,
) -> ServedKind:
    """A computed kind; the schema of one of Kubernetes' own is known."""
    group, _, version = api_version.rpartition("/")
    told = schema or definitions.of_kind(api_version, name)
    assert told is not None, f"{api_version} {name} has no schema"
    return ServedKind(
        Resource(group, version, name, plural, namespaced=namespaced, has_status=False, has_generation=False),
        name.lower(),
        short_names,
        (),
        types.of_schema(api_version, name, told),
        told,
        list_kind=f"{name}List",
        verbs=verbs,
        reply=reply,
    )


def answer(cluster: Cluster, target: Target, call: Call) -> Tree:
    """The answer to a request about a computed kind."""
    served = target.kind
    if target.subresource or (target.name and "get" not in served.verbs):
        raise no_such_path()
    is_of_all = served.resource.namespaced and not target.namespace
    if is_of_all and "list" not in served.verbs:
        raise no_such_path()
    if _verb(target, call) not in served.verbs or (is_of_all and call.method == "POST"):
        raise no_such_method()
    assert served.reply is not None
    return served.reply(cluster, target, call)


def sent(target: Target, call: Call) -> Tree:
    """The body of a create: an object of the kind, with no fields but its own."""
    tree = bodies.tree(target, call)
    if "spec" in (definitions.properties(target.kind.schema) or {}):
        tree.setdefault("spec", {})
    validation.take_known(target.kind, tree, call)
    validation.check_readable(target.kind, tree)
    return tree


def _verb(target: Target, call: Call) -> str:
    if call.method == "GET":
        if call.flag("watch"):
            return "watch"
        return "get" if target.name else "list"
    return {"POST": "create"}.get(call.method, call.method)
