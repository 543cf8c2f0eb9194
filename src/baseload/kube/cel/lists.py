"""What expressions do with lists, and with lists as sets."""

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import Final

from baseload.kube.cel import types, values
from baseload.kube.cel.compiling import MACROS, Compiler, Scope, Typed, Variable
from baseload.kube.cel.overloads import function, method
from baseload.kube.cel.syntax import Call, Name
from baseload.kube.cel.values import Duration, Failure, Maybe, UInt, Value

_COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_ZEROS: Final[dict[str, Value]] = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}
_LONGEST: Final = 1_000_000


def _compared(one: Value, other: Value) -> int:
    try:
        return int(one > other) - int(one < other)
    except TypeError:
        raise values.no_such_overload() from None


def _compared_by_key(one: tuple[Value, Value], other: tuple[Value, Value]) -> int:
    return _compared(one[0], other[0])


def _is_sorted(held: list[Value]) -> bool:
    return all(_compared(one, other) <= 0 for one, other in pairwise(held))


def _first_of(name: str, sign: int) -> Callable[[list[Value]], Value]:
    def body(held: list[Value]) -> Value:
        if not held:
            raise Failure(f"{name} called on empty list")
        found = held[0]
        for element in held[1:]:
            if _compared(found, element) == sign:
                found = element
        return found

    return body


def _sum_from(zero: Value) -> Callable[[list[Value]], Value]:
    def body(held: list[Value]) -> Value:
        total = zero
        for element in held:
            total += element
        if type(zero) in (int, Duration) and not -(2**63) <= total < 2**63:
            raise Failure("integer overflow")
        return type(zero)(total)

    return body


for _kind in _COMPARABLE:
    method(f"list({_kind}).isSorted() bool")(_is_sorted)
    method(f"list({_kind}).max() {_kind}")(_first_of("max", -1))
    method(f"list({_kind}).min() {_kind}")(_first_of("min", 1))
    method(f"list({_kind}).sort() list({_kind})")(lambda held: sorted(held, key=cmp_to_key(_compared)))
for _kind, _zero in _ZEROS.items():
    method(f"list({_kind}).sum() {_kind}")(_sum_from(_zero))


@method("list(A).indexOf(A) int")
def _index_of(held: list[Value], value: Value) -> int:
    return next((place for place, element in enumerate(held) if values.equal(element, value)), -1)


@method("list(A).lastIndexOf(A) int")
def _last_index_of(held: list[Value], value: Value) -> int:
    found = _index_of(held[::-1], value)
    return len(held) - 1 - found if found >= 0 else -1


@method("list(A).slice(int, int) list(A)")
def _slice(held: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise Failure(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise Failure(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(held):
        raise Failure(f"cannot slice({start}, {end}), list is length {len(held)}")
    return held[start:end]


@method("list(list(A)).flatten() list(A)", "list(dyn).flatten(int) list(dyn)")
def _flatten(held: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise Failure("level must be non-negative")
    found: list[Value] = []
    for element in held:
        if isinstance(element, list) and depth:
            found += _flatten(element, depth - 1)
        else:
            found.append(element)
    return found


@method("list(A).distinct() list(A)")
def _distinct(held: list[Value]) -> list[Value]:
    found: list[Value] = []
    for element in held:
        if not values.contains(found, element):
            found.append(element)
    return found


method("list(A).reverse() list(A)")(lambda held: held[::-1])
method("list(A).first() optional(A)")(lambda held: Maybe(held[0], is_there=True) if held else Maybe())
method("list(A).last() optional(A)")(lambda held: Maybe(held[-1], is_there=True) if held else Maybe())


@function("lists.range(int) list(int)")
def _range(count: int) -> list[Value]:
    if count < 0:
        raise Failure(f"lists.range: size must be non-negative, got {count}")
    if count > _LONGEST:
        raise Failure(f"lists.range: size {count} exceeds maximum allowed ({_LONGEST})")
    return list(range(count))


def _sort_by(compiler: Compiler, call: Call, scope: Scope) -> Typed:
    assert call.target is not None
    ranged = compiler.compile(call.target, scope)
    variable = call.arguments[0]
    if not isinstance(variable, Name):
        return compiler.refuse(variable.at, "sortBy variable name must be a simple identifier")
    element = ranged.type.of[0] if ranged.type.name == "list" else types.DYN
    place = compiler.new_place()
    key = compiler.compile(call.arguments[1], {**scope, variable.name: Variable(element, place)})

    def run(held: list[Value]) -> Value:
        keyed: list[tuple[Value, Value]] = []
        for value in values.elements(ranged.run(held)):
            held[place] = value
            keyed.append((key.run(held), value))
        return [value for _, value in sorted(keyed, key=cmp_to_key(_compared_by_key))]

    return Typed(types.listed(element), run)


MACROS["sortBy", True, 2] = _sort_by


@function("sets.contains(list(A), list(A)) bool")
def _holds_all(held: list[Value], asked: list[Value]) -> bool:
    return all(values.contains(held, element) for element in asked)


@function("sets.equivalent(list(A), list(A)) bool")
def _is_same_set(one: list[Value], other: list[Value]) -> bool:
    return _holds_all(one, other) and _holds_all(other, one)


@function("sets.intersects(list(A), list(A)) bool")
def _shares_any(one: list[Value], other: list[Value]) -> bool:
    return any(values.contains(one, element) for element in other)
