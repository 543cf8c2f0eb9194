"""A body in protobuf, as kubectl's typed commands and client-go send it; and what a server says of one that is none."""

from typing import Final, cast

from baseload.embedded.store.errors import BadRequest
from baseload.embedded.store.record import Json
from baseload.kube.protobuf.decode import decode
from baseload.kube.protobuf.wire import ProtobufError

_SHOWN: Final = 30  # bytes of a body that a refusal quotes
_OPTIONS: Final = "DeleteOptions"


def tree(body: bytes, api_version: str, kind: str) -> dict[str, Json]:
    """The object in a body that is expected to be of a kind, as JSON has it."""
    try:
        return cast("dict[str, Json]", decode(body, api_version=api_version, kind=kind))
    except ProtobufError as error:
        raise BadRequest(_words(error, body, kind)) from error


def _words(error: ProtobufError, body: bytes, wanted: str) -> str:
    if wanted in ("", _OPTIONS):
        return str(error)
    if not error.kind:
        return f"the object provided is unrecognized (must be of type {wanted}): {error} ({_shown(body)})"
    version = error.api_version.rpartition("/")[2]
    return f'{error.kind} in version "{version}" cannot be handled as a {wanted}: {error}'


def _shown(body: bytes) -> str:
    head = body[:_SHOWN]
    text = head.decode(errors="replace") if head.startswith(b"{") else head.hex()
    return (text + " ..." if len(body) > _SHOWN else text) or "<empty>"
