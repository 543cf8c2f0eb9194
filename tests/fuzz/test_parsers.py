"""Whatever bytes come in, a parser of values answers with a value or with the error it declares, and soon.

The short runs are part of every test run; the long ones throw far more at each parser.
"""

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.values import duration, instant, quantity, selector
from baseload.values.errors import BadInput
from baseload.values.label import CORE_WELL_KNOWN
from baseload.values.requirement import OPERATORS, Requirement, invalid
from tests.values import strategies

INSTANTS = st.datetimes().map(lambda moment: moment.isoformat() + "Z")
FIELDS = st.sampled_from(["spec.nodeName=x,status.phase!=Running", "metadata.name==a\\,b", ""])

PARSERS: dict[str, tuple[Callable[[str], object], type[Exception], st.SearchStrategy[str]]] = {
    "quantity": (quantity.parse, quantity.QuantityError, strategies.quantities),
    "quantity form": (quantity.format_of, quantity.QuantityError, strategies.quantities),
    "duration": (duration.parse, duration.DurationError, strategies.durations),
    "instant": (instant.parse, instant.InstantError, INSTANTS),
    "label selector": (selector.parse, selector.SelectorError, strategies.selectors.map(str)),
    "field selector": (selector.parse_fields, selector.SelectorError, FIELDS),
}


def bombard(data: st.DataObject, name: str) -> None:
    parse, declared, right = PARSERS[name]
    raw = st.binary(max_size=40).map(lambda octets: octets.decode(errors="surrogateescape"))
    text = data.draw(strategies.mutated(right) | raw, label=name)
    with contextlib.suppress(declared):
        parse(text)


def build_requirement(data: st.DataObject) -> None:
    """A requirement from manifest fields of the right types and any content: no fault means that it can be built."""
    operator = data.draw(st.sampled_from(OPERATORS) | st.text(max_size=5))
    key, values = data.draw(st.text(max_size=20)), data.draw(st.lists(strategies.values | st.text(max_size=20)))
    fault = invalid(key, operator, values, well_known=CORE_WELL_KNOWN)
    try:
        requirement = Requirement.of(key, operator, values)
    except BadInput:
        assert fault is not None
    else:
        assert requirement.selectors()


@pytest.mark.parametrize("name", PARSERS)
@given(data=st.data())
def test_a_parser_raises_its_own_error_alone(name: str, data: st.DataObject) -> None:
    bombard(data, name)


@given(data=st.data())
def test_a_requirement_of_any_fields_is_built_or_refused(data: st.DataObject) -> None:
    build_requirement(data)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", PARSERS)
@given(data=st.data())
def test_a_parser_raises_its_own_error_alone_at_length(name: str, data: st.DataObject) -> None:
    bombard(data, name)


@pytest.mark.long
@pytest.mark.timeout(600)
@given(data=st.data())
def test_a_requirement_of_any_fields_is_built_or_refused_at_length(data: st.DataObject) -> None:
    build_requirement(data)
