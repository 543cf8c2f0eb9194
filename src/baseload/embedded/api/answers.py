"""What is answered to a request about objects: it finds the target, runs the verb, and gives the outcome its form."""

from functools import partial
from typing import Final, cast

import msgspec
from starlette.types import ASGIApp

from baseload.embedded.api import (
    computed,
    evictions,
    options,
    parts,
    pod_actions,
    scale,
    simulated,
    status,
    tables,
    target,
    token_requests,
    verbs,
    versions,
    webhooks,
)
from baseload.embedded.api.answer import Answer as Answer
from baseload.embedded.api.answer import json as json
from baseload.embedded.api.call import JSON, PROTOBUF, YAML, Call, unsupported
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.negotiate import TABLES, Form, check_streams, form
from baseload.embedded.api.refusals import NotAcceptable, no_such_method, no_such_path
from baseload.embedded.api.tables import Include
from baseload.embedded.api.target import Target
from baseload.embedded.api.watch import Closing, Frame, Stream
from baseload.embedded.store import log
from baseload.embedded.store.errors import BadRequest, StatusError, Unreasoned
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.watch import Watch

_STREAMS = ("log", "exec", "attach", "portforward", "proxy")
"""Subresources that take whatever comes"""

_SHOWN_WHEN_GONE: Final = (
    "csidrivers.storage.k8s.io",
    "csinodes.storage.k8s.io",
    "namespaces",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "podtemplates",
    "resourcequotas",
    "serviceaccounts",
    "services",
    "storageclasses.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
    "volumeattributesclasses.storage.k8s.io",
)
"""Kinds of which a delete answers the object that is gone; of others, that it succeeded"""

_ACTIONS: Final = {"binding": pod_actions.bind, "eviction": evictions.evict, "token": token_requests.issue}


def of_target(
    cluster: Cluster, closing: Closing, version: tuple[str, str], rest: list[str], call: Call
) -> Answer | ASGIApp:
    """The answer to a request below a group's version."""
    found = target.find(cluster.kinds, *version, rest)
    try:
        return _of_target(cluster, closing, found, call)
    except StatusError as error:
        raise versions.refusal(error, found.kind.resource, found.kind.view) from error.__cause__


def _of_target(cluster: Cluster, closing: Closing, found: Target, call: Call) -> Answer | ASGIApp:
    _check_media_type(found, call)
    of_many = call.method == "GET" and not found.name
    wanted = form(call.headers, TABLES, is_custom=found.kind.is_custom, of_many=of_many)
    _check_asked(found, call)
    webhooks.check(cluster, found, call)
    if not found.kind.is_stored:
        return json(computed.answer(cluster, found, call), code=201 if call.method == "POST" else 200)
    if call.method == "HEAD":
        raise no_such_method()
    if call.method != "POST":
        cluster.refresh(found.kind.resource, found.namespace, found.name)
    if found.subresource in found.kind.actions:
        return _done(cluster, found, call, wanted)
    if found.subresource and found.subresource not in found.kind.subresources:
        raise no_such_path()
    if found.subresource == "scale":
        return json(scale.answer(cluster, found, call))
    if call.method == "GET":
        if not found.name:
            return _many(cluster, closing, found, call, wanted)
        record = cluster.store.get(found.kind.resource, found.namespace, found.name)
        return _one(cluster, found, record, call, wanted)
    return _written(cluster, found, call, wanted)


def _check_asked(found: Target, call: Call) -> None:
    if found.name in (".", "..") or "%" in found.name:
        wrong = "contain '%'" if "%" in found.name else f"be '{found.name}'"
        raise BadRequest(f'Name parameter invalid: "{found.name}": may not {wrong}')
    if call.method != "GET":
        options.check_write(call.method, call.query, call.media_type)
    elif call.query and not found.name:
        options.check_read(call.query, is_watch=call.flag("watch"))


def _done(cluster: Cluster, found: Target, call: Call, wanted: Form) -> Answer:
    """What comes of a subresource that is done rather than read."""
    match found.subresource:
        case "binding" | "eviction" | "token" as action if call.method == "POST":
            return json(_ACTIONS[action](cluster, found, call), code=201)
        case parts.FINALIZE if call.method == "PUT":
            return _one(cluster, found, verbs.update(cluster, found, call), call, wanted)
        case "binding" | "eviction" | "token" | parts.FINALIZE:
            raise no_such_method()
    return simulated.answer(cluster, found, call)


def _check_media_type(found: Target, call: Call) -> None:
    """Refuses an object in a form that its kind is not read in: custom resources have no protobuf."""
    accepted = (JSON, YAML[0]) if found.kind.is_custom else (JSON, YAML[0], PROTOBUF)
    if found.subresource in _STREAMS:
        return
    if call.method in ("POST", "PUT") and call.media_type not in accepted:
        raise unsupported(*accepted)


def _written(cluster: Cluster, found: Target, call: Call, wanted: Form) -> Answer:
    match call.method:
        case "POST":
            return _one(cluster, found, verbs.create(cluster, found, call), call, wanted, code=201)
        case "PUT":
            return _one(cluster, found, verbs.update(cluster, found, call), call, wanted)
        case "PATCH":
            record, is_new = verbs.patch(cluster, found, call)
            return _one(cluster, found, record, call, wanted, code=201 if is_new else 200)
        case "DELETE" if found.subresource:
            raise no_such_method()
        case "DELETE" if found.name:
            removal = verbs.delete(cluster, found, call)
            if removal.is_gone and found.kind.resource.qualified not in _SHOWN_WHEN_GONE:
                return json(status.success(removal.record))
            return _one(cluster, found, removal.record, call, wanted)
        case "DELETE" if "deletecollection" in found.kind.verbs:
            gone = verbs.delete_collection(cluster, found, call)
            return _list(found, gone, {"resourceVersion": str(cluster.store.version)})
    raise no_such_method()


def _one(cluster: Cluster, found: Target, record: Record, call: Call, wanted: Form, code: int = 200) -> Answer:
    if not wanted.kind:
        return Answer(code, found.kind.json(record))
    tree = found.kind.tree(record)
    if wanted.kind == "PartialObjectMetadata":
        return json(tables.partial(tree), code=code)
    if wanted.kind != "Table" and found.kind.is_custom:
        raise Unreasoned("content is not a list")
    if wanted.kind != "Table":
        what = f"the requested object is not a list ({_in_go(found.kind, found.kind.view.kind)})"
        raise NotAcceptable(f"you requested {wanted.kind}, but {what}")
    metadata: dict[str, Json] = {"resourceVersion": str(record.version)}
    layout = tables.layout(found.kind)
    return json(tables.table(layout, [tree], _include(call), cluster.clock.now(), metadata), code=code)


def _many(cluster: Cluster, closing: Closing, found: Target, call: Call, wanted: Form) -> Answer | ASGIApp:
    resource = found.kind.resource
    selection = found.kind.selection(call.selection(found.namespace, found.name))
    if call.flag("watch"):
        check_streams(call.headers)
        return Stream(
            *watched(cluster, found, call, wanted),
            closing,
            seconds=call.number("timeoutSeconds"),
            bookmarks=call.flag("allowWatchBookmarks"),
            media_type=f"{wanted.media_type};stream=watch" if wanted.kind else "application/json",
        )
    if wanted.kind == "PartialObjectMetadata":
        what = f"the requested object is a list ({_in_go(found.kind, found.kind.list_kind)})"
        raise NotAcceptable(f"you requested {wanted.kind}, but {what}")
    page = cluster.store.list(resource, selection, call.asked())
    metadata: dict[str, Json] = {"resourceVersion": str(page.version)}
    if page.token:
        metadata["continue"] = page.token
    if page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    if not wanted.kind:
        return _list(found, page.records, metadata)
    trees = map(found.kind.tree, page.records)
    if wanted.kind == "Table":
        return json(tables.table(tables.layout(found.kind), trees, _include(call), cluster.clock.now(), metadata))
    items = [msgspec.Raw(msgspec.json.encode(tables.partial(tree))) for tree in trees]
    told = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items}
    return json(told)


def _in_go(kind: ServedKind, name: str) -> str:
    """A type as Go names it."""
    if kind.is_custom:
        return "*unstructured.UnstructuredList"
    return f"*{kind.resource.group.partition('.')[0] or 'core'}.{name}"


def converted(kind: ServedKind, event: Event) -> bytes:
    """An event on an object of a version that is not the stored one."""
    if event.type == "BOOKMARK":
        tree = {**verbs.tree_of(event.record), "apiVersion": kind.view.api_version}
        return log.frame(event, msgspec.json.encode(tree))
    return log.frame(event, kind.json(event.record))


def watched(cluster: Cluster, found: Target, call: Call, wanted: Form) -> tuple[Watch, Frame]:
    """The watch that is asked for, and how its events are written."""
    selection = found.kind.selection(call.selection(found.namespace, found.name))
    cluster.refresh(found.kind.resource, found.namespace, found.name, is_watch=True)
    initial = call.flag("sendInitialEvents")
    watch = cluster.store.watch(found.kind.resource, selection, version=call.version(), initial_events=initial)
    return watch, _frame(cluster, found, call, wanted, watch.frame)


def _list(found: Target, listed: list[Record], metadata: dict[str, Json]) -> Answer:
    head = {"kind": found.kind.list_kind, "apiVersion": found.kind.view.api_version, "metadata": metadata}
    body = b'%b,"items":[%b]}' % (msgspec.json.encode(head)[:-1], b",".join(map(found.kind.item, listed)))
    return Answer(200, body)


def _include(call: Call) -> Include:
    include = call.query.get("includeObject") or "Metadata"
    if include not in ("None", "Metadata", "Object"):
        must = "must be 'Metadata', 'Object', 'None', or empty"
        said = f'includeObject: Invalid value: "{include}": {must}'
        raise BadRequest(f"Unable to convert to Table as requested: {said}")
    return cast(Include, include)


def _frame(cluster: Cluster, found: Target, call: Call, wanted: Form, plain: Frame) -> Frame:
    """How an event of a watch is written."""
    if not wanted.kind:
        return plain if found.kind.is_plain else partial(converted, found.kind)
    layout, include = tables.layout(found.kind), _include(call)
    first = True

    def framed(event: Event) -> bytes:
        nonlocal first
        tree = found.kind.tree(event.record)
        if event.type == "BOOKMARK" and wanted.kind != "Table":
            return plain(event)
        if wanted.kind == "Table":
            metadata: dict[str, Json] = {"resourceVersion": str(event.record.version)}
            now = cluster.clock.now()
            trees = [] if event.type == "BOOKMARK" else [tree]
            told: object = tables.table(layout, trees, include, now, metadata, head=first)
            first = False
        else:
            told = tables.partial(tree)
        return msgspec.json.encode({"type": event.type, "object": told}) + b"\n"

    return framed
