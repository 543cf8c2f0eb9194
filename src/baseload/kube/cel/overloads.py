"""Functions: what each takes and gives by type, and which of a name's overloads a call means.

An overload is declared by its signature, as text. Where the types of a call are known before it is made, one overload
is chosen once and for all; where one is `dyn`, each call chooses by the values that it is given.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from baseload.kube.cel import types, values
from baseload.kube.cel.types import Type
from baseload.kube.cel.values import Duration, Instant, Maybe, TypeOf, UInt, Value

Body = Callable[..., Value]
Declared = TypeVar("Declared", bound=Body)


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function."""

    is_method: bool
    takes: tuple[Type, ...]
    gives: Type
    body: Body


@dataclass(frozen=True, slots=True)
class Choice:
    """What a call comes to: the type of its outcome and what is run."""

    type: Type
    body: Body


FUNCTIONS: Final[dict[str, list[Overload]]] = defaultdict(list)
"""name -> its overloads, filled by the modules that declare functions"""


def function(*signatures: str) -> Callable[[Declared], Declared]:
    """Declares overloads of a function: `size(string) int`."""

    def declare(body: Declared) -> Declared:
        for signature in signatures:
            head, gives = signature.rsplit(") ", 1)
            name, takes = head.split("(", 1)
            _add(name, takes, gives, body, is_method=False)
        return body

    return declare


def method(*signatures: str) -> Callable[[Declared], Declared]:
    """Declares overloads of a method: `string.contains(string) bool`."""

    def declare(body: Declared) -> Declared:
        for signature in signatures:
            head, gives = signature.rsplit(") ", 1)
            on, rest = _target(head)
            name, takes = rest.split("(", 1)
            _add(name, f"{on}, {takes}" if takes else on, gives, body, is_method=True)
        return body

    return declare


def _target(head: str) -> tuple[str, str]:
    depth = 0
    for place, sign in enumerate(head):
        depth += (sign == "(") - (sign == ")")
        if sign == "." and not depth:
            return head[:place], head[place + 1 :]
    raise AssertionError(head)


def _add(name: str, takes: str, gives: str, body: Body, *, is_method: bool) -> None:
    wanted = tuple(types.read(part) for part in types.split(takes))
    FUNCTIONS[name].append(Overload(is_method, wanted, types.read(gives), body))


def choose(name: str, given: Sequence[Type], *, is_method: bool) -> Choice | None:
    """What a call of these types means; None where it means nothing."""
    fitting: list[tuple[Overload, Type]] = []
    for overload in FUNCTIONS[name]:
        bound: types.Bindings = {}
        if overload.is_method != is_method or len(overload.takes) != len(given):
            continue
        if all(types.fits(wanted, held, bound) for wanted, held in zip(overload.takes, given, strict=True)):
            fitting.append((overload, types.filled(overload.gives, bound)))
    if not fitting:
        return None
    outcome = fitting[0][1]
    for _, told in fitting[1:]:
        outcome = types.joined(outcome, told)
    if len(fitting) == 1 and not any(held.is_open for held in given):
        return Choice(outcome, fitting[0][0].body)
    return Choice(outcome, _by_values([overload for overload, _ in fitting]))


def _by_values(fitting: list[Overload]) -> Body:
    checks = [([_CHECKS.get(wanted.name, _anything) for wanted in it.takes], it.body) for it in fitting]

    def call(*given: Value) -> Value:
        for wanted, body in checks:
            if all(check(value) for check, value in zip(wanted, given, strict=True)):
                return body(*given)
        raise values.no_such_overload()

    return call


def _anything(_: Value) -> bool:
    return True


def _exactly(kind: type) -> Callable[[Value], bool]:
    return lambda value: type(value) is kind


def _within(kind: type) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, kind)


_CHECKS: Final[dict[str, Callable[[Value], bool]]] = {
    "bool": _exactly(bool),
    "int": _exactly(int),
    "uint": _exactly(UInt),
    "double": _exactly(float),
    "string": _exactly(str),
    "bytes": _exactly(bytes),
    "null": _exactly(type(None)),
    "type": _exactly(TypeOf),
    "list": _within(list),
    "map": _within(dict),
    "optional_type": _exactly(Maybe),
    types.DURATION.name: _exactly(Duration),
    types.TIMESTAMP.name: _exactly(Instant),
}


_REPRESENTED: Final[dict[type, str]] = {}


def represented_by(name: str, kind: type) -> None:
    """Says which Python class the values of a type are."""
    known = types.read(name).name
    _CHECKS[known] = _exactly(kind)
    _REPRESENTED[kind] = known


def represented(kind: type) -> str:
    """The type whose values are of a Python class."""
    return _REPRESENTED.get(kind, kind.__name__)
