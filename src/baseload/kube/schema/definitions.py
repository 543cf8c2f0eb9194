"""The schemas of all kinds: Kubernetes' own from the generated file, Karpenter's and the buffers' from ours."""

import gzip
import json
import re
from functools import cache
from importlib.resources import files
from typing import cast

from baseload.kube.merge import merge_patch

Schema = dict[str, object]

VERSION = "v1.37"
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_LONGEST_MATCHED = 4096  # characters; no field with a pattern holds more, and matching a longer text takes its time


@cache
def _official() -> dict[str, dict[str, Schema]]:
    packed = (files(__package__) / f"{VERSION}.json.gz").read_bytes()
    return cast("dict[str, dict[str, Schema]]", json.loads(gzip.decompress(packed)))


def custom() -> list[dict[str, object]]:
    """What our own files say of each kind that a custom resource definition adds: names, scope, columns, schema.

    A file names what its schema holds several times once, under `shared`. `stricter` is a merge patch: what manifests
    are held to beyond what an API server asks.
    """
    found = sorted((files(__package__) / "crds").iterdir(), key=lambda file: file.name)
    return [_whole(json.loads(file.read_text(encoding="utf-8"))) for file in found if file.name.endswith(".json")]


def _whole(crd: dict[str, object]) -> dict[str, object]:
    shared = cast("dict[str, object]", crd.pop("shared", {}))
    return {**crd, "schema": _spread(crd["schema"], shared, {})}


def _spread(part: object, shared: dict[str, object], made: dict[str, object]) -> object:
    """A part of a schema with what it shares in its places; `made` are the shared parts that are done."""
    if isinstance(part, list):
        return [_spread(held, shared, made) for held in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref")
    if not isinstance(reference, str):
        return {name: _spread(held, shared, made) for name, held in part.items()}
    if reference not in made:
        made[reference] = _spread(shared[reference], shared, made)
    return made[reference]


@cache
def _custom() -> dict[str, Schema]:
    """`apiVersion/kind` -> schema, of the kinds that custom resource definitions add."""
    schemas: dict[str, Schema] = {}
    for crd in custom():
        schema = merge_patch.patched(cast(Schema, crd["schema"]), crd.get("stricter", {}))
        cast("dict[str, Schema]", schema["properties"])["metadata"] = {"$ref": OBJECT_META}
        schemas[f"{crd['apiVersion']}/{crd['kind']}"] = schema
    return schemas


@cache
def of_kind(api_version: str, kind: str) -> Schema | None:
    """The schema of a kind, None for one that none is carried for."""
    name = f"{api_version}/{kind}"
    if name in _custom():
        return _custom()[name]
    official = cast("dict[str, str]", _official()["kinds"]).get(name)
    return definition(official) if official else None


def name_of(api_version: str, kind: str) -> str:
    """What the definition of one of Kubernetes' own kinds is called; "" for one that none is carried for."""
    return cast("dict[str, str]", _official()["kinds"]).get(f"{api_version}/{kind}", "")


def is_custom(api_version: str, kind: str) -> bool:
    """Whether a custom resource definition adds the kind; those alone say which values a field may have."""
    return f"{api_version}/{kind}" in _custom()


def names() -> frozenset[str]:
    """What the definitions of Kubernetes' own kinds, and of what those are made of, are called."""
    return frozenset(_official()["definitions"])


def definition(name: str) -> Schema:
    """A definition by its name."""
    return _official()["definitions"][name]


def resolved(schema: Schema) -> Schema:
    """The schema that a reference stands for, or the schema itself."""
    reference = schema.get("$ref")
    return definition(reference) if isinstance(reference, str) else schema


def properties(schema: Schema) -> dict[str, Schema] | None:
    """The fields of a map of fields, None where keys are free."""
    return cast("dict[str, Schema] | None", schema.get("properties"))


def closed(schema: Schema) -> bool:
    """Whether no other fields may stand in a map than those that its schema names."""
    return (
        "properties" in schema
        and "additionalProperties" not in schema
        and not schema.get("x-kubernetes-preserve-unknown-fields")
    )


@cache
def _pattern(text: str) -> re.Pattern[str]:
    # Go's $ is the end of the text, Python's also stands before a last line break.
    return re.compile(re.sub(r"\$$", r"\\Z", text), re.ASCII)


def matches(text: str, pattern: str) -> bool:
    """Whether a text satisfies a schema's pattern."""
    return len(text) <= _LONGEST_MATCHED and _pattern(pattern).search(text) is not None
