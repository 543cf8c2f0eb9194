"""JSON for people and for pipes: indented while it is short, else one element of each list a line.

A plan for thousands of pods is read by programs and compared by lines; indenting it would more than double it.
"""

from collections.abc import Mapping

import msgspec

_SHORT = 2**20  # bytes


def write(tree: Mapping[str, object]) -> bytes | bytearray:
    """An object as JSON text, with a newline at its end."""
    encoder, text = msgspec.json.Encoder(), bytearray(b"{")
    for key, value in tree.items():
        text += b"\n" if text == b"{" else b",\n"
        encoder.encode_into(key, text, -1)
        text += b":"
        _append(value, encoder, text)
    text += b"\n}\n"
    return text if len(text) > _SHORT else msgspec.json.format(bytes(text), indent=2) + b"\n"


def _append(value: object, encoder: msgspec.json.Encoder, text: bytearray) -> None:
    if not isinstance(value, list | tuple) or not value:
        encoder.encode_into(value, text, -1)
        return
    before = b"[\n"
    for element in value:
        text += before
        encoder.encode_into(element, text, -1)
        before = b",\n"
    text += b"\n]"


def fragment(part: object) -> msgspec.Raw:
    """A part that stands in many places as text, so that it is encoded once."""
    return msgspec.Raw(msgspec.json.encode(part))
