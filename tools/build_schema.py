"""Generate the package's schema file from the definitions that kubernetes-validate carries.

Taken are names, types, required fields, enums, formats and the x-kubernetes extensions, of every built-in kind in
baseload's table and of all that those kinds are made of; descriptions are left out.
The JSON Schema of that package allows null everywhere and spells references as paths; both are undone, so that the
file holds definitions as the API server serves them.

    python tools/build_schema.py            write the file
"""

import gzip
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from baseload.kube import kinds

VERSION = "v1.37"
ROOT = Path(__file__).resolve().parent.parent
TARGET = f"src/baseload/kube/schema/{VERSION}.json.gz"

Definition = dict[str, Any]

_KEPT = frozenset({"type", "format", "enum", "required", "items", "properties", "additionalProperties", "oneOf"})
_NAMED = frozenset({"apiVersion", "kind"})  # of a kind: their enum only repeats the kind's name
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"


def outputs() -> dict[str, bytes]:
    """Every generated file: path in the repository -> content, the same bytes on every run."""
    official = _official()
    tops = dict(_kinds(official))
    taken: dict[str, Definition] = {}
    pending = sorted(tops.values())
    while pending:
        name = pending.pop()
        if name not in taken:
            taken[name] = _clean(official[name])
            pending.extend(_references(taken[name]))
    content = {"version": VERSION, "kinds": tops, "definitions": taken}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return {TARGET: gzip.compress(text.encode(), compresslevel=9, mtime=0)}


def _official() -> dict[str, Definition]:
    package = files("kubernetes_validate") / "kubernetes-json-schema" / f"{VERSION}.0-local" / "_definitions.json"
    definitions: dict[str, Definition] = json.loads(package.read_text(encoding="utf-8"))["$defs"]
    return definitions


def _kinds(official: dict[str, Definition]) -> Iterator[tuple[str, str]]:
    """`apiVersion/kind` -> definition, for the kinds of baseload's table that Kubernetes itself defines."""
    for name in sorted(official):
        if "metadata" not in (official[name].get("properties") or {}):
            continue
        for known in official[name].get("x-kubernetes-group-version-kind") or []:
            group, version, kind = known["group"], known["version"], known["kind"]
            api_version = f"{group}/{version}" if group else version
            if kinds.find(api_version, kind):
                yield f"{api_version}/{kind}", name


def _clean(schema: Definition) -> Definition:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return {"$ref": reference.rpartition("/")[2]}
    kept = {key: value for key, value in schema.items() if key in _KEPT or key.startswith("x-kubernetes-")}
    if isinstance(kept.get("type"), list):
        kept["type"] = next(word for word in kept["type"] if word != "null")
    if "properties" in kept:
        kept["properties"] = {name: _property(name, value) for name, value in kept["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = _clean(kept[key])
    if "oneOf" in kept:
        kept["oneOf"] = [_clean(choice) for choice in kept["oneOf"]]
    return kept


def _property(name: str, schema: Definition) -> Definition:
    cleaned = _clean(schema)
    if name in _NAMED:
        cleaned.pop("enum", None)
    return cleaned


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, list):
        for item in schema:
            yield from _references(item)
    elif isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference
        for item in schema.values():
            yield from _references(item)


def main() -> None:
    """Write what is generated."""
    for path, content in outputs().items():
        (ROOT / path).write_bytes(content)
        print(f"{path}: {len(content)} bytes")


if __name__ == "__main__":
    main()
