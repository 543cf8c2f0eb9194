"""A value beside what it was before an update: which part of the old object is the old value of which part of the new.

Fields and keys of maps are known by their names, elements of lists of type map by their keys. Elements of other lists
are not known again; such a list is compared as a whole.
"""

from typing import cast

from baseload.kube.cel.values import Value, equal
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema


def keys_of(schema: Schema) -> tuple[str, ...]:
    """The keys of a list's elements, none where they have none."""
    if schema.get("x-kubernetes-list-type") != "map":
        return ()
    return tuple(cast("list[str]", schema.get("x-kubernetes-list-map-keys", [])))


def by_keys(schema: Schema, elements: Value) -> dict[tuple[Value, ...], Value]:
    """The elements of a list of type map by their keys."""
    keys = keys_of(schema)
    if not keys or not isinstance(elements, list):
        return {}
    return {key_of(element, keys, schema): element for element in elements if isinstance(element, dict)}


def key_of(element: Value, keys: tuple[str, ...], schema: Schema) -> tuple[Value, ...]:
    """The key of an element; a part that is left out is its default."""
    items = definitions.properties(cast(Schema, schema.get("items", {}))) or {}
    return tuple(_hashable(element.get(key, items.get(key, {}).get("default"))) for key in keys)


def _hashable(value: Value) -> Value:
    return value if value is None or isinstance(value, str | int | float) else repr(value)


class Correlated:
    """One value with its old value; both are there."""

    __slots__ = ("_same", "old", "schema", "value")

    def __init__(self, value: Value, old: Value, schema: Schema) -> None:
        self.value, self.old, self.schema = value, old, definitions.resolved(schema)
        self._same: bool | None = None

    def key(self, name: str) -> "Correlated | None":
        """The value of a field or key; None where it has no old value, or no schema says what it is."""
        if not isinstance(self.value, dict) or not isinstance(self.old, dict):
            return None
        if name not in self.value or name not in self.old:
            return None
        others = self.schema.get("additionalProperties")
        field = (definitions.properties(self.schema) or {}).get(name, others)
        return Correlated(self.value[name], self.old[name], cast(Schema, field)) if isinstance(field, dict) else None

    def index(self, place: int) -> "Correlated | None":
        """The element at a place of the new list; None where it is not known again."""
        keys, items = keys_of(self.schema), self.schema.get("items")
        if not keys or not isinstance(items, dict) or not isinstance(self.value, list) or place >= len(self.value):
            return None
        element = self.value[place]
        if not isinstance(element, dict):
            return None
        old = by_keys(self.schema, self.old).get(key_of(element, keys, self.schema))
        return None if old is None else Correlated(element, old, cast(Schema, items))

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        if self._same is None:
            self._same = self._compare()
        return self._same

    def _compare(self) -> bool:
        if isinstance(self.value, dict) and isinstance(self.old, dict):
            children = [self.key(name) for name in self.value]
            return len(self.value) == len(self.old) and all(child is not None and child.is_same for child in children)
        if isinstance(self.value, list) and isinstance(self.old, list) and keys_of(self.schema):
            found = [self.index(place) for place in range(len(self.value))]
            return len(self.value) == len(self.old) and all(child is not None and child.is_same for child in found)
        return equal(self.value, self.old)


class Ratchet:
    """Where an update may leave what is wrong as it was: at values that did not change.

    `here` is the value at hand, None where it is not known again; then what encloses it decides.
    """

    __slots__ = ("above", "here")

    def __init__(self, here: Correlated | None, above: Correlated | None = None) -> None:
        self.here, self.above = here, above

    def key(self, name: str) -> "Ratchet":
        if self.here is None:
            return self
        if self.above is None and name in ("apiVersion", "kind"):
            return Ratchet(None)
        return Ratchet(self.here.key(name), self.here)

    def index(self, place: int) -> "Ratchet":
        return self if self.here is None else Ratchet(self.here.index(place), self.here)

    @property
    def is_held(self) -> bool:
        """Whether the value is as it was."""
        decides = self.here or self.above
        return decides is not None and decides.is_same
