"""What is evaluated only as far as it must be: and, or, choices, equality, and what is written out.

An error on one side of `&&` or `||` is none where the other side decides.
"""

from collections.abc import Callable

from baseload.kube.cel import values
from baseload.kube.cel.values import Failure, Maybe, Value

Run = Callable[[list[Value]], Value]


def negation(operand: Run) -> Run:
    def run(held: list[Value]) -> Value:
        value = operand(held)
        if value is True:
            return False
        if value is False:
            return True
        raise values.no_such_overload()

    return run


def conjunction(left: Run, right: Run) -> Run:
    return _decided_by(False, left, right)


def disjunction(left: Run, right: Run) -> Run:
    return _decided_by(True, left, right)


def _decided_by(decisive: bool, left: Run, right: Run) -> Run:
    def run(held: list[Value]) -> Value:
        try:
            value = left(held)
        except Failure as failure:
            if _value(right, held) is decisive:
                return decisive
            raise failure from None
        if value is decisive:
            return value
        other = right(held)
        if other is decisive or (isinstance(value, bool) and isinstance(other, bool)):
            return other
        raise values.no_such_overload()

    return run


def _value(run: Run, held: list[Value]) -> Value:
    try:
        return run(held)
    except Failure:
        return None


def choice(condition: Run, chosen: Run, other: Run) -> Run:
    def run(held: list[Value]) -> Value:
        told = condition(held)
        if told is True:
            return chosen(held)
        if told is False:
            return other(held)
        raise values.no_such_overload()

    return run


def equality(left: Run, right: Run, *, wanted: bool) -> Run:
    def run(held: list[Value]) -> Value:
        return values.equal(left(held), right(held)) is wanted

    return run


def listing(runs: list[tuple[Run, bool]]) -> Run:
    def run(held: list[Value]) -> Value:
        found: list[Value] = []
        for element, maybe in runs:
            value = element(held)
            if not maybe:
                found.append(value)
            elif not isinstance(value, Maybe):
                raise values.no_such_overload()
            elif value.is_there:
                found.append(value.value)
        return found

    return run


def mapping(runs: list[tuple[Run, Run, bool]]) -> Run:
    def run(held: list[Value]) -> Value:
        found: dict[Value, Value] = {}
        for key_of, value_of, maybe in runs:
            key, value = key_of(held), value_of(held)
            if not maybe:
                found[key] = value
            elif not isinstance(value, Maybe):
                raise values.no_such_overload()
            elif value.is_there:
                found[key] = value.value
        return found

    return run
