"""What a server answers with, as bytes beside a slim reading: objects, pages of lists, events of watches.

An object that was sent is kept as the JSON that came. Its metadata is read at once, everything else when somebody asks
for it with a reading of `kube.types` or of his own. Items of a list get the kind and version that only the list names.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, cast

import msgspec

from baseload.kube import reading as json_reading
from baseload.kube.client import errors
from baseload.kube.client.errors import ServerFailed, Status
from baseload.kube.reading import without_nulls
from baseload.kube.types.meta import ObjectMeta

T = TypeVar("T")
Type = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"


class _Head(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    token: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Status(msgspec.Struct):
    phase: str = ""


class _Glance(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class Object(ABC):
    """An object in one state. What is made of it is made when somebody asks."""

    __slots__ = ("_reading",)
    _reading: object

    @property
    @abstractmethod
    def api_version(self) -> str: ...

    @property
    @abstractmethod
    def kind(self) -> str: ...

    @property
    @abstractmethod
    def metadata(self) -> ObjectMeta: ...

    @property
    @abstractmethod
    def raw(self) -> bytes:
        """Its JSON."""

    @property
    @abstractmethod
    def key(self) -> tuple[str, str]:
        """Its place among the objects of its kind: (namespace, name)."""

    @property
    @abstractmethod
    def uid(self) -> str: ...

    @property
    @abstractmethod
    def version(self) -> str: ...

    @property
    @abstractmethod
    def node_name(self) -> str:
        """spec.nodeName; "" where there is none."""

    @property
    @abstractmethod
    def phase(self) -> str:
        """status.phase; "" where there is none."""

    @abstractmethod
    def _read(self, reading: type[T]) -> T:
        """The object as that type."""

    def read(self, reading: type[T]) -> T:
        """The object as that type; raises msgspec.ValidationError where it is none. The last reading is kept."""
        held = self._reading
        if type(held) is not reading:
            held = self._reading = self._read(reading)
        return held

    def tree(self) -> dict[str, object]:
        """The object decoded anew, for the caller to keep or change."""
        return cast("dict[str, object]", msgspec.json.decode(self.raw))


class Sent(Object):
    """An object as the JSON that came."""

    __slots__ = ("_head", "_raw", "_seen")

    def __init__(self, raw: bytes, head: _Head) -> None:
        self._raw, self._head, self._reading = raw, head, None
        self._seen: _Glance | None = None

    @property
    def api_version(self) -> str:
        return self._head.api_version

    @property
    def kind(self) -> str:
        return self._head.kind

    @property
    def metadata(self) -> ObjectMeta:
        return self._head.metadata

    @property
    def raw(self) -> bytes:
        return self._raw

    @property
    def key(self) -> tuple[str, str]:
        return self._head.metadata.namespace, self._head.metadata.name

    @property
    def uid(self) -> str:
        return self._head.metadata.uid

    @property
    def version(self) -> str:
        return self._head.metadata.resource_version

    @property
    def node_name(self) -> str:
        return self._glance().spec.node_name

    @property
    def phase(self) -> str:
        return self._glance().status.phase

    def _glance(self) -> _Glance:
        if self._seen is None:
            try:
                self._seen = json_reading.decoded(self._raw, _Glance)
            except msgspec.ValidationError:
                self._seen = _Glance()
        return self._seen

    def _read(self, reading: type[T]) -> T:
        return json_reading.of_object(self._raw, self.metadata, reading)


@dataclass(frozen=True, slots=True)
class Page:
    """Objects of a list, all at one version; `token` continues where there are more."""

    objects: list[Object]
    version: str
    token: str = ""


class Event(msgspec.Struct, frozen=True):
    """One change; of a bookmark only the version and the annotations are filled."""

    type: Type
    object: Object

    @property
    def ends_initial(self) -> bool:
        """Whether it says that all objects there were have come."""
        return self.object.metadata.annotations.get(INITIAL_EVENTS_END) == "true"


@dataclass(frozen=True, slots=True)
class Version:
    """Which Kubernetes a server is."""

    text: str  # v1.37.2
    major: int
    minor: int


def read_version(raw: bytes) -> Version:
    """The answer of /version."""
    told = _decoded(raw, dict[str, object])
    major, minor = (_leading(str(told.get(name, ""))) for name in ("major", "minor"))
    return Version(str(told.get("gitVersion", "")), major, minor)


def _leading(text: str) -> int:
    """The number that a text begins with: minor versions of some providers end in a plus sign."""
    digits = re.match("[0-9]+", text)
    return int(digits[0]) if digits else 0


def read(raw: bytes) -> Object:
    """The object of an answer."""
    head = _decoded(raw, _Head)
    return Sent(raw.rstrip(), head)


def read_page(raw: bytes) -> Page:
    """The page of an answer to a list."""
    listed = _decoded(raw, _List)
    kind = listed.kind.removesuffix("List")
    objects = [_item(bytes(item), listed.api_version, kind) for item in listed.items or ()]
    return Page(objects, listed.metadata.resource_version, listed.metadata.token)


def read_event(line: bytes) -> Event:
    """The event of a line of a watch; raises what an ERROR stands for."""
    told = _decoded(line, _Line)
    if told.type == "ERROR":
        raise errors.of_status(_decoded(bytes(told.object), Status))
    if told.type not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise ServerFailed(f"a watch told of an event of an unknown type: {told.type[:60]!r}")
    event = Event(cast(Type, told.type), read(bytes(told.object)))
    if not event.object.version:
        raise ServerFailed(f"a watch told of an event without a version: {told.type}")
    return event


def _item(raw: bytes, api_version: str, kind: str) -> Object:
    item = read(raw)
    if item.kind and item.api_version:
        return item
    named = msgspec.json.encode({"kind": kind, "apiVersion": api_version})
    rest = raw.lstrip()[1:].lstrip()
    raw = named[:-1] + (b"}" if rest == b"}" else b"," + rest)
    return Sent(raw, _Head(api_version, kind, item.metadata))


def _decoded(raw: bytes, type: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=type)
    except msgspec.ValidationError:
        pass
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ServerFailed(f"the server's answer is no JSON: {error}") from error
    try:
        return msgspec.convert(without_nulls(msgspec.json.decode(raw)), type)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ServerFailed(f"the server's answer cannot be read: {error}") from error
