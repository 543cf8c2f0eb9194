"""One validation rule of a schema: what it says, compiled when it is first needed, and what it finds."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

import msgspec

from baseload.kube.cel.types import Type
from baseload.kube.cel.values import NOTHING, Failure, Maybe, Value
from baseload.kube.merge import go_text
from baseload.kube.schema.definitions import Schema

if TYPE_CHECKING:
    from baseload.kube.cel import program

_LONGEST_MESSAGE: Final = 5 * 1024
_WORDS: Final = {
    "FieldValueRequired": "Required value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueInvalid": "Invalid value",
}
_WITH_VALUE: Final = ("FieldValueInvalid", "FieldValueDuplicate")
REASONS: Final = tuple(sorted(_WORDS))


@dataclass(frozen=True, slots=True)
class Fault:
    """What a rule finds wrong, in the words of a real server; `is_held` where an update may leave it as it was."""

    path: str
    reason: str
    message: str
    is_failure: bool = False  # of the evaluation: no update may leave that as it was
    is_held: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class Text(msgspec.Struct, rename="camel", frozen=True):
    """A rule as a schema writes it."""

    rule: str = ""
    message: str = ""
    message_expression: str = ""
    reason: str | None = None
    field_path: str = ""
    optional_old_self: bool | None = None

    @property
    def name(self) -> str:
        """What errors call the rule."""
        return (self.message or self.rule).strip()

    @property
    def shown(self) -> str:
        """The rule as a real server prints it where it does not compile."""
        return go_text.json(
            {
                "Rule": self.rule,
                "Message": self.message,
                "MessageExpression": self.message_expression,
                "Reason": self.reason,
                "FieldPath": self.field_path,
                "OptionalOldSelf": self.optional_old_self,
            }
        )


def texts(schema: Schema) -> tuple[Text, ...]:
    """The rules that stand at a schema itself."""
    held = schema.get("x-kubernetes-validations")
    return msgspec.convert(held, tuple[Text, ...]) if held else ()


class Rule:
    """A rule at its place in a schema."""

    def __init__(self, text: Text, self_: Type, schema: Schema) -> None:
        self.text = text
        self._self = self_
        self._schema = schema

    @cached_property
    def _program(self) -> "program.Program | str":
        from baseload.kube.cel import program  # the whole language, which a server without objects never needs

        try:
            return program.compile(self.text.rule, self._self, is_old_optional=bool(self.text.optional_old_self))
        except program.Refused as refused:
            return f"rule compile error: {refused}"

    @cached_property
    def _message(self) -> "program.Program | None":
        from baseload.kube.cel import program

        if not self.text.message_expression:
            return None
        try:
            text, is_old_optional = self.text.message_expression, bool(self.text.optional_old_self)
            return program.compile(text, self._self, is_old_optional=is_old_optional)
        except program.Refused:
            return None

    def check(self, value: Value, old: Value, path: str, raw: Value) -> Fault | None:
        """What is wrong with a value (`raw` in JSON); `old` is None where there is nothing to compare it with."""
        told = self._program
        if isinstance(told, str):
            return self._failed(path, told)
        is_optional = bool(self.text.optional_old_self)
        if told.uses_old and old is None and not is_optional:
            return None
        before = old if not is_optional else NOTHING if old is None else Maybe(old, is_there=True)
        try:
            if told.evaluate(value, before) is True:
                return None
        except Failure as failure:
            return self._failed(path, self._evaluation(failure))
        return self._broken(value, old, path, raw)

    @property
    def uses_old(self) -> bool:
        return not isinstance(self._program, str) and self._program.uses_old

    def _evaluation(self, failure: Failure) -> str:
        if str(failure).startswith("no such overload"):
            wording = "call arguments did not match a supported operator, function or macro signature for rule"
            return f"'{failure}': {wording}: {self.text.name}"
        return f"{failure} evaluating rule: {self.text.name}"

    def _failed(self, path: str, why: str) -> Fault:
        kind = go_text.quoted(str(self._schema.get("type", "")))
        return Fault(path or "<nil>", "FieldValueInvalid", f"Invalid value: {kind}: {why}", is_failure=True)

    def _broken(self, value: Value, old: Value, path: str, raw: Value) -> Fault:
        text = self.text
        reason = text.reason if text.reason in _WORDS else "FieldValueInvalid"
        head = _WORDS[reason]
        if reason in _WITH_VALUE and self._schema.get("type") not in ("object", "array"):
            head = f"{head}: {go_text.syntax(raw)}"
        where = normalized(text.field_path, self._schema) if text.field_path else None
        if where:
            path = f"{path}.{where}" if path else where
        if reason == "FieldValueDuplicate":
            return Fault(path or "<nil>", reason, head)
        return Fault(path or "<nil>", reason, f"{head}: {self._worded(value, old)}")

    def _worded(self, value: Value, old: Value) -> str:
        told = self._message
        if told is not None:
            try:
                message = told.evaluate(value, old)
            except Failure:
                message = None
            message = message.strip() if isinstance(message, str) else ""
            if message and "\n" not in message and len(message.encode()) <= _LONGEST_MESSAGE:
                return message
        return self.text.message.strip() or f"failed rule: {self.text.rule.strip()}"


def normalized(path: str, schema: Schema) -> str | None:
    """A rule's fieldPath as errors write it; None where it leads to no field of the schema."""
    found = ""
    position = 0
    while position < len(path):
        name, position = _step(path, position)
        if name is None:
            return None
        fields, others = schema.get("properties"), schema.get("additionalProperties")
        if isinstance(fields, dict):
            inner = fields.get(name)
            found += f".{name}"
        else:
            inner = others if isinstance(others, dict) else None
            found += f"[{name}]"
        if not isinstance(inner, dict):
            return None
        schema = cast(Schema, inner)
    return found.removeprefix(".") or None


def _step(path: str, position: int) -> tuple[str | None, int]:
    """A field of a path, `.name` or `['name']`, and where it ends."""
    if path[position] == ".":
        end = min((at for sign in ".[" if (at := path.find(sign, position + 1)) >= 0), default=len(path))
        return path[position + 1 : end] or None, end
    if not path.startswith("['", position):
        return None, position
    end = position + 2
    name = ""
    while end < len(path) and path[end] != "'":
        end += path[end] == "\\"
        name += path[end : end + 1]
        end += 1
    return (name, end + 2) if path.startswith("']", end) else (None, end)
