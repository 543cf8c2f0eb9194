"""Why a text is no selector, in the words of a real server, which reads label selectors token by token.

`values.selector` reads what is right; what it refuses is read here once more, for the words.
"""

import re
from collections.abc import Iterator
from typing import Final

from baseload.kube.merge.go_text import quoted
from baseload.kube.validation import names
from baseload.values import label

_TOKEN: Final = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+)")
_SPECIAL: Final = ("==", "!=", "=", "!", "(", ")", ",", "<", ">", "")
_SETS: Final = ("in", "notin")
_BOUNDS: Final = ("<", ">")
_EXACT: Final = ("=", "==", "!=", *_BOUNDS)
_OPERATORS: Final = "in, notin, =, ==, !=, gt, lt"


class _NoSelector(Exception):
    """The words."""


def of_labels(text: str) -> str:
    """What is wrong with a label selector; "" where nothing is."""
    try:
        _Labels(text).check()
    except _NoSelector as error:
        return str(error)
    return ""


def of_fields(text: str) -> str:
    """What is wrong with a field selector; "" where nothing is."""
    for part in re.findall(r"(?:\\.|[^\\,]|\\$)+", text):
        found = re.match(r"[^=!]*(?:!(?!=)[^=!]*)*(?P<operator>!=|==|=)(?P<value>.*)", part, re.DOTALL)
        if found is None:
            return f"invalid selector: '{text}'; can't understand '{part}'"
        value = found["value"]
        for escaped in re.finditer(r"\\(.?)|=", value, re.DOTALL):
            if escaped[0] == "=":
                return f"invalid field selector: unescaped character in value: {ord('=')}"
            if escaped[1] not in ("\\", ",", "="):
                return f"invalid field selector: invalid escape sequence: {escaped[0]}"
    return ""


class _Labels:
    """Goes through a label selector; "" is the token after the last."""

    def __init__(self, text: str) -> None:
        self._tokens = (match[1] for match in _TOKEN.finditer(text.rstrip()))
        self._next = next(self._tokens, "")

    def check(self) -> None:
        while self._next:
            if _is_special(self._next) and self._next != "!":
                raise _NoSelector(f"found '{self._next}', expected: !, identifier, or 'end of string'")
            try:
                self._requirement()
            except _NoSelector as error:
                raise _NoSelector(f"unable to parse requirement: {error}") from None
            token = self._take()
            if token not in (",", ""):
                raise _NoSelector(f"found '{token}', expected: ',' or 'end of string'")
            if token and _is_special(self._next) and self._next != "!":
                raise _NoSelector(f"found '{self._next}', expected: identifier after ','")

    def _requirement(self) -> None:
        is_negated = self._next == "!"
        if is_negated:
            self._take()
        key = self._identifier()
        if wrong := names.qualified(key):
            raise _NoSelector(f"<nil>: Invalid value: {quoted(key)}: {'; '.join(wrong)}")
        if is_negated or self._next in (",", ""):
            return
        operator = self._take()
        if operator in _SETS:
            values = list(self._values())
        elif operator in _EXACT:
            values = [""] if self._next in (",", "") else [self._identifier()]
        else:
            raise _NoSelector(f"found '{operator}', expected: {_OPERATORS}")
        _check_values(key, operator, values)

    def _identifier(self) -> str:
        token = self._take()
        if _is_special(token):
            raise _NoSelector(f"found '{token}', expected: identifier")
        return token

    def _values(self) -> Iterator[str]:
        token = self._take()
        if token != "(":
            raise _NoSelector(f"found '{token}' expected: '('")
        if self._next != "," and _is_special(self._next) and self._next != ")":
            raise _NoSelector(f"found '{self._next}', expected: ',', ')' or identifier")
        while (token := self._take()) != ")":
            if token == ",":
                continue
            if _is_special(token):
                raise _NoSelector(f"found '{token}', expected: ',', or identifier")
            yield token
            if self._next not in (",", ")"):
                raise _NoSelector(f"found '{self._next}', expected: ',' or ')'")

    def _take(self) -> str:
        token, self._next = self._next, next(self._tokens, "")
        return token


def _is_special(token: str) -> bool:
    return token in _SPECIAL


def _check_values(key: str, operator: str, values: list[str]) -> None:
    found = []
    if operator in _BOUNDS and label.integer(values[0]) is None:
        why = "for 'Gt', 'Lt' operators, the value must be an integer"
        found.append(f"values[0]: Invalid value: {quoted(values[0])}: {why}")
    for index, value in enumerate(sorted(set(values))):
        if wrong := names.label_value(value):
            found.append(f"values[{index}][{key}]: Invalid value: {quoted(value)}: {'; '.join(wrong)}")
    if found:
        raise _NoSelector(found[0] if len(found) == 1 else f"[{', '.join(found)}]")
