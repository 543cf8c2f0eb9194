"""What a built-in kind's schema says about strategic merge patches: which lists merge, and by which key."""

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import cast

from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema


@dataclass(frozen=True, slots=True, eq=False)
class PatchMeta:
    """How the value of one field is patched."""

    schema: Schema  # of the value; of a list's items
    merges: bool = False  # a list is merged, not replaced
    replaces: bool = False  # a map is replaced, not merged
    key: str = ""  # what tells the items of a merged list of maps apart
    _fields: dict[str, "PatchMeta"] = dataclasses.field(default_factory=dict)  # that the schema names, once asked for

    def field(self, name: str) -> "PatchMeta":
        """What holds for a field below."""
        found = self._fields.get(name)
        return self._found(name) if found is None else found

    def _found(self, name: str) -> "PatchMeta":
        fields = definitions.properties(self.schema) or {}
        known = fields[name] if name in fields else self.schema.get("additionalProperties")
        found = _of_field(_Hashed(known)) if isinstance(known, dict) else _UNKNOWN
        if name in fields:
            self._fields[name] = found
        return found


class _Hashed:
    """A schema by identity: the schemas are loaded once and never change."""

    __slots__ = ("schema",)

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and other.schema is self.schema


@cache
def _of_field(held: _Hashed) -> PatchMeta:
    field = held.schema
    strategies = str(field.get("x-kubernetes-patch-strategy", "")).split(",")
    value = definitions.resolved(field)
    items = value.get("items")
    return PatchMeta(
        definitions.resolved(cast(Schema, items)) if isinstance(items, dict) else value,
        merges="merge" in strategies,
        replaces="replace" in strategies,
        key=str(field.get("x-kubernetes-patch-merge-key", "")),
    )


_UNKNOWN = PatchMeta({})


@cache
def of_kind(api_version: str, kind: str) -> PatchMeta | None:
    """What holds for objects of a kind; None for those that have no strategic merge patch."""
    schema = definitions.of_kind(api_version, kind)
    return None if schema is None or definitions.is_custom(api_version, kind) else PatchMeta(schema)
