"""YAML is read as Kubernetes reads it, and refused where it repeats, points in circles or blows up."""

import pytest

from baseload.kube import yaml_reader
from baseload.kube.sources import Source
from tests.kube import inputs


def value_of(text: str) -> object:
    ((_, value),), faults = yaml_reader.read(Source("f", f"a: {text}\n".encode()))
    assert not faults
    assert isinstance(value, dict)
    return value["a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("Off", False),
        ("y", "y"),
        ("'yes'", "yes"),
        ("2026-01-01", "2026-01-01"),
        ("12:30:45", "12:30:45"),
        ("=", "="),
        ("~", None),
        ("1_000", 1000),
        ("0777", 511),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0b11", -3),
        ("08", 8),
        ("1e3", 1000),
        ("1.50", 1.5),
        (".5", 0.5),
        ("1e999", "1e999"),
        ("18446744073709551616", 18446744073709551616.0),
        ("0b", "0b"),
        ("+", "+"),
        ("!!str 1", "1"),
        ("!!int 7", 7),
        ("1.2.3", "1.2.3"),
    ],
)
def test_plain_scalars_mean_what_they_mean_to_kubernetes(text: str, value: object) -> None:
    read = value_of(text)
    assert (read, type(read)) == (value, type(value))


def test_merge_keys_give_way_to_what_is_written() -> None:
    text = "a: &base {x: 1, y: 2}\nb: {<<: *base, y: 3}\nc: {<<: [{x: 0}, *base]}\n"
    ((_, value),), _ = yaml_reader.read(Source("f", text.encode()))
    assert value == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"x": 0, "y": 2}}


WIDE_MERGES = f"a: &a {{{', '.join(f'k{n}: 1' for n in range(1000))}}}\n" + "".join(
    f"b{n}: {{<<: *a}}\n" for n in range(101)
)
LONG_TEXTS = f"a: &a {'x' * 10_000}\nb: [{', '.join(['*a'] * 1100)}]\n"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &a [*a]", "an alias points at a value that contains it (line 1, column 4)"),
        ("a: &a {b: {c: *a}}", "an alias points at a value that contains it (line 1, column 4)"),
        (WIDE_MERGES, "<< stands for more than 100000 values (line 1, column 4)"),
        (LONG_TEXTS, "aliases stand for more than 100000 values (line 2, column 4)"),
        (BOMB, "aliases stand for more than 100000 values (line 5, column 5)"),
        ("a: .inf", ".inf is no number that JSON knows (line 1, column 4)"),
        ("a: !Ref b", "the tag !Ref does not go with 'b' (line 1, column 4)"),
        ("a: !!set {b}", "the tag tag:yaml.org,2002:set is unknown (line 1, column 4)"),
        ("a: {? [b] : c}", "a list or a map is used as a key (line 1, column 7)"),
        ("a: {<<: 1}", "<< takes a map or a list of maps (line 1, column 9)"),
        ("a: " + "{b: " * 150 + "c" + "}" * 150, "is nested more than 100 levels deep (line 1, column 400)"),
        (
            "a: [\nb: c",
            "is not YAML: while parsing a flow sequence: did not find expected ',' or ']': line 3, column 1",
        ),
    ],
)
def test_what_no_manifest_may_hold_is_refused_with_its_place(text: str, message: str) -> None:
    (fault,) = inputs.faults_of(text)
    assert fault.message == message


def test_deeper_nesting_than_the_parser_bears_is_a_fault() -> None:
    (fault,) = inputs.faults_of("a: " + "{b: " * 50_000)
    assert "depth" in fault.message


def test_repeated_and_unquoted_keys_are_all_named() -> None:
    text = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  name: b\n  labels: {on: x, 1: y}\n"
    assert [(fault.path, fault.message, fault.allowed) for fault in inputs.faults_of(text)] == [
        ("metadata.name", "the key name stands twice in one map (line 5)", ""),
        ("metadata.labels", "the key on is not a string (line 6)", 'in quotes it is: "on"'),
        ("metadata.labels", "the key 1 is not a string (line 6)", 'in quotes it is: "1"'),
    ]


def test_documents_before_a_broken_one_are_still_checked() -> None:
    text = "kind: Pod\n---\n---\na: [\n"
    assert [(fault.document, fault.path) for fault in inputs.faults_of(text)] == [(1, "apiVersion"), (3, "")]
