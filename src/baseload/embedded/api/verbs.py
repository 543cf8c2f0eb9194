"""The writing verbs: create, update, the four kinds of patch, delete.

Every write ends in one of two steps. `_create` stores a tree as a new object; `replace` puts a tree in the place of an
object that is there. Both drop unknown fields, fill in defaults, note who manages which field, run the admission chain
and check what comes out. Nothing here waits, so nothing comes between reading an object and writing it.
"""

import dataclasses
from typing import Final, cast

import msgspec

from baseload.embedded.api import (
    alike,
    birth,
    bodies,
    crds,
    custom,
    custom_patches,
    options,
    parts,
    preconditions,
    status_patches,
    validation,
)
from baseload.embedded.api.admission import Review
from baseload.embedded.api.admission import tree as trees
from baseload.embedded.api.admission.defaults import give_defaults
from baseload.embedded.api.authorize import escalation
from baseload.embedded.api.authorize.attributes import Attributes
from baseload.embedded.api.call import APPLY as APPLY
from baseload.embedded.api.call import MERGE, STRATEGIC, Call, Tree, Unreadable, decoded, unsupported
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.refusals import Unsupported, no_such_method, of_patch
from baseload.embedded.api.target import Target
from baseload.embedded.api.versions import tree_of as tree_of
from baseload.embedded.store import errors, parse, rules
from baseload.embedded.store.errors import BadRequest, Cause
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.rules import Part
from baseload.embedded.store.store import Removal
from baseload.kube.merge import apply as applying
from baseload.kube.merge import go_text, json_patch, merge_patch, strategic
from baseload.kube.merge.refusal import PatchError
from baseload.kube.merge.tree import Object
from baseload.kube.protobuf import written

_JSON: Final = "application/json-patch+json"
_PATCHES: Final = (_JSON, MERGE, STRATEGIC, APPLY)
_NOTHING: Final = (b"", b"null")
_SERVERS: Final = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Metadata that is the server's alone"""


def create(cluster: Cluster, target: Target, call: Call, *, place: str = "") -> Record:
    """POST on a collection. `place` is a name in the body that alone tells it from the like of it."""
    if target.name:
        raise no_such_method()
    known = alike.likeness(target, call, place)
    if known is not None:
        draft = cluster.alike.draft(cluster.store, target, *known, cluster.now(), place)
        if draft is not None:
            uid = cluster.store.new_uid() if place else ""  # before its name, as where the longer way is gone
            return cluster.written(cluster.store.create(draft, uid=uid))
    tree = bodies.tree(target, call)
    is_sound = validation.take_known(target.kind, tree, call)
    looked_at: set[Resource] = set()
    record = _create(cluster, target.kind, tree, call, applied=False, is_sound=is_sound, looked_at=looked_at)
    if known is not None and not call.warnings:
        cluster.alike.learn(cluster.store, known[0], record, looked_at, place)
    return record


def update(cluster: Cluster, target: Target, call: Call) -> Record:
    """PUT on an object or its status."""
    if not target.name:
        raise no_such_method()
    tree = bodies.tree(target, call)
    validation.take_known(target.kind, tree, call)
    old = cluster.store.get(target.kind.resource, target.namespace, target.name)
    if not cast(Tree, tree["metadata"]).get("resourceVersion"):
        rules.check_versioned(old)
    return replace(cluster, target, old, tree, call)


def patch(cluster: Cluster, target: Target, call: Call) -> tuple[Record, bool]:
    """PATCH on an object or its status; and whether the object is new."""
    if not target.name:
        raise no_such_method()
    if call.media_type == APPLY:
        return _apply(cluster, target, call)
    old = cluster.store.get(target.kind.resource, target.namespace, target.name)
    ways = custom_patches if target.kind.is_custom else status_patches
    known = ways.patched(cluster, target, old, call)
    if known is not None:
        return known, False
    after = patched(target.kind.tree(old), call, target)
    validation.take_known(target.kind, after, call, patch=call.body)
    record = replace(cluster, target, old, after, call)
    custom_patches.found_sound(target.kind, record, subresource=target.subresource)
    return record, False


def delete(cluster: Cluster, target: Target, call: Call) -> Removal:
    """DELETE on an object."""
    options, dry = call.options(), call.is_dry_delete()
    if not dry and (target.kind.resource.group, target.kind.resource.kind) == crds.KIND:
        cluster.definitions.hold(target.name, cluster.now())
    removal = cluster.store.delete(target.kind.resource, target.namespace, target.name, options, dry_run=dry)
    if not dry:
        cluster.removed(removal.record)
    return removal


def delete_collection(cluster: Cluster, target: Target, call: Call) -> list[Record]:
    """DELETE on a collection."""
    selection, options = target.kind.selection(call.selection(target.namespace)), call.options()
    if call.is_dry_delete():
        return cluster.store.list(target.kind.resource, selection).records
    if (target.kind.resource.group, target.kind.resource.kind) == crds.KIND:
        for record in cluster.store.list(target.kind.resource, selection).records:
            cluster.definitions.hold(record.name, cluster.now())
    gone = cluster.store.delete_collection(target.kind.resource, selection, options)
    if gone:
        cluster.removed(gone[-1])
    return gone


def seed(cluster: Cluster, kind: ServedKind, tree: Tree) -> Record:
    """Stores an object with the status that it comes with, as no client may."""
    is_new = not tree.get("status")
    tree = _defaulted(cluster, kind, tree)
    if is_new:
        _name(cluster, kind, tree)
        birth.begin(kind, tree, now=cluster.now())
    draft = parse.parse_object(kind.resource, kind.stored(_admitted(cluster, kind, tree, None, is_seed=True)))
    known = cluster.store.find(kind.resource, draft.namespace, draft.name)
    return known if known is not None else cluster.written(cluster.store.create(draft, uid=draft.uid))


def patched(before: Tree, call: Call, target: Target) -> Tree:
    """A tree after one of the patches that do not apply a configuration; it shares nothing with the old one."""
    if call.media_type not in _PATCHES:
        if target.kind.is_custom:
            raise unsupported(_JSON, MERGE, APPLY)
        raise Unsupported("415: Unsupported Media Type", is_general=True)
    try:
        sent = decoded(call.body, call.media_type)
    except Unreadable as error:
        raise BadRequest("invalid JSON patch") from error
    resource = target.kind.view
    try:
        if call.media_type == _JSON:
            after = json_patch.patched(cast(Object, before), sent)
        elif call.media_type == MERGE:
            after = merge_patch.patched(cast(Object, before), sent)
        else:
            after = strategic.patched(cast(Object, before), sent, api_version=resource.api_version, kind=resource.kind)
    except PatchError as error:
        raise of_patch(error) from error
    return _copied(after)


def replace(cluster: Cluster, target: Target, old: Record, after: Tree, call: Call) -> Record:
    """Puts a tree in the place of an object, as far as the target goes: all but the status, or the status alone."""
    kind, manager = target.kind, call.manager
    preconditions.check(old, after, is_patch=call.method == "PATCH")
    before = kind.tree(old)
    after = _defaulted(cluster, kind, _within(before, after, target))
    escalation.check(cluster.authorizer, call.identity, kind.resource, after, old)
    managed = applying.managed_after_update(
        cast(Object, before),
        cast(Object, after),
        kind=kind.type,
        manager=manager,
        now=cluster.clock.now(),
        subresource=target.subresource,
    )
    if managed is before:
        return old
    tree = _admitted(cluster, kind, cast(Tree, managed), old, subresource=target.subresource)
    return _stored(cluster, target, tree, old, call)


def _apply(cluster: Cluster, target: Target, call: Call) -> tuple[Record, bool]:
    try:
        config = {} if call.body.strip() in _NOTHING else decoded(call.body, APPLY)
    except Unreadable as error:
        raise BadRequest(f"error decoding patch: error converting YAML to JSON: {error}") from error
    if not call.query.get("fieldManager"):
        message = "Required value: is required for apply patch"
        raise options.invalid("PatchOptions", Cause("FieldValueRequired", message, "fieldManager"))
    if not isinstance(config, dict):
        why = go_text.cannot(config, go_text.MAP)
        raise BadRequest(f"error decoding patch: error unmarshaling JSON: while decoding JSON: {why}")
    kind = target.kind
    old = cluster.store.find(kind.resource, target.namespace, target.name)
    if old is None and target.subresource:
        raise errors.not_found(kind.resource, target.name)
    live = None if old is None else kind.tree(old)
    try:
        applying.check_kind(cast(Object, config), kind.type)
        bodies.check(target, config)
        after = applying.apply(
            cast("Object | None", live),
            cast(Object, config),
            kind=kind.type,
            manager=call.manager,
            now=cluster.clock.now(),
            force=call.flag("force"),
            subresource=target.subresource,
        )
    except PatchError as error:
        raise of_patch(error) from error
    if old is None:
        asked = Attributes("create", kind.view.group, kind.view.plural, "", target.namespace, target.name)
        cluster.authorizer.check(call.identity, asked)
        return _create(cluster, kind, _copied(after), call, applied=True), True
    assert live is not None
    if after is live:
        return old, False
    preconditions.check(old, cast(Tree, after), is_patch=True)
    tree = _defaulted(cluster, kind, _within(live, _copied(after), target))
    escalation.check(cluster.authorizer, call.identity, kind.resource, tree, old)
    tree = _admitted(cluster, kind, tree, old, subresource=target.subresource)
    return _stored(cluster, target, tree, old, call), False


def _create(
    cluster: Cluster,
    kind: ServedKind,
    tree: Tree,
    call: Call,
    *,
    applied: bool,
    is_sound: bool = False,
    looked_at: set[Resource] | None = None,
) -> Record:
    metadata = cast(Tree, tree["metadata"])
    for name in _SERVERS:
        metadata.pop(name, None)
    tree = _defaulted(cluster, kind, tree, is_sound=is_sound)
    escalation.check(cluster.authorizer, call.identity, kind.resource, tree, None)
    if not applied:
        managed = applying.managed_after_update(
            None, cast(Object, tree), kind=kind.type, manager=call.manager, now=cluster.clock.now()
        )
        tree = cast(Tree, managed)
    _name(cluster, kind, tree)
    draft = parse.parse_object(kind.resource, kind.stored(_admitted(cluster, kind, tree, None, looked_at=looked_at)))
    if cluster.definitions.is_ending(kind.resource):
        why = "create not allowed while custom resource definition is terminating"
        raise errors.forbidden(kind.resource, draft.name, why)
    record = cluster.store.create(draft, uid=draft.uid, dry_run=call.is_dry_run)
    if call.is_dry_run:
        return record
    custom_patches.found_sound(kind, record)
    return cluster.written(record)


def _stored(cluster: Cluster, target: Target, tree: Tree, old: Record, call: Call) -> Record:
    draft = parse.parse_object(target.kind.resource, target.kind.stored(tree))
    is_definition = (draft.resource.group, draft.resource.kind) == crds.KIND
    part: Part = "main" if target.kind.has_status and not is_definition else "all"
    part = "status" if target.subresource == "status" else part
    record = cluster.store.update(draft, part, dry_run=call.is_dry_run)
    return record if call.is_dry_run or record is old else cluster.written(record)


def _defaulted(cluster: Cluster, kind: ServedKind, tree: Tree, *, is_sound: bool = False) -> Tree:
    """The tree, which can be read as its kind, with defaults; one that is sound has been found to be so before."""
    if kind.is_custom:
        return custom.completed(kind, tree)
    if not is_sound:
        validation.check_readable(kind, tree)
    form = written.of_kind(kind.view.api_version, kind.view.kind)
    tree = cast(Tree, form.of(cast(Object, tree)))
    if kind.conversion is not None:
        # Kubernetes looks at its own kinds in one form, whatever the version in which they are sent.
        return kind.conversion.shown(_defaulted(cluster, cluster.kinds.of_resource(kind.resource), kind.stored(tree)))
    give_defaults(kind, tree)
    return tree


def _admitted(
    cluster: Cluster,
    kind: ServedKind,
    tree: Tree,
    old: Record | None,
    *,
    subresource: str = "",
    is_seed: bool = False,
    looked_at: set[Resource] | None = None,
) -> Tree:
    """The tree, admitted and checked; `looked_at` receives the other kinds whose objects had a say in it."""
    if kind.conversion is not None and not kind.is_custom:
        held = cluster.kinds.of_resource(kind.resource)
        stored = _admitted(cluster, held, kind.stored(tree), old, subresource=subresource, is_seed=is_seed)
        return kind.conversion.shown(stored)
    review = Review(
        "CREATE" if old is None else "UPDATE",
        kind,
        tree,
        old,
        cluster.store,
        is_seed=is_seed,
        subresource=subresource,
        looked_at=set() if looked_at is None else looked_at,
        is_named=old is not None or not trees.held(tree, "metadata").get("generateName"),
    )
    for admit in cluster.admission.mend:
        admit(review)
    if not review.is_named:
        review = dataclasses.replace(review, is_named=True)
    if old is None and not is_seed:
        birth.begin(kind, tree, now=cluster.now())
    validation.check(kind, tree, old, subresource=subresource)
    birth.finish(kind, tree)
    for admit in cluster.admission.refuse:
        admit(review)
    return tree


def _name(cluster: Cluster, kind: ServedKind, tree: Tree) -> None:
    """Gives a new object its uid, and a name where it has only the beginning of one."""
    metadata = cast(Tree, tree["metadata"])
    metadata["uid"] = cluster.store.new_uid()
    prefix = metadata.get("generateName")
    if not metadata.get("name") and isinstance(prefix, str) and prefix:
        metadata["name"] = cluster.store.free_name(kind.resource, str(metadata.get("namespace") or ""), prefix)


def _within(before: Tree, after: Tree, target: Target) -> Tree:
    """The new tree as far as the target reaches, the old one beyond, and the server's metadata where it was."""
    kept = cast(Tree, before["metadata"])
    sent = after.get("metadata")
    metadata = dict(sent) if isinstance(sent, dict) else {}
    if target.subresource == "status":
        metadata = {**kept, "managedFields": metadata.get("managedFields")}
        after = {**_copied(before), "status": after.get("status")}
    elif target.subresource in parts.ALL:
        metadata = {**kept, "managedFields": metadata.get("managedFields")}
        after = parts.within(target.kind.resource, _copied(before), after, target.subresource)
    elif target.kind.has_status:
        after = {**after, "status": before.get("status")}
    for name in (*_SERVERS, "resourceVersion", "name", "namespace"):
        metadata.pop(name, None)
        if name in kept:
            metadata[name] = kept[name]
    return {**after, "metadata": metadata}


def _copied(tree: object) -> Tree:
    copy: Json = msgspec.json.decode(msgspec.json.encode(tree))
    if not isinstance(copy, dict):
        raise BadRequest("the object after the patch is no map")
    return copy
