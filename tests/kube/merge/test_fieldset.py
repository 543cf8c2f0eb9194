"""Field sets follow the laws of sets, are written in Kubernetes' order and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.kube.merge import fieldset
from baseload.kube.merge.fieldset import FieldSet, Path

ELEMENTS = st.sampled_from(["f:a", "f:b", "f:.", 'k:{"n":"x"}', 'k:{"n":"y"}', 'v:"s"', "v:2", "v:10", "v:true", "i:1"])
PATHS = st.lists(ELEMENTS, min_size=1, max_size=3).map(tuple)
SETS = st.frozensets(PATHS, max_size=8)


def made(paths: frozenset[Path]) -> FieldSet:
    fields: FieldSet = {}
    for path in sorted(paths):
        fieldset.insert(fields, path)
    return fields


def told(fields: FieldSet) -> frozenset[Path]:
    listed = list(fieldset.paths(fields))
    assert len(set(listed)) == len(listed)
    return frozenset(listed)


def is_below(path: Path, paths: frozenset[Path]) -> bool:
    return any(path[:length] in paths for length in range(1, len(path) + 1))


@given(SETS)
def test_a_set_holds_what_was_put_in(paths: frozenset[Path]) -> None:
    fields = made(paths)
    assert told(fields) == paths
    assert all(fieldset.has(fields, path) for path in paths)
    assert not any(fieldset.has(fields, path[:1]) for path in paths if path[:1] not in paths)


@given(SETS)
def test_what_is_written_reads_back(paths: frozenset[Path]) -> None:
    fields = made(paths)
    assert fieldset.parse(fieldset.written(fields)) == fields


@given(SETS, SETS)
def test_union_intersection_and_difference_are_those_of_sets(left: frozenset[Path], right: frozenset[Path]) -> None:
    ours, theirs = made(left), made(right)
    assert told(fieldset.union(ours, theirs)) == left | right
    assert told(fieldset.intersection(ours, theirs)) == left & right
    assert told(fieldset.difference(ours, theirs)) == left - right
    assert (told(ours), told(theirs)) == (left, right)


@given(SETS, SETS)
def test_recursive_difference_takes_all_that_is_below_too(left: frozenset[Path], right: frozenset[Path]) -> None:
    left_over = {path for path in left if not is_below(path, right)}
    assert told(fieldset.recursive_difference(made(left), made(right))) == left_over


@given(SETS, SETS)
def test_equal_sets_are_equal_trees(left: frozenset[Path], right: frozenset[Path]) -> None:
    union = fieldset.union(made(left), made(right))
    assert union == made(left | right)
    assert fieldset.difference(union, made(right)) == made(left - right)


def test_fields_come_before_keys_before_values_and_numbers_by_size() -> None:
    elements = ["i:0", "v:10", "v:9", 'v:"a"', 'k:{"port":443}', 'k:{"port":80}', "f:b", "f:a"]
    written = fieldset.written({"f:x": {".": {}, **{element: {} for element in elements}}})
    assert list(written["f:x"]) == [".", "f:a", "f:b", 'k:{"port":80}', 'k:{"port":443}', "v:9", "v:10", 'v:"a"', "i:0"]


def test_elements_are_read_however_they_are_spaced() -> None:
    fields = fieldset.parse(
        {'k:{"b": 1.0,  "a":"x"}': {}, "f:q": {".": {}}, "z:future": {}, "f:empty": {"z:future": {}}}
    )
    assert fields == {'k:{"a":"x","b":1}': {}, "f:q": {}}


def test_paths_are_told_as_the_api_server_tells_them() -> None:
    path = ("f:spec", 'k:{"containerPort":80,"protocol":"TCP"}', 'v:"x"', "i:3")
    assert fieldset.text(path) == '.spec[containerPort=80,protocol="TCP"][="x"][3]'


@pytest.mark.parametrize("tree", [[], {"f:a": 1}, {"a": {}}, {"k:{": {}}, {"k:[1]": {}}, {"i:x": {}}, {"v:": {}}])
def test_trees_that_are_no_fields_are_refused(tree: object) -> None:
    with pytest.raises(fieldset.FieldsError):
        fieldset.parse(tree)
