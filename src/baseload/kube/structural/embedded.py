"""Objects inside objects (x-kubernetes-embedded-resource): each has an apiVersion, a kind, and metadata if any.

What cannot be read as such an object at all is refused before anything else is looked at; fields that metadata does not
have are dropped as those of any object are.
"""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from baseload.kube.merge import go_text
from baseload.kube.schema import definitions
from baseload.kube.structural import fault, words
from baseload.kube.structural.fault import Fault
from baseload.kube.structural.values import Schema
from baseload.kube.validation import decoding
from baseload.values import label

_KEY_TEXT: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def unreadable(schema: Schema, value: object) -> Fault | None:
    """The first embedded object that cannot be read as one."""
    for path, held in within(schema, value):
        for name in ("apiVersion", "kind"):
            if name in held and not isinstance(held[name], str):
                return fault.invalid(fault.child(path, name), held[name], "must be a string")
        if "metadata" in held and (said := wrong_metadata(held["metadata"])):
            return fault.invalid(fault.child(path, "metadata"), held["metadata"], said)
    return None


def wrong_metadata(metadata: object) -> str:
    """What Go's JSON says of metadata that it cannot decode; "" where it can."""
    if isinstance(metadata, dict):
        metadata = dict(sorted(metadata.items()))
    return decoding.fault({"$ref": definitions.OBJECT_META}, metadata)


def faults(schema: Schema, value: object) -> Iterator[Fault]:
    """What is wrong with the embedded objects of a value."""
    for path, held in within(schema, value):
        for name in ("apiVersion", "kind"):
            if name not in held:
                yield fault.required(fault.child(path, name))
            elif held[name] == "":
                yield fault.invalid(fault.child(path, name), "", "must not be empty")
        version, kind = str(held.get("apiVersion") or ""), str(held.get("kind") or "")
        if version.count("/") > 1:
            why = f"unexpected GroupVersion string: {version}"
            yield fault.invalid(fault.child(path, "apiVersion"), version, why)
        if kind and (wrong := words.wrong_label(kind.lower())):
            why = f"may have mixed case, but should otherwise match: {wrong}"
            yield fault.invalid(fault.child(path, "kind"), kind, why)
        metadata = held.get("metadata")
        if isinstance(metadata, dict):
            yield from _of_labels(metadata.get("labels"), f"{path}.metadata.labels")


def within(schema: Schema, value: object, path: str = "") -> Iterator[tuple[str, dict[str, object]]]:
    """(path, object) of all embedded objects."""
    if isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for index, held in enumerate(value):
                yield from within(items, held, f"{path}[{index}]")
    elif isinstance(value, dict):
        if schema.get("x-kubernetes-embedded-resource"):
            yield path, value
        fields = cast("dict[str, Schema]", schema.get("properties") or {})
        others = schema.get("additionalProperties")
        for name, held in value.items():
            if name in fields:
                yield from within(fields[name], held, fault.child(path, name))
            elif isinstance(others, dict):
                yield from within(others, held, f"{path}[{name}]")


def _of_labels(labels: object, path: str) -> Iterator[Fault]:
    for key, value in cast("Mapping[str, object]", labels).items() if isinstance(labels, dict) else ():
        if not label.is_qualified_name(key):
            yield fault.invalid(path, key, _KEY_TEXT)
        elif not label.is_label_value(go_text.plain(value)):
            yield fault.invalid(path, value, _VALUE_TEXT)
