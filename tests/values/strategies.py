"""Hypothesis strategies for the values that many tests draw: requirements, labels, quantities, durations, selectors."""

from collections.abc import Callable

from hypothesis import strategies as st

from baseload.values.label import is_label_value
from baseload.values.requirement import OPERATORS, Requirement, Requirements
from baseload.values.selector import Selector

KEYS = ("example.com/tier", "kubernetes.io/arch", "team", "topology.kubernetes.io/zone")
VALUES = ("", "0", "1", "2", "007", "9", "-3", "a", "b", "zone-1", "9223372036854775807", "9223372036854775808")

keys = st.sampled_from(KEYS)
values = st.sampled_from(VALUES)
labels = st.dictionaries(keys, values.filter(is_label_value))


@st.composite
def written_requirements(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...], int | None]:
    """Key, operator, values and minValues as a manifest writes them."""
    operator = draw(st.sampled_from(OPERATORS))
    min_values = draw(st.none() | st.integers(1, 3))
    if operator in ("Gt", "Lt", "Gte", "Lte"):
        operand = draw(st.integers(0, 10) | st.sampled_from([2**63 - 1, 2**63 - 2]))
        return draw(keys), operator, (str(operand),), min_values
    listed = draw(st.lists(values, max_size=4)) if operator in ("In", "NotIn") else []
    return draw(keys), operator, tuple(listed), min_values


def requirements_on(key: str) -> st.SearchStrategy[Requirement]:
    """Requirements on one key, those that only an intersection can make among them."""
    one = written_requirements().map(lambda written: Requirement.of(key, *written[1:]))
    return st.lists(one, min_size=1, max_size=3).map(lambda several: Requirements.of(several)[key])


requirements = keys.flatmap(requirements_on)
requirement_sets = st.lists(requirements, max_size=5).map(Requirements.of)

_DIGITS = st.text("0123456789", max_size=6)


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """A decimal number without a sign: `12`, `1.5`, `5.`, `.5`."""
    whole, fraction = draw(_DIGITS), draw(_DIGITS)
    if not whole and not fraction:
        whole = "7"
    return f"{whole}.{fraction}" if fraction or draw(st.booleans()) else whole


SIGNS = st.sampled_from(["", "+", "-"])
SUFFIXES = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-2", "e+6")

quantities = st.builds(
    lambda sign, number, suffix: f"{sign}{number}{suffix}", SIGNS, numbers(), st.sampled_from(SUFFIXES)
)

UNITS = ("ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "m", "h")

durations = st.builds(
    lambda sign, parts: sign + "".join(number + unit for number, unit in parts),
    SIGNS,
    st.lists(st.tuples(numbers(), st.sampled_from(UNITS)), min_size=1, max_size=4),
)

nanoseconds = st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**10), 10**10)

expressions: st.SearchStrategy[tuple[str, str, list[str]]] = st.one_of(
    st.tuples(keys, st.sampled_from(["In", "NotIn"]), st.lists(st.sampled_from(["", "1", "a", "b"]), min_size=1)),
    st.tuples(keys, st.sampled_from(["Exists", "DoesNotExist"]), st.just([])),
)
selectors = st.builds(Selector.of, labels, st.lists(expressions, max_size=3))


def mutated(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Texts that were right until characters were dropped, doubled, swapped or put in."""
    alphabet = st.characters() | st.sampled_from("0123456789eEKMGi.+-=!,()<> \\\x00\u00b5\u0660")

    def edit(text: str) -> st.SearchStrategy[str]:
        places = st.integers(0, len(text))
        edits: list[Callable[[int, str], str]] = [
            lambda at, _: text[:at] + text[at + 1 :],
            lambda at, _: text[:at] + text[at : at + 1] + text[at:],
            lambda at, _: text[at:] + text[:at],
            lambda at, put: text[:at] + put + text[at:],
        ]
        return st.builds(lambda change, at, put: change(at, put), st.sampled_from(edits), places, alphabet)

    return texts.flatmap(edit) | texts.flatmap(edit).flatmap(edit) | st.text(alphabet, max_size=30)
