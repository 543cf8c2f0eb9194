"""Expressions, their values and their failures, as a real server's are on record."""

import re
from pathlib import Path
from typing import Final

import pytest

from baseload.kube.cel import declared, program
from baseload.kube.cel.types import Type
from baseload.kube.cel.values import Failure

RECORDED: Final = Path(__file__).with_name("recorded")
NO_OVERLOAD: Final = (
    "'no such overload': call arguments did not match a supported operator, function or macro signature"
)


def sections() -> dict[str, list[tuple[str, str]]]:
    """section -> (expression, what a real server made of it)"""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in (RECORDED / "expressions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = found.setdefault(line.removeprefix("# "), [])
        elif "  ==>  " in line:
            expression, _, outcome = line.partition("  ==>  ")
            section.append((expression, outcome))
    return found


SECTIONS: Final = sections()
SELF: Final = Type("selfType", fields={})


def outcome(expression: str) -> str:
    """What is recorded of an expression: its value as text, or how it is refused or fails."""
    try:
        program.compile(f"[{expression}]", SELF).evaluate({})
        value = program.compile(f"'%s'.format([{expression}])", SELF).evaluate({})
    except program.Refused as refused:
        said = re.findall(r"ERROR: <input>:\d+:\d+: (.*)", str(refused)) or [str(refused)]
        return f"does not compile: {'; '.join(said)}"
    except Failure as failure:
        return f"fails: {NO_OVERLOAD if str(failure) == 'no such overload' else failure}"
    return str(value).strip()


@pytest.mark.parametrize("section", SECTIONS)
def test_expressions_have_the_values_that_a_real_server_gives_them(section: str) -> None:
    wrong = []
    for expression, wanted in SECTIONS[section]:
        if (found := outcome(expression)) != wanted:
            wrong.append(f"{expression}: {found} instead of {wanted}")
    assert not wrong, "\n".join(wrong)


def test_every_function_is_on_record() -> None:
    """Adding a function means asking a real server what it does."""
    from baseload.kube.cel.overloads import FUNCTIONS

    recorded = "\n".join(expression for held in SECTIONS.values() for expression, _ in held)
    names = {name.rpartition(".")[2] for name, overloads in FUNCTIONS.items() if overloads and "_" not in name}
    assert sorted(name for name in names if not name.startswith("@") and f"{name}(" not in recorded) == []


@pytest.mark.parametrize("count", [61, 5000])
def test_an_expression_that_is_nested_too_deeply_is_refused(count: int) -> None:
    with pytest.raises(program.Refused, match="expression recursion limit exceeded"):
        program.compile(f"{'(' * count}true{')' * count}", SELF)


def test_a_long_chain_of_operators_is_refused_or_evaluated_but_never_breaks() -> None:
    assert program.compile(" || ".join(["false"] * 150), SELF).evaluate({}) is False
    with pytest.raises(program.Refused, match="expression recursion limit exceeded"):
        program.compile(" || ".join(["false"] * 100_000), SELF)


def test_a_field_that_may_be_null_fails_where_a_value_is_needed() -> None:
    self_ = declared.type_of({"type": "object", "properties": {"s": {"type": "string", "nullable": True}}})
    assert self_ is not None
    with pytest.raises(Failure, match="no such overload"):
        program.compile("self.s.startsWith('a')", self_).evaluate({"s": None})
