"""What an API server says of values that a custom resource's schema does not want.

The words are those of kube-apiserver v1.37.2, to which the same schemas and values were sent.
"""

from typing import Any, Final

import pytest

from baseload.kube.structural import lists, nulls, values
from baseload.kube.structural.fault import Fault

_TEXT: Final = {"type": "string"}
_EITHER: Final = {"type": "object", "properties": {"x": _TEXT, "z": _TEXT}}
_NEEDS: Final = [{"required": ["x"]}, {"required": ["z"]}]


def told(schema: dict[str, Any], value: object) -> list[str]:
    """The faults of a value at spec.f, as messages print them."""
    whole = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"f": schema}}}}
    tree = {"spec": {"f": value}}
    return [f"{found.path}: {found.message}" for found in [*values.faults(whole, tree), *lists.faults(whole, tree)]]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (_TEXT, 5, 'Invalid value: "integer": spec.f in body must be of type string: "integer"'),
        (_TEXT, None, 'Invalid value: "null": spec.f in body must be of type string: "null"'),
        ({"type": "boolean"}, "yes", 'Invalid value: "string": spec.f in body must be of type boolean: "string"'),
        (
            {"type": "array", "items": _TEXT},
            {},
            'Invalid value: "object": spec.f in body must be of type array: "object"',
        ),
        ({"type": "string", "minLength": 2}, "a", 'Invalid value: "a": spec.f in body should be at least 2 chars long'),
        ({"type": "string", "maxLength": 4}, "abcde", "Too long: may not be more than 4 bytes"),
        (
            {"type": "string", "pattern": "^[a-z]+$"},
            "1",
            "Invalid value: \"1\": spec.f in body should match '^[a-z]+$'",
        ),
        ({"type": "string", "enum": ["a", "b"]}, "c", 'Unsupported value: "c": supported values: "a", "b"'),
        ({"type": "integer", "enum": [1, 2]}, 7, 'Unsupported value: 7: supported values: "1", "2"'),
        ({"type": "integer", "minimum": 1}, 0, "Invalid value: 0: spec.f in body should be greater than or equal to 1"),
        (
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            1,
            "Invalid value: 1: spec.f in body should be greater than 1",
        ),
        ({"type": "integer", "maximum": 5}, 7, "Invalid value: 7: spec.f in body should be less than or equal to 5"),
        (
            {"type": "integer", "maximum": 5, "exclusiveMaximum": True},
            5,
            "Invalid value: 5: spec.f in body should be less than 5",
        ),
        ({"type": "integer", "multipleOf": 2}, 7, "Invalid value: 7: spec.f in body should be a multiple of 2"),
        ({"type": "number", "multipleOf": 0.5}, 0.3, "Invalid value: 0.3: spec.f in body should be a multiple of 0.5"),
        ({"type": "array", "minItems": 1}, [], "Invalid value: 0: spec.f in body should have at least 1 items"),
        ({"type": "array", "maxItems": 2}, [1, 2, 3], "Too many: 3: must have at most 2 items"),
        (
            {"type": "object", "minProperties": 1},
            {},
            "Invalid value: 0: spec.f in body should have at least 1 properties",
        ),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 1}, "Too many: 2: must have at most 1 item"),
        (
            {"x-kubernetes-int-or-string": True},
            1.5,
            'Invalid value: "number": spec.f in body must be of type integer,string: "number"',
        ),
        (
            {"type": "integer", "format": "int32"},
            3_000_000_000,
            'Invalid value: "": Checked value must be of type integer with format int32 in spec.f',
        ),
        (
            {**_EITHER, "not": {"required": ["x"]}},
            {"x": "a"},
            'Invalid value: "": "spec.f" must not validate the schema (not)',
        ),
        (
            {**_EITHER, "oneOf": _NEEDS},
            {"x": "a", "z": "b"},
            'Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found 2 valid alternatives',
        ),
    ],
)
def test_a_value_is_refused_in_a_real_servers_words(schema: dict[str, Any], value: object, message: str) -> None:
    (found,) = told(schema, value)
    assert found.partition(": ")[2] == message


@pytest.mark.parametrize(
    ("kind", "messages"),
    [
        (
            "oneOf",
            [
                '<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found none valid',
                "spec.f.x: Required value",
            ],
        ),
        (
            "anyOf",
            [
                '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
                "spec.f.x: Required value",
            ],
        ),
        (
            "allOf",
            [
                "spec.f.x: Required value",
                "spec.f.z: Required value",
                '<nil>: Invalid value: "": "spec.f" must validate all the schemas (allOf). None validated',
            ],
        ),
    ],
)
def test_a_composed_schema_says_what_would_have_fitted(kind: str, messages: list[str]) -> None:
    assert told({**_EITHER, kind: _NEEDS}, {}) == messages


@pytest.mark.parametrize(
    ("format", "right", "wrong"),
    [
        ("date-time", "2020-01-01T00:00:00Z", "foo"),
        ("date", "2020-01-31", "2020-02-31"),
        ("duration", "22 ns", "foo"),
        ("duration", "1h30m", "1 fortnight"),
        ("byte", "YQ==", "%%"),
        ("ipv4", "10.0.0.1", "10.0.0"),
        ("ipv6", "::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("mac", "00:00:5e:00:53:01", "00:00"),
        ("uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99"),
        ("hostname", "example.com", "a-b.c"),
        ("email", "a <b@c>", "foo"),
        ("uri", "http://a/b", "foo"),
        ("k8s-short-name", "a-b", "A_"),
        ("isbn", "0321751043", "0321751044"),
        ("hexcolor", "#FFFFFF", "#FFFF"),
        ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
    ],
)
def test_a_format_is_held_to(format: str, right: str, wrong: str) -> None:
    schema = {"type": "string", "format": format}
    assert told(schema, right) == []
    assert told(schema, wrong) == [
        f'spec.f: Invalid value: "{wrong}": spec.f in body must be of type {format}: "{wrong}"'
    ]


def test_a_format_that_nobody_knows_asks_for_nothing() -> None:
    assert told({"type": "string", "format": "colour-of-the-sky"}, "grey") == []
    assert told({"type": "integer", "format": "int16"}, 70000) == []


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert told({"type": "integer", "format": "int64"}, 4.0) == []
    assert told({"type": "integer"}, 4.5) == [
        'spec.f: Invalid value: "number": spec.f in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.f',
    ]


def test_twins_in_a_set_and_in_a_map_are_told_once() -> None:
    assert told({"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT}, ["a", "b", "a", "a"]) == [
        'spec.f[2]: Duplicate value: "a"'
    ]
    listed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"]}
    items = {"type": "object", "properties": {"a": _TEXT, "b": {"type": "integer"}, "c": _TEXT}}
    assert told({**listed, "items": items}, [{"a": "x", "b": 1}, {"a": "x", "b": 1, "c": "y"}, {"a": "x", "b": 2}]) == [
        'spec.f[1]: Duplicate value: {"a":"x","b":1}'
    ]


def test_what_is_left_alone_is_not_looked_at_again() -> None:
    kept: dict[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 2},
            "list": {"type": "array", "items": {"type": "string", "enum": ["q"]}},
            "map": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": _TEXT, "v": {"type": "string", "enum": ["n"]}}},
            },
        },
    }
    old = {"name": "abc", "list": ["a"], "map": [{"k": "x", "v": "y"}, {"k": "z", "v": "y"}]}

    assert values.faults(kept, {**old, "other": 1}, old) == []
    changed = {"name": "abc", "list": ["a", "q"], "map": [{"k": "z", "v": "w"}, {"k": "x", "v": "y"}]}
    assert values.faults(kept, changed, old) == [
        Fault("list[0]", "FieldValueNotSupported", 'Unsupported value: "a": supported values: "q"'),
        Fault("map[0].v", "FieldValueNotSupported", 'Unsupported value: "w": supported values: "n"'),
    ]


def test_nulls_go_where_they_are_not_wanted_but_stay_in_lists() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a": _TEXT,
            "b": {"type": "string", "nullable": True},
            "c": {"type": "array", "items": _TEXT},
            "d": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    }
    tree = {"a": None, "b": None, "c": [None], "d": {"x": None, "y": 1}}

    assert nulls.without(schema, tree) == {"b": None, "c": [None], "d": {"y": 1}}
    assert tree["a"] is None, "the tree itself stays as it is"
