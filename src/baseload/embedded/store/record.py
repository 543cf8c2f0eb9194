"""An object as the store keeps it: typed metadata, and JSON bytes for everything that the store does not look into.

A write makes a new record; nothing is changed in place, so whoever holds a record holds that state of the object.
What many objects have alike is held once: labels, annotations and owners (`Shared`), and the sections that are neither
metadata nor status (`Body`). Both are interned by their bytes, like `sys.intern` does with strings, for as long as a
record holds them. A status or managedFields is either bytes as they came, or a frozen Struct of an actor that is
encoded when somebody reads it. JSON of the whole object exists only while it is being sent.

No record may hold a cycle (gc=False): it points to values and to its Resource, never to a table or a store.
"""

from typing import Final, SupportsBytes, TypeVar, cast
from weakref import WeakValueDictionary

import msgspec

from baseload.embedded.store.resource import Resource
from baseload.kube import reading as json_reading

Section = bytes | msgspec.Struct | tuple[msgspec.Struct, ...]
"""JSON, or values that encode to it; b"" is an absent section"""

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

T = TypeVar("T")

_SPEC: Final = b'"spec":{'


def _encoded(value: object) -> msgspec.Raw:
    """For the encoder: a value of the program's own that is JSON already."""
    assert isinstance(value, SupportsBytes)
    return msgspec.Raw(bytes(value))


_json: Final = msgspec.json.Encoder(enc_hook=_encoded).encode


class Owner(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """An entry of metadata.ownerReferences."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Shared(msgspec.Struct, frozen=True, weakref=True, eq=False):
    """The metadata that objects of one origin have alike."""

    labels: dict[str, str]
    annotations: dict[str, str]
    owners: tuple[Owner, ...]
    generate_name: str


class Body(msgspec.Struct, frozen=True, weakref=True, eq=False):
    """All sections but metadata and status as one run of JSON members, spec first; and what was read from them.

    Sections that hardly anybody reads may be a Struct, which takes less room, and is encoded when somebody does.
    """

    sections: bytes | msgspec.Struct
    _readings: dict[object, object] | None = None

    @property
    def raw(self) -> bytes:
        return self.sections if isinstance(self.sections, bytes) else _json(self.sections)[1:-1]

    def tree(self) -> dict[str, Json]:
        """The sections, decoded anew for the caller to keep or change."""
        decoded: dict[str, Json] = msgspec.json.decode(b"{%b}" % self.raw)
        return decoded

    def spec(self, reading: type[T]) -> T:
        """The spec as a slim Struct, read once for all objects that share it; without spec.nodeName."""
        readings = self._readings
        known = readings.get(reading) if readings is not None else None
        if known is None:
            sections = msgspec.json.decode(b"{%b}" % self.raw, type=dict[str, msgspec.Raw])
            known = json_reading.decoded(bytes(sections.get("spec", b"{}")), reading)
            self._remember(reading, known)
        return cast(T, known)

    def note(self, key: object) -> None:
        """Remembers something of these sections, for as long as they are there."""
        self._remember(key, True)

    def is_noted(self, key: object) -> bool:
        return self._readings is not None and key in self._readings

    def field(self, path: str) -> str:
        """The text of a scalar, e.g. spec.schedulerName; "" where there is none."""
        known = self._readings.get(path) if self._readings is not None else None
        if known is None:
            known = text_at(self.tree(), path)
            self._remember(path, known)
        assert isinstance(known, str)
        return known

    def _remember(self, what: object, found: object) -> None:
        if self._readings is None:
            msgspec.structs.force_setattr(self, "_readings", {})
        assert self._readings is not None
        self._readings[what] = found


class Deletion(msgspec.Struct, frozen=True, gc=False):
    """When the object is to be gone, and the grace that it was given."""

    timestamp: str
    grace: int


_bodies: "WeakValueDictionary[bytes, Body]" = WeakValueDictionary()
_shared: "WeakValueDictionary[bytes, Shared]" = WeakValueDictionary()


def body(raw: bytes) -> Body:
    """The one Body of these bytes."""
    known = _bodies.get(raw)
    if known is None:
        known = _bodies[raw] = Body(raw)
    return known


def is_known(raw: bytes) -> bool:
    """Whether a living Body has these bytes, so that they have been looked at before."""
    return raw in _bodies


def shared(
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    owners: tuple[Owner, ...] = (),
    generate_name: str = "",
) -> Shared:
    """The one Shared of this content; the dicts are its own from now on."""
    labels, annotations = labels or {}, annotations or {}
    key = msgspec.json.encode((labels, annotations, owners, generate_name))
    known = _shared.get(key)
    if known is None:
        known = _shared[key] = Shared(labels, annotations, owners, generate_name)
    return known


NO_BODY: Final = body(b"")
NOTHING_SHARED: Final = shared()


class Record(msgspec.Struct, frozen=True, gc=False, eq=False):
    """An object in one state; a draft of one where uid, version and created are still empty."""

    resource: Resource
    namespace: str
    name: str
    shared: Shared = NOTHING_SHARED
    body: Body = NO_BODY
    status: Section = b""
    node: str = ""  # spec.nodeName of kinds that have_node
    finalizers: tuple[str, ...] = ()
    managed: Section = b""  # metadata.managedFields
    uid: str = ""
    version: int = 0
    generation: int = 0
    created: str = ""
    deletion: Deletion | None = None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.resource.namespaced else self.name  # as Resource.key

    def with_status(self, status: Section) -> "Record":
        return self._with(self.body, status, self.node)

    def with_body(self, new: Body) -> "Record":
        return self._with(new, self.status, self.node)

    def bound(self, node: str) -> "Record":
        return self._with(self.body, self.status, node)

    def _with(self, new: Body, status: Section, node: str) -> "Record":
        return Record(
            self.resource,
            self.namespace,
            self.name,
            self.shared,
            new,
            status,
            node,
            self.finalizers,
            self.managed,
            self.uid,
            self.version,
            self.generation,
            self.created,
            self.deletion,
        )

    def at(self, version: int) -> "Record":
        """The same state under another version, as watchers see a removed object."""
        return msgspec.structs.replace(self, version=version)


class _Metadata(msgspec.Struct, gc=False, rename="camel", omit_defaults=True):
    """metadata as it is written, in Kubernetes' order."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[Owner, ...] = ()
    finalizers: tuple[str, ...] = ()
    managed_fields: msgspec.Raw | msgspec.Struct | tuple[msgspec.Struct, ...] = ()


def encode(record: Record) -> bytes:
    """The object's JSON, spliced from its sections."""
    return b'{"kind":"%b","apiVersion":"%b","metadata":%b%b%b}' % (
        record.resource.kind.encode(),
        record.resource.api_version.encode(),
        _json(_metadata(record)),
        b"," + _members(record) if record.body.raw or record.node else b"",
        b',"status":' + section(record.status) if record.status != b"" else b"",
    )


def section(value: Section) -> bytes:
    """A section's JSON; b"" where it is absent."""
    return value if isinstance(value, bytes) else _json(value)


def is_same(one: bytes, other: bytes) -> bool:
    """Whether two sections say the same, however they are written; 1, 1.0 and true are three things."""
    if one == other or b"" in (one, other):
        return one == other
    left, right = msgspec.json.decode(one), msgspec.json.decode(other)
    # Python takes 1, 1.0 and true for equal: what it tells apart is different, what it does not is looked at again.
    return bool(left == right) and _canonical(left) == _canonical(right)


def _canonical(tree: object) -> bytes:
    return msgspec.json.encode(tree, order="sorted")


def text_at(value: Json, path: str) -> str:
    """The scalar at a dotted path as the text that field selectors compare; "" where there is none."""
    for step in path.split("."):
        if not isinstance(value, dict):
            return ""
        value = value.get(step)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _metadata(record: Record) -> _Metadata:
    common, deletion, managed = record.shared, record.deletion, record.managed
    return _Metadata(
        record.name,
        common.generate_name,
        record.namespace,
        record.uid,
        str(record.version) if record.version else "",
        record.generation,
        record.created,
        deletion.timestamp if deletion else "",
        deletion.grace if deletion else None,
        common.labels,
        common.annotations,
        common.owners,
        record.finalizers,
        (msgspec.Raw(managed) if managed else ()) if isinstance(managed, bytes) else managed,
    )


def _members(record: Record) -> bytes:
    """The body with the node's name put back at the head of the spec."""
    raw = record.body.raw
    if not record.node:
        return raw
    node = b'"nodeName":' + _json(record.node)
    if not raw.startswith(_SPEC):
        return b'"spec":{%b}' % node + (b"," + raw if raw else b"")
    rest = raw[len(_SPEC) :]
    return _SPEC + node + (rest if rest.startswith(b"}") else b"," + rest)
