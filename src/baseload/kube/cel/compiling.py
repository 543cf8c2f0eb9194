"""From the tree of an expression to closures, each with the type of what it gives.

The variables stand in a list, one place each; a closure takes that list and gives its value. What the types rule out is
noted with its place, in the words of a real server, and compiling goes on, so that every fault is found at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from baseload.kube.cel import formats, literals, logic, overloads, types, values
from baseload.kube.cel.declared import unescaped
from baseload.kube.cel.syntax import Call, Listed, Literal, Mapped, Name, Node, Select
from baseload.kube.cel.tokens import Issue
from baseload.kube.cel.types import Type
from baseload.kube.cel.values import NOTHING, Failure, Maybe, TypeOf, UInt, Value

Run = Callable[[list[Value]], Value]


class Typed(NamedTuple):
    """A closure and the type of what it gives."""

    type: Type
    run: Run


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that is bound: its type, and its place among the values."""

    type: Type
    place: int


Scope = dict[str, Variable]

_TYPES: Final = {
    **{name: name for name in ("bool", "bytes", "double", "int", "list", "map", "string", "type", "uint", "null_type")},
    "optional_type": "optional_type",
    "google.protobuf.Duration": "google.protobuf.Duration",
    "google.protobuf.Timestamp": "google.protobuf.Timestamp",
}
_OF_LITERALS: Final[dict[type, Type]] = {
    bool: types.BOOL,
    int: types.INT,
    UInt: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
}
_OPERATORS: Final[dict[str, Callable[..., Run]]] = {
    "!_": logic.negation,
    "_&&_": logic.conjunction,
    "_||_": logic.disjunction,
}
_LITERAL_CHECKS: Final[dict[str, tuple[str, int, Callable[[str], bool]]]] = {
    "matches": ("matches", 1, literals.is_regex),
    "duration": ("duration", 0, literals.is_duration),
    "timestamp": ("timestamp", 0, literals.is_timestamp),
}
_CONVERSIONS: Final = ("int", "uint", "double", "bool", "string", "bytes")
Macro = Callable[["Compiler", Call, Scope], Typed]
MACROS: Final[dict[tuple[str, bool, int], Macro]] = {}
"""(name, whether it is called on something, number of arguments) -> what it becomes"""


class Compiler:
    """One expression at work."""

    def __init__(self, places: int) -> None:
        self.issues: list[Issue] = []
        self.unstartable = ""  # why the program cannot be made, where a conversion of a literal fails
        self.places = places
        self._mixed = 0  # within how many calls that take lists of anything
        self._within: dict[int, list[str]] = {}  # where a list is written out -> the types of its elements

    def refuse(self, at: int, message: str) -> Typed:
        """Notes a fault; what stands there may be of any type."""
        self.issues.append(Issue(at, message))
        return Typed(types.DYN, _nothing)

    def new_place(self) -> int:
        self.places += 1
        return self.places - 1

    def compile(self, node: Node, scope: Scope) -> Typed:
        """A closure for any node."""
        match node:
            case Literal():
                return Typed(_OF_LITERALS[type(node.value)], _constant(node.value))
            case Name():
                return self._name(node, scope)
            case Select():
                return self._select(node, scope)
            case Call():
                return self._call(node, scope)
            case Listed():
                return self._listed(node, scope)
            case Mapped():
                return self._mapped(node, scope)

    def _name(self, node: Name, scope: Scope) -> Typed:
        variable = scope.get(node.name)
        if variable is not None:
            place = variable.place
            return Typed(variable.type, lambda held: held[place])
        if node.name in _TYPES:
            return Typed(types.TYPE, _constant(TypeOf(_TYPES[node.name])))
        return self.refuse(node.at, f"undeclared reference to '{node.name}' (in container '')")

    def _select(self, node: Select, scope: Scope) -> Typed:
        qualified = _qualified(node, scope)
        if qualified in _TYPES:
            return Typed(types.TYPE, _constant(TypeOf(qualified)))
        operand = self.compile(node.operand, scope)
        told = self.field_type(operand.type, node.field, node.at)
        name = unescaped(node.field) if _inner(operand.type).fields is not None else node.field
        if node.maybe or operand.type.name == "optional_type":
            inner = told if told.name != "optional_type" else told.of[0]
            return Typed(types.optional(inner), _maybe_selected(operand.run, name))
        return Typed(told, _selected(operand.run, name))

    def field_type(self, operand: Type, field: str, at: int) -> Type:
        """The type of a field of something; notes where there can be none."""
        operand = _inner(operand)
        if operand.fields is not None:
            told = operand.fields.get(field)
            if told is None:
                return self.refuse(at, f"undefined field '{field}'").type
            return told
        if operand.name == "map":
            return operand.of[1]
        if operand.name != "dyn":
            return self.refuse(at, f"type '{operand}' does not support field selection").type
        return types.DYN

    def _call(self, node: Call, scope: Scope) -> Typed:
        macro = MACROS.get((node.function, node.target is not None, len(node.arguments)))
        if macro is not None:
            return macro(self, node, scope)
        if node.function in _OPERATORS:
            return self._logical(node, scope)
        if node.function == "_?_:_":
            return self._conditional(node, scope)
        name, is_method, operands = self._called(node, scope)
        self._mixed += name == "format"
        given = [self.compile(operand, scope) for operand in operands]
        self._mixed -= name == "format"
        if name not in overloads.FUNCTIONS:
            return self.refuse(node.at, f"undeclared reference to '{name}' (in container '')")
        choice = overloads.choose(name, [it.type for it in given], is_method=is_method)
        if choice is None:
            return self._no_overload(node, name, given, is_method=is_method)
        if name in ("_==_", "_!=_"):
            return Typed(types.BOOL, logic.equality(given[0].run, given[1].run, wanted=name == "_==_"))
        run = _applied(choice.body, [it.run for it in given])
        self._check_literals(node, name, operands, run)
        return Typed(choice.type, run)

    def _called(self, node: Call, scope: Scope) -> tuple[str, bool, list[Node]]:
        """A call's function, whether it is a method, and all that it is given."""
        if node.target is None:
            return node.function, False, list(node.arguments)
        head = _qualified(node.target, scope)
        if head and f"{head}.{node.function}" in overloads.FUNCTIONS:
            return f"{head}.{node.function}", False, list(node.arguments)
        return node.function, True, [node.target, *node.arguments]

    def _no_overload(self, node: Call, name: str, given: list[Typed], *, is_method: bool) -> Typed:
        told = [str(it.type) for it in given]
        shown = f"{told[0]}.({', '.join(told[1:])})" if is_method else f"({', '.join(told)})"
        return self.refuse(node.at, f"found no matching overload for '{name}' applied to '{shown}'")

    def _check_literals(self, node: Call, name: str, operands: list[Node], run: Run) -> None:
        """What can be known of a call because its arguments are written out."""
        match operands:
            case [Literal(_, str(pattern)), Listed() as held] if name == "format":
                for place, why in formats.misuses(pattern, self._within[held.at]):
                    self.refuse(node.at if place is None else held.elements[place].at, why)
            case [Literal()] if name in _CONVERSIONS:
                try:
                    run([])
                except Failure as failure:
                    self.unstartable = self.unstartable or str(failure)
        self._check_text(name, operands)

    def _check_text(self, name: str, operands: list[Node]) -> None:
        known = _LITERAL_CHECKS.get(name)
        if known is None or known[1] >= len(operands):
            return
        told, place, check = known
        operand = operands[place]
        if isinstance(operand, Literal) and isinstance(operand.value, str) and not check(operand.value):
            self.refuse(operand.at, f"invalid {told} argument")

    def _logical(self, node: Call, scope: Scope) -> Typed:
        given = [self.compile(operand, scope) for operand in node.arguments]
        if any(it.type not in (types.BOOL, types.DYN) for it in given):
            return self._no_overload(node, node.function, given, is_method=False)
        return Typed(types.BOOL, _OPERATORS[node.function](*(it.run for it in given)))

    def _conditional(self, node: Call, scope: Scope) -> Typed:
        given = [self.compile(operand, scope) for operand in node.arguments]
        condition, chosen, other = given
        bound: types.Bindings = {}
        fit = types.fits(types.BOOL, condition.type, bound) and types.fits(chosen.type, other.type, bound)
        if not fit:
            return self._no_overload(node, node.function, given, is_method=False)
        return Typed(types.joined(chosen.type, other.type), logic.choice(condition.run, chosen.run, other.run))

    def _listed(self, node: Listed, scope: Scope) -> Typed:
        given = [self._held(element, scope, maybe=place in node.maybe) for place, element in enumerate(node.elements)]
        element = self._common([(it.at, told.type) for it, told in zip(node.elements, given, strict=True)])
        self._within[node.at] = [told.type.name for told in given]
        runs = [(told.run, place in node.maybe) for place, told in enumerate(given)]
        if all(isinstance(held, Literal) for held in node.elements):
            return Typed(types.listed(element), _constant([run([]) for run, _ in runs]))
        return Typed(types.listed(element), logic.listing(runs))

    def _mapped(self, node: Mapped, scope: Scope) -> Typed:
        keys = [self.compile(key, scope) for key, _ in node.entries]
        held = [self._held(value, scope, maybe=place in node.maybe) for place, (_, value) in enumerate(node.entries)]
        key = self._common([(it.at, told.type) for (it, _), told in zip(node.entries, keys, strict=True)])
        value = self._common([(it.at, told.type) for (_, it), told in zip(node.entries, held, strict=True)])
        runs = [
            (one.run, other.run, place in node.maybe) for place, (one, other) in enumerate(zip(keys, held, strict=True))
        ]
        return Typed(types.mapped(key, value), logic.mapping(runs))

    def _held(self, node: Node, scope: Scope, *, maybe: bool) -> Typed:
        """An element of a list or map that is written out; the type is that of what an optional one holds."""
        told = self.compile(node, scope)
        if not maybe:
            return told
        if told.type.name not in ("optional_type", "dyn"):
            self.refuse(node.at, f"expected type 'optional_type({told.type})' but found '{told.type}'")
        return Typed(_inner(told.type), told.run)

    def _common(self, told: list[tuple[int, Type]]) -> Type:
        """The type of elements that have to agree."""
        common: Type | None = None
        for at, held in told:
            if common is None or common.is_open:
                common = held if common is None or types.fits(common, held, {}) else common
            elif types.fits(common, held, {}):
                continue
            elif self._mixed:
                common = types.DYN
            else:
                self.refuse(at, f"expected type '{common}' but found '{held}'")
        return types.DYN if common is None else common


def _inner(told: Type) -> Type:
    return told.of[0] if told.name == "optional_type" else told


def _qualified(node: Node, scope: Scope) -> str:
    """A dotted name, "" where it begins with a variable or is none."""
    if isinstance(node, Name):
        return "" if node.name in scope else node.name
    if isinstance(node, Select) and not node.maybe:
        head = _qualified(node.operand, scope)
        return f"{head}.{node.field}" if head else ""
    return ""


def _nothing(_: list[Value]) -> Value:
    return None


def _constant(value: Value) -> Run:
    return lambda _: value


def _selected(operand: Run, name: str) -> Run:
    def run(held: list[Value]) -> Value:
        of = operand(held)
        try:
            return of[name]
        except (KeyError, TypeError, IndexError):
            raise values.no_such_key(name) from None

    return run


def _maybe_selected(operand: Run, name: str) -> Run:
    def run(held: list[Value]) -> Value:
        of = operand(held)
        if isinstance(of, Maybe):
            if not of.is_there:
                return NOTHING
            of = of.value
        if not isinstance(of, dict):
            raise values.no_such_overload()
        return Maybe(of[name], is_there=True) if name in of else NOTHING

    return run


def _applied(body: Callable[..., Value], given: list[Run]) -> Run:
    match given:
        case [one]:
            return lambda held: body(one(held))
        case [one, other]:
            return lambda held: body(one(held), other(held))
    return lambda held: body(*[run(held) for run in given])
