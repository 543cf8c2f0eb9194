"""A protobuf body as the tree that the same client would have sent as JSON.

A body is the four bytes `k8s\\0` and a `runtime.Unknown`: apiVersion and kind, and the object's own message as bytes.
Its fields are found by number in a table; what JSON has although the message does not (zeros of fields that Go does
not leave out) is filled in, fields that nobody knows are passed over. How deep messages may lie and how many there may
be is bounded, since two bytes can stand for a map of many zeros.
"""

from dataclasses import dataclass
from typing import Final, cast

from baseload.kube.protobuf import plan, table, wire
from baseload.kube.protobuf.plan import Nested, Plan, Take
from baseload.kube.protobuf.shapes import READ_ANEW, Tree
from baseload.kube.protobuf.wire import ProtobufError

MAGIC: Final = b"k8s\0"
DEEPEST: Final = 100
"""Messages within messages; the schema of a custom resource, the deepest there is, takes one or two a level"""
MOST: Final = 200_000
"""Messages, entries of maps and elements of lists; what the API reads has fewer, if it says anything in them"""
SCHEME: Final = "pkg/runtime/scheme.go:111"
"""Where Go keeps its kinds; its refusals say so"""
_TYPE_META, _RAW = 1 << 3 | wire.LENGTH, 2 << 3 | wire.LENGTH


def decode(body: bytes, *, api_version: str = "", kind: str = "") -> Tree:
    """The object in a body; an apiVersion or kind that it does not tell is the one given."""
    told, raw = _unwrapped(body)
    version, named = _told(told, api_version, kind)
    found = table.message_of(version, named)
    if found is None:
        message = f'no kind "{named}" is registered for version "{version}" in scheme "{SCHEME}"'
        raise ProtobufError(message, api_version=version, kind=named)
    try:
        tree = _Reading().message(found, raw, 0, len(raw))
    except ProtobufError as error:
        raise ProtobufError(str(error), api_version=version, kind=named) from error
    return {"kind": named, "apiVersion": version, **cast(Tree, tree)}


def _unwrapped(body: bytes) -> tuple[bytes, bytes]:
    """The type and the object of a body, as messages."""
    if not body:
        raise ProtobufError("empty data")
    if not body.startswith(MAGIC):
        shown = " ".join(map(str, MAGIC))
        raise ProtobufError(f"provided data does not appear to be a protobuf message, expected prefix [{shown}]")
    at, end = len(MAGIC), len(body)
    if at == end:
        raise ProtobufError("empty body")
    type_meta: list[bytes] = []
    raw = b""
    while at < end:
        tag, here = wire.tag(body, at, end)
        if tag == _TYPE_META:
            start, at = wire.span(body, here, end)
            type_meta.append(body[start:at])
        elif tag == _RAW:
            start, at = wire.span(body, here, end)
            raw = body[start:at]
        else:
            wire.check_tag(tag, "Unknown")
            if tag >> 3 in _UNKNOWN and tag & 7 != wire.LENGTH:
                raise wire.wrong_type(tag, _UNKNOWN[tag >> 3])
            at = wire.skip(body, at, end)
    return b"".join(type_meta), raw


_UNKNOWN: Final = {1: "TypeMeta", 2: "Raw", 3: "ContentEncoding", 4: "ContentType"}


def _told(type_meta: bytes, api_version: str, kind: str) -> tuple[str, str]:
    """apiVersion and kind, with the given ones where they are not told."""
    found = {1: "", 2: ""}
    at, end = 0, len(type_meta)
    while at < end:
        tag, here = wire.tag(type_meta, at, end)
        if tag in (_TYPE_META, _RAW):
            start, at = wire.span(type_meta, here, end)
            found[tag >> 3] = type_meta[start:at].decode(errors="backslashreplace")
        else:
            wire.check_tag(tag, "TypeMeta")
            at = wire.skip(type_meta, at, end)
    told = found[1] if found[1].count("/") < 2 else ""  # what is no group and version is none to Go
    meta = f'runtime.TypeMeta{{APIVersion:"{found[1]}", Kind:"{found[2]}"}}'
    if not (found[2] or kind):
        raise ProtobufError(f"Object 'Kind' is missing in '{meta}'")
    if not (told or api_version):
        raise ProtobufError(f"Object 'apiVersion' is missing in '{meta}'")
    return told or api_version, found[2] or kind


@dataclass(slots=True)
class _Reading:
    """One body being read."""

    depth: int = 0
    left: int = MOST

    def count(self, more: int = 0) -> None:
        """Counts one more message or element, and what is as much work as so many."""
        self.left -= 1 + more
        if self.left < 0:
            raise ProtobufError(f"the body holds more than {MOST} values")

    def message(self, name: str, data: bytes, at: int, end: int) -> object:
        """A message as JSON has it."""
        self.count()
        if self.depth >= DEEPEST:
            raise ProtobufError("the body is nested too deeply")
        self.depth += 1
        found = plan.of(name)
        tree = dict(found.zeros)
        self._read(found, tree, data, at, end)
        for field, type in found.structs:
            if tree[field] is None:
                tree[field] = self.message(type, b"", 0, 0)
        self.depth -= 1
        return tree if found.shape is None else found.shape(tree)

    def _read(self, found: Plan, tree: Tree, data: bytes, at: int, end: int) -> None:
        takes, nested = found.takes, found.nested
        within: dict[int, list[tuple[int, int]]] = {}
        while at < end:
            start, tag = at, data[at]
            if tag < 0x80:
                at += 1
            else:
                tag, at = wire.tag(data, at, end)
            if tag & 7 == wire.LENGTH and (tag in takes or tag in nested):
                begin, stop = wire.span(data, at, end)
                if tag in takes:
                    takes[tag](self, tree, data, begin, stop)
                else:
                    within.setdefault(tag, []).append((begin, stop))
                at = stop
            elif tag in takes:
                at = self._take_number(takes[tag], tree, data, at, end, is_varint=tag & 7 == wire.VARINT)
            else:
                plan.check_unknown(found, tag)
                at = wire.skip(data, start, end)
        for tag, spots in within.items():
            self._nest(nested[tag], tree, data, spots)

    def _take_number(self, take: Take, tree: Tree, data: bytes, at: int, end: int, *, is_varint: bool) -> int:
        if not is_varint:
            take(self, tree, data, at, end)
            return at + 8
        number, at = wire.varint(data, at, end)
        take(self, tree, data, number, 0)
        return at

    def _nest(self, inner: Nested, tree: Tree, data: bytes, spots: list[tuple[int, int]]) -> None:
        """Takes in a message that is a field; several of one field are one, as protobuf has it."""
        at, end = spots[-1]
        if len(spots) > 1 and inner.type not in READ_ANEW:
            data = b"".join(data[begin:stop] for begin, stop in spots)
            self.count(len(data) // 16)  # copying is quick, but may happen at every depth
            at, end = 0, len(data)
        if inner.absent == "inline":
            self._read(plan.of(inner.type), tree, data, at, end)
            return
        value = self.message(inner.type, data, at, end)
        if value is None and inner.absent == "omitted":
            tree.pop(inner.name, None)
        else:
            tree[inner.name] = value
