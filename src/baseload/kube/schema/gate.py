"""The quick answer for many objects of one kind: types made from the schema let msgspec compare while it decodes.

A type per definition refuses unknown fields and wrong types and asks for required ones.
What passes has the right shape; for what does not, `shape` finds out why.
Making the types takes some ten milliseconds, so it is done only where a kind is numerous.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, cast

import msgspec

from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema

_SCALARS: dict[str, object] = {"string": str, "boolean": bool, "number": int | float, "object": dict[str, msgspec.Raw]}
_INTEGERS: dict[str, object] = {
    "int32": Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)],
    "int64": Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)],
}
_MOMENT = Annotated[datetime, msgspec.Meta(tz=True)]
_ABSENT = msgspec.Raw(b"")


class Gate:
    """The gate of one kind, over the three parts of its objects."""

    def __init__(self, schema: Schema) -> None:
        fields = definitions.properties(schema) or {}
        self._decoders: dict[str, msgspec.json.Decoder[object]] = {
            name: msgspec.json.Decoder(Types(lenient=name == "status").of(fields[name]))
            for name in ("metadata", "spec", "status")
            if name in fields
        }
        self._must = frozenset(cast("list[str]", schema.get("required", []))) & self._decoders.keys()
        self._passed: dict[str, set[bytes]] = {name: set() for name in self._decoders}

    def passes(self, metadata: bytes, spec: bytes, status: bytes) -> bool:
        """Whether all parts of an object have the right shape; False may be a false alarm."""
        return self._part("metadata", metadata) and self._part("spec", spec) and self._part("status", status)

    def _part(self, name: str, raw: bytes) -> bool:
        if not raw:
            return name not in self._must
        passed = self._passed.get(name)
        if passed is None:
            return False
        if raw in passed:
            return True
        try:
            self._decoders[name].decode(raw)
        except msgspec.MsgspecError:
            return False
        if name != "metadata":  # which no two objects share
            passed.add(raw)
        return True


class Types:
    """Makes a type for each definition; `lenient` ones ask for no field, `leaves` stand for definitions and formats."""

    def __init__(self, *, lenient: bool, leaves: Mapping[str, object] = MappingProxyType({})) -> None:
        self._lenient, self._leaves = lenient, leaves
        self._made: dict[str, object] = dict(leaves)
        self._making: set[str] = set()
        self.is_exact = True
        """Whether all is looked into; a definition inside itself is not"""

    def of(self, schema: Schema) -> object:
        """The type of a schema; Kubernetes' own definitions, which are all that come here, close no list of values."""
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return self._make("Inline", schema)
        if reference in self._making:
            self.is_exact = False
            return msgspec.Raw
        if reference not in self._made:
            self._making.add(reference)
            self._made[reference] = self._make(reference.rpartition(".")[2], definitions.definition(reference))
            self._making.remove(reference)
        return self._made[reference]

    def _make(self, name: str, schema: Schema) -> object:
        if "oneOf" in schema:
            return str | int | float if schema["oneOf"] != _INT_OR_STRING else str | int
        kind, format = schema.get("type"), str(schema.get("format"))
        if format in self._leaves:
            return self._leaves[format]
        if format == "date-time":
            return _MOMENT
        if kind == "array":
            return list[self.of(cast(Schema, schema["items"]))]  # type: ignore[misc]
        if kind == "integer":
            return _INTEGERS.get(format, int)
        if kind == "object" and "properties" in schema:
            return self.struct(name, schema)
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return dict[str, self.of(cast(Schema, schema["additionalProperties"]))]  # type: ignore[misc]
        return _SCALARS.get(str(kind), msgspec.Raw)

    def struct(self, name: str, schema: Schema, further: Sequence[tuple[str, object]] = ()) -> type[msgspec.Struct]:
        """A type of the fields of a schema, and of further ones that may be there."""
        must = [] if self._lenient else cast("list[str]", schema.get("required", []))
        fields: list[tuple[str, object, object]] = []
        for index, (field, held) in enumerate((definitions.properties(schema) or {}).items()):
            of = self.of(held)
            if field in must:
                fields.append((f"f{index}", of, msgspec.field(name=field)))
            elif of is msgspec.Raw:
                fields.append((f"f{index}", of, msgspec.field(name=field, default=_ABSENT)))
            else:
                fields.append((f"f{index}", of | None, msgspec.field(name=field, default=None)))  # type: ignore[operator]
        for index, (field, of) in enumerate(further, len(fields)):
            fields.append((f"f{index}", of, msgspec.field(name=field, default=None)))
        return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True, gc=False)


_INT_OR_STRING = [{"type": "string"}, {"type": "integer"}]
