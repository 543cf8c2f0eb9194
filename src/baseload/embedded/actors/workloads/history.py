"""ControllerRevisions: the templates that a StatefulSet or a DaemonSet had, for its pods and for `kubectl rollout`.

A revision holds the template as a patch that would put it back. The present template has the highest number; one that
comes back takes its old revision up again under the next number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.workloads import making
from baseload.embedded.actors.workloads.making import Tree
from baseload.embedded.actors.workloads.ownership import controller_of, reference
from baseload.embedded.store.errors import AlreadyExists
from baseload.embedded.store.record import Body, Record

LABEL: Final = "controller-revision-hash"
_TRIES: Final = 16  # names that are tried where others have them


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of an object, the oldest first, and which is that of its present template."""

    all: list[Record]
    present: Record
    collisions: int

    def named(self, name: str) -> Record:
        """The revision of that name; the present one where there is none."""
        return next((held for held in self.all if held.name == name), self.present)


class History:
    """The revisions of one kind; `label` is that which carries the hash of the template on a revision."""

    def __init__(self, client: ActorClient, label: str) -> None:
        self._client, self._label = client, label
        self._kind = client.kind("apps", "ControllerRevision")
        self._known: dict[str, tuple[str, int, Body, Revisions]] = {}  # key -> (uid, last change, sections, revisions)
        self._data: dict[str, tuple[Body, bytes]] = {}  # uid -> the canonical data of a revision

    def of(self, owner: Record, collisions: int) -> Revisions:
        """The revisions of an object, with that of its present template made or renumbered."""
        last = self._client.store.table(self._kind.resource).log.last
        known = self._known.get(owner.key)
        if known is not None and known[:2] == (owner.uid, last) and known[2] is owner.body:
            return known[3]
        revisions = self._worked_out(owner, collisions)
        last = self._client.store.table(self._kind.resource).log.last
        self._known[owner.key] = owner.uid, last, owner.body, revisions
        return revisions

    def forget(self, key: str) -> None:
        """The object is no more."""
        self._known.pop(key, None)

    def _worked_out(self, owner: Record, collisions: int) -> Revisions:
        held = self.held(owner)
        wanted = making.canonical(_data(owner))
        equal = [revision for revision in held if self._of(revision) == wanted]
        if not equal:
            present, collisions = self._made(owner, held, wanted, collisions)
            return Revisions([*held, present], present, collisions)
        present = equal[-1]
        if present is not held[-1]:
            renewed = self._client.merge(present, {"revision": number(held[-1]) + 1})
            held = [*(revision for revision in held if revision is not present), renewed]
            present = renewed
        return Revisions(held, present, collisions)

    def held(self, owner: Record) -> list[Record]:
        """What there is, the oldest first."""
        found = [
            held
            for held in self._client.store.garbage.dependents(owner.uid)
            if held.resource is self._kind.resource and (above := controller_of(held)) and above.uid == owner.uid
        ]
        return sorted(found, key=lambda held: (number(held), held.created, held.name))

    def clean(self, revisions: Revisions, live: Iterable[str], limit: int) -> None:
        """Deletes the oldest revisions that nobody uses, down to so many; `live` is only asked where there are more."""
        if len(revisions.all) <= limit:
            return
        used = {*live, revisions.present.name}
        unused = [revision for revision in revisions.all if revision.name not in used]
        for revision in unused[: max(0, len(unused) - limit)]:
            self._client.delete(revision)
            self._data.pop(revision.uid, None)

    def _of(self, revision: Record) -> bytes:
        known = self._data.get(revision.uid)
        if known is None or known[0] is not revision.body:
            data = revision.body.tree().get("data")
            known = self._data[revision.uid] = revision.body, making.canonical(data)
        return known[1]

    def _made(self, owner: Record, held: list[Record], wanted: bytes, collisions: int) -> tuple[Record, int]:
        template = making.template_of(owner)
        metadata = template.get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, dict) else None
        for salt in range(collisions, collisions + _TRIES):
            hash = making.template_hash(template, salt)
            tree = {
                "apiVersion": "apps/v1",
                "kind": "ControllerRevision",
                "metadata": {
                    "name": f"{owner.name}-{hash}",
                    "labels": {**(labels or {}), self._label: hash},
                    "annotations": owner.shared.annotations,
                    "ownerReferences": [reference(owner)],
                },
                "data": msgspec.Raw(wanted),
                "revision": number(held[-1]) + 1 if held else 1,
            }
            try:
                return self._client.create(self._kind, owner.namespace, msgspec.json.encode(tree)), salt
            except AlreadyExists as error:
                taken = error
        raise taken


def number(revision: Record) -> int:
    """A revision's number."""
    text = revision.body.field("revision")
    return int(text) if text.isdecimal() else 0


def template(revision: Record) -> Tree:
    """The template that a revision holds, to be changed by the caller."""
    data = revision.body.tree().get("data")
    spec = data.get("spec") if isinstance(data, dict) else None
    held = spec.get("template") if isinstance(spec, dict) else None
    return {key: value for key, value in held.items() if key != "$patch"} if isinstance(held, dict) else {}


def hash_of(revision: Record, label: str) -> str:
    """The hash of the template, by the revision's label."""
    return revision.shared.labels.get(label, "")


def counted(label: str, known: Sequence[str]) -> str:
    """The revision that a pod with this label counts to, of those that are known, the oldest first.

    A pod without a label, or with that of a revision that nobody knows, was there before the first one was written
    down: it stands in manifests, perhaps those of another cluster, and is of the template that stands there too.
    """
    return label if label in known else known[0]


def _data(owner: Record) -> Tree:
    return {"spec": {"template": {**making.template_of(owner), "$patch": "replace"}}}
