"""Patches of the status of Kubernetes' own kinds, the most frequent writes of all.

Nothing but the status is decoded, merged and compared. Whatever is out of the ordinary (another kind of patch, fields
that the status does not have, metadata that a patch would change) is left to `verbs`, which looks at the whole object.
"""

from typing import Final

import msgspec

from baseload.embedded.api.call import MERGE, STRATEGIC, Call, Tree, decoded
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.target import Target
from baseload.embedded.store.record import Record, section
from baseload.kube.merge import apply as applying
from baseload.kube.merge import managers as entries
from baseload.kube.merge import merge_patch, strategic
from baseload.kube.merge.refusal import PatchError
from baseload.kube.merge.tree import Object
from baseload.kube.protobuf import written
from baseload.kube.validation import whole

_READ: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_NAMED: Final = frozenset({"name", "namespace", "uid"})


def patched(cluster: Cluster, target: Target, old: Record, call: Call) -> Record | None:
    """The object after a patch of its status; None where that takes more than a look at the status."""
    kind = target.kind
    if target.subresource != "status" or kind.is_custom or kind.conversion is not None:
        return None
    if call.media_type not in (MERGE, STRATEGIC):
        return None
    sent = decoded(call.body, call.media_type)
    if not isinstance(sent, dict) or not _is_plain(sent, old):
        return None
    kept = entries.decoded(section(old.managed) or b"[]")
    if kept is None:
        return None
    resource = kind.resource
    before: Object = {"status": msgspec.json.decode(section(old.status))} if old.status else {}
    patch: Object = {"status": sent["status"]}
    try:
        if call.media_type == MERGE:
            after = merge_patch.patched(before, patch)
        else:
            after = strategic.patched(before, patch, api_version=resource.api_version, kind=resource.kind)
    except PatchError:
        return None
    status = msgspec.json.encode(after.get("status"))
    form = written.of_kind(resource.api_version, resource.kind, "status")
    if form.changes(status):
        after = {**after, "status": form.write(after.get("status"))}
        status = msgspec.json.encode(after["status"])
    if not _fits(target, status):
        return None
    managed = applying.told_after_update(
        kept, before, after, kind=kind.type, manager=call.manager, now=cluster.clock.now(), subresource="status"
    )
    if managed is None:
        return old
    return _stored(cluster, old, status, managed, call)


def _fits(target: Target, status: bytes) -> bool:
    resource = target.kind.resource
    return whole.whole(resource.api_version, resource.kind).passes(b'{"status":%b}' % status)


def _is_plain(sent: Tree, old: Record) -> bool:
    """Whether a patch is about the status alone, and of this very object."""
    named = sent.get("metadata") or {}
    return (
        isinstance(sent.get("status"), dict)
        and sent.keys() <= _READ
        and isinstance(named, dict)
        and named.keys() <= _NAMED
        and all(named[key] == getattr(old, key) for key in named)
        and sent.get("kind", old.resource.kind) == old.resource.kind
        and sent.get("apiVersion", old.resource.api_version) == old.resource.api_version
    )


def _stored(cluster: Cluster, old: Record, status: bytes, managed: bytes, call: Call) -> Record:
    new = msgspec.structs.replace(old, status=status, managed=managed)
    record = cluster.store.change(
        old.resource, old.namespace, old.name, lambda _: new, "status", dry_run=call.is_dry_run, exact=True
    )
    return record if call.is_dry_run or record is old else cluster.written(record)
