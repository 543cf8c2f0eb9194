"""All rules of a schema, and an object against them.

Only the parts of a schema that hold rules are walked. A rule is compiled when an object first reaches it, and kept.
Rules that name `oldSelf` run where an update has an old value for them; what other rules find at a value that an update
left as it was is said, not refused. How much a rule may cost is not counted.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import cast

from baseload.kube.cel import correlation, declared, rule
from baseload.kube.cel.correlation import Correlated, Ratchet
from baseload.kube.cel.rule import Fault, Rule
from baseload.kube.cel.types import Type
from baseload.kube.cel.values import Value
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema


def has_rules(schema: Schema) -> bool:
    """Whether a schema has a rule anywhere."""
    if schema.get("x-kubernetes-validations"):
        return True
    inner = [*(definitions.properties(schema) or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(has_rules(cast(Schema, part)) for part in inner if isinstance(part, dict))


class Rules:
    """The rules of one kind."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    @cached_property
    def _root(self) -> "_Part | None":
        if not has_rules(self._schema):
            return None
        return _part(self._schema, declared.type_of(self._schema, is_root=True))

    @property
    def any(self) -> bool:
        return self._root is not None

    @property
    def has_own(self) -> bool:
        """Whether a rule looks at the object as a whole."""
        return self._root is not None and bool(self._root.rules)

    def allow(self, field: str, value: Value, old: Value, ratchet: Ratchet) -> bool:
        """Whether the rules in one field of the object find nothing wrong with it."""
        part = None if self._root is None else self._root.fields.get(field)
        return part is None or next(part.faults(value, old, field, ratchet), None) is None

    def faults(self, tree: Value, old: Value | None = None) -> Iterator[Fault]:
        """What the rules find wrong with an object, and on an update with what became of the old one."""
        if self._root is not None:
            ratchet = Ratchet(None if old is None else Correlated(tree, old, self._schema))
            yield from self._root.faults(tree, old, "", ratchet)


class _Part:
    """A part of a schema with rules in it: at itself, at its fields, or at its elements."""

    def __init__(self, schema: Schema, self_: Type, rules: list[Rule]) -> None:
        self.schema, self.type, self.rules = schema, self_, rules
        self.fields: dict[str, _Part] = {}
        self.others: _Part | None = None
        self.items: _Part | None = None
        self._convert = declared.conversion(schema)

    def faults(self, value: Value, old: Value, path: str, ratchet: Ratchet) -> Iterator[Fault]:
        """What is wrong with a value and all in it; a null has nothing that could be wrong."""
        if value is None:
            return
        if self.rules:
            yield from self._own(value, old, path, ratchet)
        if isinstance(value, list):
            yield from self._elements(value, old, path, ratchet)
        elif isinstance(value, dict):
            yield from self._members(value, old if isinstance(old, dict) else {}, path, ratchet)

    def _own(self, value: Value, old: Value, path: str, ratchet: Ratchet) -> Iterator[Fault]:
        convert = self._convert
        self_ = value if convert is None else convert(value)
        before = old if convert is None or old is None else convert(old)
        for each in self.rules:
            fault = each.check(self_, before, path, value)
            if fault is not None:
                is_held = not fault.is_failure and not each.uses_old and ratchet.is_held
                yield replace(fault, is_held=True) if is_held else fault

    def _elements(self, value: list[Value], old: Value, path: str, ratchet: Ratchet) -> Iterator[Fault]:
        if self.items is None:
            return
        keys = correlation.keys_of(self.schema)
        known = correlation.by_keys(self.schema, old)
        for place, element in enumerate(value):
            before = None
            if known and isinstance(element, dict):
                before = known.get(correlation.key_of(element, keys, self.schema))
            yield from self.items.faults(element, before, f"{path}[{place}]", ratchet.index(place))

    def _members(self, value: dict[str, Value], old: dict[str, Value], path: str, ratchet: Ratchet) -> Iterator[Fault]:
        for name, held in value.items():
            part = self.fields.get(name)
            if part is not None:
                inner = f"{path}.{name}" if path else name
                yield from part.faults(held, old.get(name), inner, ratchet.key(name))
            elif self.others is not None:
                yield from self.others.faults(held, old.get(name), f"{path}[{name}]", ratchet.key(name))


def _part(schema: Schema, self_: Type | None) -> _Part | None:
    """The part of a schema; None where it holds no rules, or expressions cannot see its values."""
    if self_ is None or not has_rules(schema):
        return None
    part = _Part(schema, self_, [Rule(text, self_, schema) for text in rule.texts(schema) if text.rule.strip()])
    for name, field in (definitions.properties(schema) or {}).items():
        known = declared.escaped(name)
        inner = _part(field, declared.type_of(field) if known is None else (self_.fields or {}).get(known))
        if inner is not None:
            part.fields[name] = inner
    element = self_.of[-1] if self_.of else None
    items, others = schema.get("items"), schema.get("additionalProperties")
    part.items = _part(cast(Schema, items), element) if isinstance(items, dict) else None
    part.others = _part(cast(Schema, others), element) if isinstance(others, dict) else None
    return part
