"""The rules of a schema over plain objects: what is not told by a server's answers."""

import subprocess
import sys
from typing import Any

from baseload.kube.cel.rules import Rules

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def of(rule: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "x-kubernetes-validations": [{"rule": rule, "message": "broken"}]}


def test_a_whole_number_in_a_field_of_type_number_is_a_double() -> None:
    rules = Rules(of("type(self.f) == double && string(self.f / 2.0) == '0.5'", f={"type": "number"}))
    assert list(rules.faults({"f": 1})) == []


def test_a_keyed_list_in_another_order_is_as_it_was() -> None:
    item = {"type": "object", "properties": {"k": TEXT, "v": NUMBER}}
    kept: dict[str, Any] = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "x-kubernetes-validations": [{"rule": "self.size() > 2", "message": "too few"}],
    }
    old: dict[str, Any] = {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]}
    schema: dict[str, Any] = {"type": "object", "properties": {"l": kept}}
    (turned,) = Rules(schema).faults({"l": old["l"][::-1]}, old)
    assert (turned.message, turned.is_held) == ("Invalid value: too few", True)
    (changed,) = Rules(schema).faults({"l": [{"k": "a", "v": 1}, {"k": "b", "v": 3}]}, old)
    assert not changed.is_held
    atomic: dict[str, Any] = {"type": "object", "properties": {"l": {**kept, "x-kubernetes-list-type": "atomic"}}}
    (turned,) = Rules(atomic).faults({"l": old["l"][::-1]}, old)
    assert not turned.is_held


def test_a_schema_without_rules_has_nothing_to_say() -> None:
    rules = Rules({"type": "object", "properties": {"n": NUMBER}})
    assert not rules.any
    assert list(rules.faults({"n": 1}, {"n": 2})) == []


def test_the_language_is_loaded_when_the_first_object_with_rules_comes() -> None:
    code = (
        "import sys\n"
        "from baseload.kube.cel.rules import Rules\n"
        "rule = {'rule': 'self.s.matches(\"a\")'}\n"
        "text = {'type': 'object', 'properties': {'s': {'type': 'string'}}}\n"
        "rules = Rules({**text, 'x-kubernetes-validations': [rule]})\n"
        "before = [name in sys.modules for name in ('re2', 'baseload.kube.cel.program')]\n"
        "faults = list(rules.faults({'s': 'b'}))\n"
        "after = [name in sys.modules for name in ('re2', 'baseload.kube.cel.program')]\n"
        "print(before, len(faults), after)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[False, False] 1 [True, True]\n"
