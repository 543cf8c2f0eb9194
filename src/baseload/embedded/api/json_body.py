"""JSON as a real server reads it, and why something is none.

What is no UTF-8, or half of a surrogate pair, becomes the replacement character without a word, as Go has it. That is
looked for only after a strict reader has refused the body.
"""

import json
from typing import Final, Never

import msgspec

from baseload.embedded.store.record import Json
from baseload.kube.merge import go_text

_ENDS: Final = "unexpected end of JSON input"
_SHOWN: Final = 30
_HEAD: Final = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


class NoJson(ValueError):
    """A body that is not JSON; its words are of the reader."""


def read(body: bytes) -> Json:
    """The value in a body."""
    try:
        value: Json = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _read_again(body, error)
    return value


def summary(body: bytes) -> str:
    """The beginning of a body, as refusals show it."""
    if not body:
        return "<empty>"
    cut, more = body[:_SHOWN], " ..." if len(body) > _SHOWN else ""
    return (cut.decode(errors="replace") if cut.startswith(b"{") else cut.hex()) + more


def no_object(value: Json) -> str:
    """Why a value is no object, in Go's words."""
    return go_text.cannot(value, _HEAD)


def _read_again(body: bytes, refusal: Exception) -> Json:
    try:
        value = json.loads(body.decode(errors="replace"), parse_constant=_refused)
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
        raise NoJson(_ENDS if is_cut else str(refusal)) from refusal
    except ValueError as error:
        raise NoJson(str(refusal)) from error
    whole: Json = msgspec.json.decode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return whole


def _refused(constant: str) -> Never:
    raise ValueError(constant)
