"""The types of expressions, as text writes them, and which of them may stand for which.

What is not known before an evaluation is `dyn`, which may stand for anything. A name of one capital letter is a
parameter of a function: the first type that it meets is what it means for the rest of the call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True, slots=True)
class Type:
    """A type; `fields` where it is an object of a schema, by their names in expressions."""

    name: str
    of: tuple["Type", ...] = ()
    fields: Mapping[str, "Type"] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.of))})" if self.of else self.name

    @property
    def is_open(self) -> bool:
        """Whether a value of the type may be of another one."""
        return self.name == "dyn" or self.is_parameter or any(part.is_open for part in self.of)

    @property
    def is_parameter(self) -> bool:
        return len(self.name) == 1


DYN = Type("dyn")
BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL = Type("string"), Type("bytes"), Type("null")
DURATION, TIMESTAMP = Type("duration"), Type("timestamp")
TYPE = Type("type")

_SHORT = {
    "quantity": Type("kubernetes.Quantity"),
    "url": Type("kubernetes.URL"),
    "semver": Type("kubernetes.Semver"),
    "ip": Type("net.IP"),
    "cidr": Type("net.CIDR"),
    "optional": Type("optional_type"),
}


def listed(element: Type) -> Type:
    return Type("list", (element,))


def mapped(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional(held: Type) -> Type:
    return Type("optional_type", (held,))


@cache
def read(text: str) -> Type:
    """The type that a text names: `list(A)`, `map(string, dyn)`, `quantity`."""
    head, _, rest = text.partition("(")
    short = _SHORT.get(head, Type(head))
    return Type(short.name, tuple(read(part) for part in split(rest[:-1]))) if rest else short


def split(text: str) -> list[str]:
    """Types that commas part."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()] if text.strip() else []


Bindings = dict[str, Type]


def fits(wanted: Type, given: Type, bound: Bindings) -> bool:
    """Whether a value of one type may stand where another is wanted; binds parameters."""
    if wanted.is_parameter:
        known = bound.get(wanted.name)
        if known is None or (known.is_open and fits(known, given, {})):
            bound[wanted.name] = given
            return True
        return fits(known, given, {})
    if wanted.name == "dyn" or given.name == "dyn":
        return True
    return (
        wanted.name == given.name
        and len(wanted.of) == len(given.of)
        and all(fits(one, other, bound) for one, other in zip(wanted.of, given.of, strict=True))
    )


def filled(told: Type, bound: Bindings) -> Type:
    """A type with its parameters replaced."""
    if told.is_parameter:
        return bound.get(told.name, DYN)
    return Type(told.name, tuple(filled(part, bound) for part in told.of), told.fields) if told.of else told


def joined(one: Type, other: Type) -> Type:
    """The type of what is of either type."""
    return one if one == other else DYN
