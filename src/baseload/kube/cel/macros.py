"""Macros: `has`, and what goes through lists and maps with a variable or two of its own."""

from collections.abc import Callable, Iterable

from baseload.kube.cel import types, values
from baseload.kube.cel.compiling import MACROS, Compiler, Macro, Run, Scope, Typed, Variable
from baseload.kube.cel.declared import unescaped
from baseload.kube.cel.syntax import Call, Name, Node, Select
from baseload.kube.cel.types import Type
from baseload.kube.cel.values import NOTHING, Failure, Maybe, Value


def _macro(name: str, *counts: int, is_method: bool = True) -> Callable[[Macro], Macro]:
    def declare(macro: Macro) -> Macro:
        for count in counts:
            MACROS[name, is_method, count] = macro
        return macro

    return declare


@_macro("has", 1, is_method=False)
def _has(compiler: Compiler, call: Call, scope: Scope) -> Typed:
    asked = call.arguments[0]
    if not isinstance(asked, Select):
        return compiler.refuse(asked.at, "invalid argument to has() macro")
    operand = compiler.compile(asked.operand, scope)
    compiler.field_type(operand.type, asked.field, call.at)
    name = unescaped(asked.field) if operand.type.fields is not None else asked.field

    def run(held: list[Value]) -> Value:
        of = operand.run(held)
        if isinstance(of, Maybe):
            of = of.value if of.is_there else {}
        if not isinstance(of, dict):
            raise values.no_such_overload()
        return name in of

    return Typed(types.BOOL, run)


class _Loop:
    """What goes through a list or map: the variables with their places, and what is asked of each element."""

    def __init__(self, compiler: Compiler, call: Call, scope: Scope, names: int) -> None:
        assert call.target is not None
        self.compiler = compiler
        self.ranged = compiler.compile(call.target, scope)
        self.scope = dict(scope)
        self.places: list[int] = []
        for argument, told in zip(call.arguments[:names], self._told(call, names), strict=True):
            place = compiler.new_place()
            self.places.append(place)
            if isinstance(argument, Name):
                self.scope[argument.name] = Variable(told, place)
            else:
                compiler.refuse(argument.at, "argument must be a simple name")

    def _told(self, call: Call, names: int) -> tuple[Type, ...]:
        """The types of the variables; a single one takes what a list holds, or the keys of a map."""
        ranged = self.ranged.type
        if ranged.name == "list":
            return (types.INT, ranged.of[0])[-names:]
        if ranged.name == "map":
            return ranged.of[:names]
        if ranged.name != "dyn":
            wording = "cannot be range of a comprehension (must be list, map, or dynamic)"
            self.compiler.refuse(call.at, f"expression of type '{ranged}' {wording}")
        return (types.DYN, types.DYN)[:names]

    def asked(self, node: Node) -> Run:
        """What is asked of each element: something that is true or not."""
        told = self.typed(node)
        if not types.fits(types.BOOL, told.type, {}):
            self.compiler.refuse(node.at, f"expected type 'bool' but found '{told.type}'")
        return told.run

    def typed(self, node: Node) -> Typed:
        return self.compiler.compile(node, self.scope)

    def each(self) -> Callable[[list[Value]], Iterable[tuple[Value, ...]]]:
        """What the variables become, one element after the other."""
        ranged, is_single = self.ranged.run, len(self.places) == 1

        def run(held: list[Value]) -> Iterable[tuple[Value, ...]]:
            over = ranged(held)
            return zip(values.elements(over)) if is_single else values.pairs(over)

        return run


def _set(held: list[Value], places: list[int], given: tuple[Value, ...]) -> None:
    for place, value in zip(places, given, strict=True):
        held[place] = value


def _quantified(decisive: bool) -> Macro:
    """`all` is decided by one False, `exists` by one True; errors count only where nothing decides."""

    def macro(compiler: Compiler, call: Call, scope: Scope) -> Typed:
        loop = _Loop(compiler, call, scope, len(call.arguments) - 1)
        asked = loop.asked(call.arguments[-1])
        each, places = loop.each(), loop.places

        def run(held: list[Value]) -> Value:
            failure: Failure | None = None
            for given in each(held):
                _set(held, places, given)
                try:
                    told = asked(held)
                except Failure as error:
                    failure = failure or error
                    continue
                if told is decisive:
                    return decisive
                if told is not (not decisive):
                    failure = failure or values.no_such_overload()
            if failure is not None:
                raise failure
            return not decisive

        return Typed(types.BOOL, run)

    return macro


for _counts in (2, 3):
    MACROS["all", True, _counts] = _quantified(decisive=False)
    MACROS["exists", True, _counts] = _quantified(decisive=True)


@_macro("exists_one", 2)
@_macro("existsOne", 3)
def _exists_one(compiler: Compiler, call: Call, scope: Scope) -> Typed:
    loop = _Loop(compiler, call, scope, len(call.arguments) - 1)
    asked = loop.asked(call.arguments[-1])
    each, places = loop.each(), loop.places

    def run(held: list[Value]) -> Value:
        count = 0
        for given in each(held):
            _set(held, places, given)
            count += _truth(asked(held))
        return count == 1

    return Typed(types.BOOL, run)


def _truth(told: Value) -> bool:
    if told is True or told is False:
        return bool(told)
    raise values.no_such_overload()


@_macro("filter", 2)
def _filter(compiler: Compiler, call: Call, scope: Scope) -> Typed:
    loop = _Loop(compiler, call, scope, 1)
    asked = loop.asked(call.arguments[1])
    each, places = loop.each(), loop.places

    def run(held: list[Value]) -> Value:
        found: list[Value] = []
        for given in each(held):
            _set(held, places, given)
            if _truth(asked(held)):
                found.append(given[-1])
        return found

    variable = call.arguments[0]
    element = loop.scope[variable.name].type if isinstance(variable, Name) else types.DYN
    return Typed(types.listed(element), run)


def _mapped(names: int) -> Macro:
    """`map` and `transformList`: what each element becomes, of those that pass where a filter stands before it."""

    def macro(compiler: Compiler, call: Call, scope: Scope) -> Typed:
        loop = _Loop(compiler, call, scope, names)
        passes = loop.asked(call.arguments[names]) if len(call.arguments) > names + 1 else None
        becomes = loop.typed(call.arguments[-1])
        each, places = loop.each(), loop.places

        def run(held: list[Value]) -> Value:
            found: list[Value] = []
            for given in each(held):
                _set(held, places, given)
                if passes is None or _truth(passes(held)):
                    found.append(becomes.run(held))
            return found

        return Typed(types.listed(becomes.type), run)

    return macro


for _counts in (2, 3):
    MACROS["map", True, _counts] = _mapped(1)
    MACROS["transformList", True, _counts + 1] = _mapped(2)


_Put = Callable[[dict[Value, Value], Value, Value], None]
"""(map in the making, key of the loop, what the element becomes)"""


def _made(put: _Put, typed: Callable[[_Loop, Typed], Type]) -> Macro:
    """A loop over two variables that makes a map."""

    def macro(compiler: Compiler, call: Call, scope: Scope) -> Typed:
        loop = _Loop(compiler, call, scope, 2)
        passes = loop.asked(call.arguments[2]) if len(call.arguments) == 4 else None
        becomes = loop.typed(call.arguments[-1])
        each, places = loop.each(), loop.places

        def run(held: list[Value]) -> Value:
            found: dict[Value, Value] = {}
            for given in each(held):
                _set(held, places, given)
                if passes is None or _truth(passes(held)):
                    put(found, given[0], becomes.run(held))
            return found

        return Typed(typed(loop, becomes), run)

    return macro


def _put_value(found: dict[Value, Value], key: Value, becomes: Value) -> None:
    found[key] = becomes


def _put_entries(found: dict[Value, Value], _: Value, becomes: Value) -> None:
    for key, value in becomes.items():
        if key in found:
            raise Failure(f"insert failed: key {key} already exists")
        found[key] = value


def _values_by_key(loop: _Loop, becomes: Typed) -> Type:
    key = loop.ranged.type.of[0] if loop.ranged.type.name == "map" else types.INT
    return types.mapped(key, becomes.type)


def _entries(_: _Loop, becomes: Typed) -> Type:
    return becomes.type if becomes.type.name == "map" else types.mapped(types.DYN, types.DYN)


for _counts in (3, 4):
    MACROS["transformMap", True, _counts] = _made(_put_value, _values_by_key)
    MACROS["transformMapEntry", True, _counts] = _made(_put_entries, _entries)


def _optional(flat: bool) -> Macro:
    """`optMap` and `optFlatMap`: what an optional becomes where it holds a value."""

    def macro(compiler: Compiler, call: Call, scope: Scope) -> Typed:
        assert call.target is not None
        target = compiler.compile(call.target, scope)
        variable = call.arguments[0]
        if not isinstance(variable, Name):
            return compiler.refuse(variable.at, "argument must be a simple name")
        if target.type.name not in ("optional_type", "dyn"):
            wording = f"found no matching overload for 'hasValue' applied to '{target.type}.()'"
            return compiler.refuse(call.at, wording)
        place = compiler.new_place()
        inner = target.type.of[0] if target.type.of else types.DYN
        becomes = compiler.compile(call.arguments[1], {**scope, variable.name: Variable(inner, place)})

        def run(held: list[Value]) -> Value:
            maybe = target.run(held)
            if not isinstance(maybe, Maybe):
                raise values.no_such_overload()
            if not maybe.is_there:
                return NOTHING
            held[place] = maybe.value
            value = becomes.run(held)
            return value if flat else Maybe(value, is_there=True)

        return Typed(becomes.type if flat else types.optional(becomes.type), run)

    return macro


MACROS["optMap", True, 2] = _optional(flat=False)
MACROS["optFlatMap", True, 2] = _optional(flat=True)
