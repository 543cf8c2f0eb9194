"""Label and field selectors: which objects are meant, asked of their labels or of a few of their fields.

A label selector is a conjunction of requirements on label keys, from a manifest (`compile`, `Selector.of`) or from the
text that kubectl's -l takes (`parse`). The selector that a manifest leaves out means nothing at all, the empty one
means everything. Requirements stand in one canonical order, so that selectors of equal content are equal and hash
alike, in whatever order they were written.

A field selector (`parse_fields`) compares fields such as spec.nodeName with a value; a field that is absent is "".
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from baseload.values import label
from baseload.values.errors import BadInput, Fault, quoted

_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")
_COMPARISONS: Final = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
_SETS: Final = {"in": "In", "notin": "NotIn"}
_SPACE: Final = " \t\r\n"
_TOKEN: Final = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+)")
_FIELD_TERM: Final = re.compile(
    r"(?P<field>[^=!,\\]*(?:!(?!=)[^=!,\\]*)*)(?P<operator>==|=|!=)(?P<value>(?:\\[\\,=]|[^\\,=])*)"
)


class SelectorError(ValueError):
    """A text is no selector."""


class Expression(Protocol):
    """An entry of matchExpressions."""

    @property
    def key(self) -> str: ...
    @property
    def operator(self) -> str: ...
    @property
    def values(self) -> Iterable[str]: ...


class LabelSelector(Protocol):
    """A label selector as manifests carry it."""

    @property
    def match_labels(self) -> Mapping[str, str]: ...
    @property
    def match_expressions(self) -> Iterable[Expression]: ...


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """One requirement of a label selector; values are sorted and without repetition."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist; from kubectl's text also Gt, Lt
    values: tuple[str, ...] = ()

    @staticmethod
    def of(key: str, operator: str, values: Iterable[str] = ()) -> "Term":
        """A requirement in canonical form; the values of Exists and DoesNotExist say nothing and are dropped."""
        takes_values = operator not in ("Exists", "DoesNotExist")
        return Term(key, operator, tuple(sorted(set(values))) if takes_values else ())

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
        number, bound = label.integer(value or ""), label.integer(self.values[0])
        if number is None or bound is None:
            return False
        return number > bound if self.operator == "Gt" else number < bound

    def __str__(self) -> str:
        match self.operator:
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
            case "Gt" | "Lt":
                return f"{self.key}{'>' if self.operator == 'Gt' else '<'}{self.values[0]}"
        if len(self.values) == 1:
            return f"{self.key}{'=' if self.operator == 'In' else '!='}{self.values[0]}"
        return f"{self.key} {self.operator.lower()} ({','.join(self.values)})"


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector: labels match when they match every term."""

    terms: tuple[Term, ...] = ()
    nothing: bool = False  # the selector that was left out: it matches no labels

    @staticmethod
    def of(
        match_labels: Mapping[str, str], match_expressions: Iterable[tuple[str, str, Iterable[str]]] = ()
    ) -> "Selector":
        """The selector of a manifest's matchLabels and matchExpressions."""
        pairs = [Term.of(key, "In", (value,)) for key, value in match_labels.items()]
        return _selector([*pairs, *(_expression(*expression) for expression in match_expressions)])

    def with_requirement(self, key: str, operator: str, values: Iterable[str] = ()) -> "Selector":
        """This narrowed by one more requirement; nothing stays nothing."""
        return self if self.nothing else _selector([*self.terms, _expression(key, operator, values)])

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is meant."""
        return not self.nothing and all(term.matches(labels) for term in self.terms)

    def keys(self) -> tuple[str, ...]:
        """The label keys that decide, sorted: labels equal in these match alike."""
        return tuple(sorted({term.key for term in self.terms}))

    def index_pair(self) -> tuple[str, str] | None:
        """A (key, value) that all matching labels carry, None where there is no such pair."""
        for term in self.terms:
            if term.operator == "In" and len(term.values) == 1:
                return term.key, term.values[0]
        return None

    def __str__(self) -> str:
        return "<nothing>" if self.nothing else ",".join(map(str, self.terms))


NOTHING: Final = Selector(nothing=True)


def compile(selector: LabelSelector | None) -> Selector:
    """The selector of a manifest; None, where the manifest has none, matches nothing."""
    if selector is None:
        return NOTHING
    expressions = ((entry.key, entry.operator, entry.values) for entry in selector.match_expressions)
    return Selector.of(selector.match_labels, expressions)


def parse(text: str) -> Selector:
    """The selector that kubectl's -l takes: `a=b,a!=b,c in (d,e),f notin (g),h,!i,j>5`; "" means everything."""
    return _Parser(text).selector()


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """A field selector: sorted (field, whether equal, value) terms, all of which have to hold."""

    terms: tuple[tuple[str, bool, str], ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether an object with these fields is meant."""
        return all((fields.get(field, "") == value) is equal for field, equal, value in self.terms)

    def fields(self) -> tuple[str, ...]:
        """The fields that decide, sorted."""
        return tuple(sorted({field for field, _, _ in self.terms}))

    def __str__(self) -> str:
        return ",".join(f"{field}{'=' if equal else '!='}{_escape(value)}" for field, equal, value in self.terms)


def parse_fields(text: str) -> FieldSelector:
    """The selector that kubectl's --field-selector writes: `spec.nodeName=x,status.phase!=Running`.

    A comma, an equals sign or a backslash within a value has a backslash before it. Empty terms are passed over.
    """
    terms = set()
    position = 0
    while position < len(text):
        if text[position] != ",":
            match = _FIELD_TERM.match(text, position)
            if match is None or text[match.end() : match.end() + 1] not in ("", ","):
                raise SelectorError(f"{quoted(text)} is not a field selector: FIELD=VALUE or FIELD!=VALUE, ...")
            terms.add((match["field"], match["operator"] != "!=", re.sub(r"\\(.)", r"\1", match["value"])))
            position = match.end()
        position += 1
    return FieldSelector(tuple(sorted(terms)))


def _selector(terms: Iterable[Term]) -> Selector:
    return Selector(tuple(sorted(set(terms))))


def _expression(key: str, operator: str, values: Iterable[str]) -> Term:
    if operator not in _OPERATORS:
        message = f'the label selector on key "{key}" has operator "{operator}"'
        raise BadInput([Fault(message, allowed=f"one of {', '.join(_OPERATORS)}")])
    return Term.of(key, operator, values)


class _Parser:
    """Reads one selector text from left to right, a token at a time; "" is the token after the last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = (match[1] for match in _TOKEN.finditer(text.rstrip(_SPACE)))
        self._next = next(self._tokens, "")

    def selector(self) -> Selector:
        terms = []
        while self._next:
            terms.append(self._term())
            if self._next and (self._take() != "," or not self._next):
                raise self._error("a comma between two requirements")
        return _selector(terms)

    def _term(self) -> Term:
        if self._next == "!":
            self._take()
            return Term(self._key(), "DoesNotExist")
        key = self._key()
        if self._next in ("", ","):
            return Term(key, "Exists")
        operator = self._take()
        if operator in _SETS:
            return Term.of(key, _SETS[operator], self._values())
        if operator not in _COMPARISONS:
            raise self._error("one of = == != in notin < > after a key")
        value = self._value()
        if operator in ("<", ">") and label.integer(value) is None:
            raise self._error("an integer after < or >")
        return Term(key, _COMPARISONS[operator], (value,))

    def _key(self) -> str:
        key = self._take()
        if not label.is_qualified_name(key):
            raise self._error("a label key")
        return key

    def _value(self) -> str:
        value = "" if self._next in ("", ",", ")") else self._take()
        if not label.is_label_value(value):
            raise self._error("a label value")
        return value

    def _values(self) -> Iterator[str]:
        if self._take() != "(":
            raise self._error("(VALUE, ...) after in and notin")
        while True:
            yield self._value()
            if (token := self._take()) == ")":
                return
            if token != ",":
                raise self._error("a comma or a closing bracket after a value")

    def _take(self) -> str:
        token, self._next = self._next, next(self._tokens, "")
        return token

    def _error(self, wanted: str) -> SelectorError:
        return SelectorError(f"{quoted(self._text)} is not a label selector: wanted {wanted}")


def _escape(value: str) -> str:
    return re.sub(r"([\\,=])", r"\\\1", value)
