"""The wire format of protobuf: numbers of varying length, tags, and what to skip; with the refusals of Go's decoder."""

from typing import Final

VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
_GROUP: Final = 3
_GROUP_END: Final = 4
_FIXED32: Final = 5

_LONGEST: Final = 10  # bytes of a number of 64 bits
_TAG: Final = (1 << 35) - 1  # the number of a field has 32 bits, its wire type 3
_LARGE: Final = 0x80  # what begins a number of more than one byte, or of none
_SIGN: Final = 1 << 63


class ProtobufError(ValueError):
    """Bytes are no message of the kind that they claim to be; the kind is known where it could be read."""

    def __init__(self, message: str, *, api_version: str = "", kind: str = "") -> None:
        super().__init__(message)
        self.api_version = api_version
        self.kind = kind


def ended() -> ProtobufError:
    return ProtobufError("unexpected EOF")


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number at a place, of 64 bits without sign, and the place behind it."""
    value = shift = 0
    for place in range(at, min(at + _LONGEST, end)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, place + 1
        shift += 7
    raise ProtobufError("proto: integer overflow") if end - at >= _LONGEST else ended()


def tag(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The tag of a field at a place, and the place behind it."""
    value, at = varint(data, at, end)
    return value & _TAG, at


def span(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where the bytes begin and stop whose length stands at a place."""
    size = data[at] if at < end else _LARGE
    if size < 0x80:
        at += 1
    else:
        size, at = varint(data, at, end)
    if size >= _SIGN or at + size >= _SIGN:
        raise ProtobufError("proto: negative length found during unmarshaling")
    if at + size > end:
        raise ended()
    return at, at + size


def signed(value: int) -> int:
    """A number of 64 bits with its sign."""
    return value - (1 << 64) if value >= _SIGN else value


def signed32(value: int) -> int:
    """The low 32 bits of a number, with their sign."""
    return ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def skip(data: bytes, at: int, end: int) -> int:
    """The place behind the field whose tag stands at a place; groups, which nobody sends any more, go as a whole."""
    depth = 0
    while at < end:
        found, at = tag(data, at, end)
        match found & 7:
            case 0:
                _, at = varint(data, at, end)
            case 1:
                at += 8
            case 2:
                _, at = span(data, at, end)
            case 3:
                depth += 1
            case 4:
                if depth == 0:
                    raise ProtobufError("proto: unexpected end of group")
                depth -= 1
            case 5:
                at += 4
            case other:
                raise ProtobufError(f"proto: illegal wireType {other}")
        if depth == 0 and at <= end:
            return at
    raise ended()


def check_tag(found: int, message: str) -> None:
    """Refuses the tag of a field that no message can have."""
    if found & 7 == _GROUP_END:
        raise ProtobufError(f"proto: {message}: wiretype end group for non-group")
    number = signed32(found >> 3)
    if number <= 0:
        raise ProtobufError(f"proto: {message}: illegal tag {number} (wire type {found})")


def wrong_type(found: int, field: str) -> ProtobufError:
    """A field that is there in another encoding than its own."""
    return ProtobufError(f"proto: wrong wireType = {found & 7} for field {field}")
