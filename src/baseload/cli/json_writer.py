"""JSON for people and for pipes: indented while it is short, else one element of each list a line.

A plan for thousands of pods is read by programs and compared by lines; indenting it would more than double it.
"""

from collections.abc import Iterator, Mapping

import msgspec

_SHORT = 2**20  # bytes


def write(tree: Mapping[str, object]) -> bytes:
    """An object as JSON text, with a newline at its end."""
    fields = [(msgspec.json.encode(key), list(_parts(value))) for key, value in tree.items()]
    size = sum(len(part) for _, parts in fields for part in parts)
    text = b"{\n" + b",\n".join(b"%s:%s" % (key, b"".join(parts)) for key, parts in fields) + b"\n}\n"
    return text if size > _SHORT else msgspec.json.format(text, indent=2) + b"\n"


def _parts(value: object) -> Iterator[bytes]:
    if not isinstance(value, list | tuple) or not value:
        yield msgspec.json.encode(value)
        return
    encoder = msgspec.json.Encoder()
    separator = b"[\n"
    for element in value:
        yield separator
        yield encoder.encode(element)
        separator = b",\n"
    yield b"\n]"


def fragment(part: object) -> msgspec.Raw:
    """A part that stands in many places as text, so that it is encoded once."""
    return msgspec.Raw(msgspec.json.encode(part))
