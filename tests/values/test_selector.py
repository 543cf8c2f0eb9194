"""Label selectors of manifests, kubectl's -l and --field-selector: which objects they mean."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.values import selector
from baseload.values.errors import BadInput
from baseload.values.selector import NOTHING, FieldSelector, Selector, SelectorError
from tests.values import strategies


@dataclass(frozen=True)
class Entry:
    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    match_labels: Mapping[str, str]
    match_expressions: tuple[Entry, ...] = ()


def test_the_selector_left_out_means_nothing_and_the_empty_one_everything() -> None:
    assert not selector.compile(None).matches({})
    assert not selector.compile(None).with_requirement("a", "NotIn", ("b",)).matches({})
    assert selector.compile(Written({})).matches({})
    assert selector.compile(Written({})).matches({"a": "b"})
    assert Selector() != NOTHING


@pytest.mark.parametrize(
    ("operator", "values", "of_a", "of_none"),
    [
        ("In", ("a", "b"), True, False),
        ("In", ("b",), False, False),
        ("NotIn", ("a",), False, True),
        ("NotIn", ("b",), True, True),
        ("Exists", (), True, False),
        ("DoesNotExist", (), False, True),
    ],
)
def test_match_expressions(operator: str, values: tuple[str, ...], of_a: bool, of_none: bool) -> None:
    chosen = selector.compile(Written({}, (Entry("k", operator, values),)))
    assert chosen.matches({"k": "a"}) is of_a
    assert chosen.matches({"other": "a"}) is of_none


def test_all_requirements_have_to_hold() -> None:
    chosen = selector.compile(Written({"app": "web"}, (Entry("tier", "Exists"),)))
    assert chosen.matches({"app": "web", "tier": ""})
    assert not chosen.matches({"app": "web"})
    assert not chosen.matches({"app": "db", "tier": ""})


def test_an_unknown_operator_is_bad_input() -> None:
    with pytest.raises(BadInput, match='"Gt"'):
        Selector.of({}, [("a", "Gt", ["1"])])


@given(st.lists(strategies.expressions, max_size=4).flatmap(lambda e: st.tuples(st.just(e), st.permutations(e))))
def test_the_order_of_writing_does_not_matter(orders: tuple[list[tuple[str, str, list[str]]], ...]) -> None:
    one, other = (Selector.of({}, order) for order in orders)
    assert one == other
    assert hash(one) == hash(other)
    assert Selector.of({}, [(key, operator, values[::-1] * 2) for key, operator, values in orders[0]]) == one


@given(strategies.selectors, strategies.labels, strategies.keys, st.sampled_from(["1", "a"]))
def test_a_further_requirement_narrows(chosen: Selector, labels: dict[str, str], key: str, value: str) -> None:
    narrowed = chosen.with_requirement(key, "In", (value,))
    assert narrowed.matches(labels) == (chosen.matches(labels) and labels.get(key) == value)


@given(strategies.selectors, strategies.labels, strategies.labels)
def test_only_the_named_keys_decide(chosen: Selector, labels: dict[str, str], others: dict[str, str]) -> None:
    seen = {key: value for key, value in labels.items() if key in chosen.keys()}  # noqa: SIM118 - not a mapping
    unseen = {f"other/{key}": value for key, value in others.items()}
    assert chosen.matches(labels) == chosen.matches(seen | unseen)


@given(strategies.selectors, strategies.labels)
def test_the_index_pair_is_on_all_that_match(chosen: Selector, labels: dict[str, str]) -> None:
    pair = chosen.index_pair()
    if pair is not None and chosen.matches(labels):
        assert labels[pair[0]] == pair[1]


def test_a_selector_without_a_single_value_has_no_index_pair() -> None:
    assert Selector.of({}, [("a", "In", ["1", "2"]), ("b", "NotIn", ["1"])]).index_pair() is None
    assert Selector.of({"c": "1"}, [("a", "In", ["1", "2"])]).index_pair() == ("c", "1")


@given(strategies.selectors)
def test_a_selector_printed_reads_back(chosen: Selector) -> None:
    assert selector.parse(str(chosen)) == chosen


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", Selector()),
        ("  ", Selector()),
        ("a=b", Selector.of({"a": "b"})),
        (" a == b ", Selector.of({"a": "b"})),
        ("a=", Selector.of({"a": ""})),
        ("a=,b", Selector.of({"a": ""}, [("b", "Exists", ())])),
        ("a!=b", Selector.of({}, [("a", "NotIn", ["b"])])),
        ("c in (d,e)", Selector.of({}, [("c", "In", ["d", "e"])])),
        ("c in(d, e ),f", Selector.of({}, [("c", "In", ["d", "e"]), ("f", "Exists", ())])),
        ("c notin (d,)", Selector.of({}, [("c", "NotIn", ["", "d"])])),
        ("!f", Selector.of({}, [("f", "DoesNotExist", ())])),
        ("in in (in)", Selector.of({"in": "in"})),
        ("example.com/a=b", Selector.of({"example.com/a": "b"})),
    ],
)
def test_the_text_of_a_label_selector(text: str, meant: Selector) -> None:
    assert selector.parse(text) == meant


def test_comparisons_in_the_text_of_a_label_selector() -> None:
    chosen = selector.parse("cpu>4,cpu<9")
    assert [value for value in ("4", "5", "8", "9", "many") if chosen.matches({"cpu": value})] == ["5", "8"]
    assert not chosen.matches({})
    assert str(chosen) == "cpu>4,cpu<9"


@pytest.mark.parametrize(
    "text",
    [
        ",",
        "a,",
        ",a",
        "a,,b",
        "a b",
        "=b",
        "a=b=c",
        "!a=b",
        "!",
        "a in",
        "a in b",
        "a in (b",
        "a in (b c)",
        "a=(b)",
        "a=!b",
        "-a",
        "a/b/c",
        "a=b/c",
        "a>b",
        "a>",
        "a~b",
        "a=b c",
        "a in (b))",
        "a !b",
    ],
)
def test_what_is_no_label_selector_is_refused(text: str) -> None:
    with pytest.raises(SelectorError, match="not a label selector"):
        selector.parse(text)


# Field selectors

FIELDS = st.sampled_from(["metadata.name", "spec.nodeName", "status.phase"])
FIELD_VALUES = st.text(st.sampled_from("ab,=\\! "), max_size=4)


@given(st.sets(st.tuples(FIELDS, st.booleans(), FIELD_VALUES), max_size=3))
def test_a_field_selector_printed_reads_back(terms: set[tuple[str, bool, str]]) -> None:
    chosen = FieldSelector(tuple(sorted(terms)))
    assert selector.parse_fields(str(chosen)) == chosen


def test_a_field_selector_compares_fields() -> None:
    chosen = selector.parse_fields("spec.nodeName==x,status.phase!=Running,,metadata.name=")
    assert chosen.matches({"spec.nodeName": "x", "status.phase": "Pending"})
    assert chosen.matches({"spec.nodeName": "x"})
    assert not chosen.matches({"spec.nodeName": "x", "status.phase": "Running"})
    assert not chosen.matches({"spec.nodeName": "x", "metadata.name": "a"})
    assert not chosen.matches({})
    assert chosen.fields() == ("metadata.name", "spec.nodeName", "status.phase")


@pytest.mark.parametrize("text", ["a", "a=b=c", "a>b", "a=b\\c", "a=b\\", "!a"])
def test_what_is_no_field_selector_is_refused(text: str) -> None:
    with pytest.raises(SelectorError, match="not a field selector"):
        selector.parse_fields(text)
