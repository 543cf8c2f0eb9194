"""OpenAPI v2, made of the documents of v3: one for all groups, for clients that know no other.

In protobuf it is served without definitions: kubectl asks for it so before it sends a `kind: List`, and leaves alone
what the document does not define; the server checks each item as it comes.
"""

from collections.abc import Iterable
from typing import Final, cast

import msgspec

import baseload
from baseload.embedded.store.record import Json

Tree = dict[str, Json]

TITLE: Final = "Kubernetes, as baseload speaks it"
PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PROTOBUF_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"  # no @ may stand in a media type
_V3: Final = b'"#/components/schemas/'
_V2: Final = b'"#/definitions/'
_METHODS: Final = ("get", "put", "post", "delete", "patch")


def in_protobuf() -> bytes:
    """The document with nothing but its head."""
    info = _text(1, TITLE.encode()) + _text(2, baseload.__version__.encode())
    return _text(1, b"2.0") + _text(2, info)


def _text(field: int, value: bytes) -> bytes:
    """A field of a protobuf message, shorter than 128 bytes."""
    return bytes([field << 3 | 2, len(value)]) + value


def document(documents: Iterable[bytes]) -> bytes:
    """The document in JSON, from those of v3."""
    told: list[Tree] = [msgspec.json.decode(held.replace(_V3, _V2)) for held in documents]
    definitions: Tree = {}
    paths: Tree = {}
    for tree in told:
        definitions.update(cast(Tree, cast(Tree, tree["components"])["schemas"]))
        paths.update({path: _path(cast(Tree, item)) for path, item in cast(Tree, tree["paths"]).items()})
    info: Tree = {"title": TITLE, "version": baseload.__version__}
    ordered: Tree = dict(sorted(definitions.items()))
    return msgspec.json.encode({"swagger": "2.0", "info": info, "paths": paths, "definitions": ordered})


def _path(item: Tree) -> Tree:
    told: Tree = {"parameters": _parameters(item)} if "parameters" in item else {}
    for method in _METHODS:
        if method in item:
            told[method] = _operation(cast(Tree, item[method]))
    return told


def _operation(operation: Tree) -> Tree:
    parameters = _parameters(operation)
    told: Tree = {key: value for key, value in operation.items() if key.startswith("x-")}
    if "requestBody" in operation:
        body = cast(Tree, operation["requestBody"])
        content = cast("dict[str, Tree]", body["content"])
        schema = next(iter(content.values()))["schema"]
        told["consumes"] = list(content)
        parameters.append({"name": "body", "in": "body", "required": bool(body.get("required")), "schema": schema})
    answers, produces = _responses(cast("dict[str, Tree]", operation["responses"]))
    return {**told, "parameters": parameters, "produces": produces, "responses": answers}


def _parameters(held: Tree) -> list[Json]:
    parameters = cast("list[Tree]", held.get("parameters") or [])
    return [
        {**{key: value for key, value in told.items() if key != "schema"}, **cast(Tree, told["schema"])}
        for told in parameters
    ]


def _responses(responses: dict[str, Tree]) -> tuple[Tree, list[Json]]:
    answers: Tree = {}
    produces: list[Json] = []
    for code, response in responses.items():
        if code == "default":
            continue
        content = cast("dict[str, Tree]", response.get("content") or {})
        produces += [media_type for media_type in content if media_type not in produces]
        schema: Tree = {"schema": next(iter(content.values()))["schema"]} if content else {}
        answers[code] = {"description": response["description"], **schema}
    answers["401"] = {"description": "Unauthorized"}
    return answers, produces or ["application/json"]
