"""What a schema says about merging: which maps and lists are one value, and what tells the items of the others apart.

A type may allow several forms (a scalar, a list, a map); the value decides which one it is.
Types are made from the schemas once and on demand, since definitions may hold themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, cast

from baseload.kube.merge import defaults
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.tree import Object
from baseload.kube.protobuf import written
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema

Scalar = Literal["numeric", "string", "boolean", "untyped"]
_SCALARS: dict[object, Scalar] = {
    "integer": "numeric",
    "number": "numeric",
    "string": "string",
    "boolean": "boolean",
}
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_ZERO: dict[object, object] = {"string": "", "integer": 0, "number": 0, "boolean": False}


class MapType:
    """A map: `atomic` as one value, else field by field; fields that the schema does not name are of type `others`."""

    def __init__(self, schema: Schema, *, is_open: bool) -> None:
        self._properties = definitions.properties(schema) or {}
        self._schema = schema
        self._open = is_open or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        self._fields: dict[str, Type] = {}
        self.steps: dict[str, tuple[str, Type]] = {}  # field -> its element in a field set and its type, once asked for
        self.outlines: dict[tuple[str, ...], FieldSet] = {}  # fields -> the set of a map of those, once asked for
        self.atomic = schema.get("x-kubernetes-map-type") == "atomic"

    @cached_property
    def others(self) -> "Type | None":
        """The type of fields that are not named."""
        others = self._schema.get("additionalProperties")
        if isinstance(others, dict):
            return _type(others, is_open=self._open)
        free = others is None and (self._open or not self._properties)
        return DEDUCED if free or others is True else None

    @property
    def named(self) -> Iterable[str]:
        """The fields that the schema names."""
        return self._properties

    def names(self, field: str) -> bool:
        """Whether the schema names the field, as those of a struct are."""
        return field in self._properties

    def field(self, name: str) -> "Type | None":
        """The type of a field; None where there can be no such field."""
        known = self._fields.get(name)
        if known is not None:
            return known
        if name not in self._properties:
            return self.others
        made = self._fields[name] = _type(self._properties[name], is_open=self._open)
        return made

    def step(self, name: str) -> "tuple[str, Type] | None":
        """A field's element in a field set and its type; None where there can be no such field."""
        field = self.field(name)
        if field is None:
            return None
        found = (f"f:{name}", field)
        if name in self._properties:
            self.steps[name] = found
        return found


class ListType:
    """A list: `atomic` as one value; without keys a set of scalars; else items that their keys tell apart."""

    def __init__(self, schema: Schema, *, is_open: bool) -> None:
        kind = schema.get("x-kubernetes-list-type")
        keys = cast("list[str]", schema.get("x-kubernetes-list-map-keys", [])) if kind == "map" else []
        self._items = cast("Schema | None", schema.get("items"))
        self._open = is_open
        self.atomic = kind not in ("set", "map")
        self.keys = tuple(keys)
        self.sorted_keys = tuple(sorted(keys))
        self.known: dict[str, str] = {}  # the text that is an item's only key -> its element, once asked for

    @cached_property
    def element(self) -> "Type":
        """The type of the items."""
        return ATOMIC if self._items is None else _type(self._items, is_open=self._open)

    @cached_property
    def defaults(self) -> Mapping[str, object]:
        """What stands for a key that an item lacks."""
        item = self._items or {}
        listed = defaults.KEY_DEFAULTS.get(str(item.get("$ref")), {})
        item = definitions.resolved(item)
        fields = definitions.properties(item) or {}
        must = cast("list[str]", item.get("required", [])) if "$ref" in (self._items or {}) else []
        zero = {key: _ZERO[fields[key]["type"]] for key in self.keys if key in must}
        given = {key: fields[key]["default"] for key in self.keys if "default" in fields.get(key, {})}
        return {**zero, **given, **listed}


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """The forms that a value may have."""

    scalar: Scalar | None = None
    listing: ListType | None = None
    mapping: MapType | None = None

    def form(self, value: object) -> "Scalar | ListType | MapType":
        """The form of a value; the first of those allowed where the value has none of them, as null has."""
        if isinstance(value, dict):
            chosen: Scalar | ListType | MapType | None = self.mapping
        elif isinstance(value, list):
            chosen = self.listing
        else:
            chosen = self.scalar if value is not None else None
        return chosen or self.mapping or self.scalar or self.listing or "untyped"


_FREE: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_WHOLE: Schema = {"type": "object", "x-kubernetes-map-type": "atomic"}
DEDUCED = Type("untyped", ListType({}, is_open=True), MapType(_FREE, is_open=True))
ATOMIC = Type("untyped", ListType({}, is_open=True), MapType(_WHOLE, is_open=True))


@cache
def _defined(name: str) -> Type:
    if name in (_QUANTITY, _INT_OR_STRING):
        return Type("untyped")
    return ATOMIC if name == _RAW_EXTENSION else _made(definitions.definition(name), is_open=False)


def _type(schema: Schema, *, is_open: bool) -> Type:
    reference = schema.get("$ref")
    return _defined(reference) if isinstance(reference, str) else _made(schema, is_open=is_open)


def _made(schema: Schema, *, is_open: bool) -> Type:
    match schema.get("type"):
        case "object":
            return Type(mapping=MapType(schema, is_open=is_open))
        case "array":
            return Type(listing=ListType(schema, is_open=is_open))
        case None if "oneOf" not in schema and not schema.get("x-kubernetes-int-or-string"):
            mapping, listing = MapType(schema, is_open=is_open), ListType(schema, is_open=is_open)
            return Type("untyped", listing, mapping)
        case kind:
            return Type(_SCALARS.get(kind, "untyped"))


@dataclass(frozen=True, slots=True, eq=False)
class ObjectType:
    """One kind in one version: what its objects are made of, and what is always there."""

    api_version: str
    kind: str
    root: Type
    empty: Object  # what an object has before anything was said about it
    custom: bool


def of_schema(api_version: str, kind: str, schema: Schema) -> ObjectType:
    """The type of a custom resource, from the openAPIV3Schema of its version."""
    named = definitions.properties(schema) or {}
    text: Schema = {"type": "string"}
    known = {**named, "apiVersion": text, "kind": text, "metadata": {"$ref": definitions.OBJECT_META}}
    root = _made({"type": "object", **schema, "properties": known}, is_open=False)
    return ObjectType(api_version, kind, root, {"metadata": {}}, custom=True)


@cache
def of_kind(api_version: str, kind: str) -> ObjectType | None:
    """The type of a kind that this package carries a schema of."""
    schema = definitions.of_kind(api_version, kind)
    if schema is None:
        return None
    if definitions.is_custom(api_version, kind):
        return of_schema(api_version, kind, schema)
    empty = {"metadata": {}, **written.empty(api_version, kind)}
    return ObjectType(api_version, kind, _made(schema, is_open=False), empty, custom=False)
