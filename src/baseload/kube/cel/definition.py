"""What is wrong with the rules of a new definition: rules that say nothing, or that do not compile.

The walk and its words are a real server's; that a rule may cost too much is not looked at.
"""

from collections.abc import Iterator
from typing import Final, cast

import msgspec

from baseload.kube.cel import declared, program, rule, types
from baseload.kube.cel.rule import Fault, Text
from baseload.kube.cel.rules import has_rules
from baseload.kube.cel.types import Type
from baseload.kube.merge import go_text
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema

_BREAKS: Final = ("\n", "\r")


def faults(schema: Schema, path: str) -> list[Fault]:
    """The faults of all rules of a schema; those of compiling only where the rules are well-formed."""
    if not has_rules(schema):
        return []
    try:
        found = list(_malformed(schema, path))
    except msgspec.ValidationError as error:
        return [Fault(path, "FieldValueInvalid", f"Invalid value: {error}")]
    return found or list(_uncompiled(schema, path, declared.type_of(schema, is_root=True), ""))


def _parts(schema: Schema, path: str) -> Iterator[tuple[Schema, str]]:
    """The schemas right below one, with their paths."""
    others, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(others, dict):
        yield cast(Schema, others), f"{path}.additionalProperties"
    for name, field in (definitions.properties(schema) or {}).items():
        yield field, f"{path}.properties[{name}]"
    if isinstance(items, dict):
        yield cast(Schema, items), f"{path}.items"


def _malformed(schema: Schema, path: str) -> Iterator[Fault]:
    for part, inner in _parts(schema, path):
        yield from _malformed(part, inner)
    for place, text in enumerate(rule.texts(schema)):
        yield from _wording(text, schema, f"{path}.x-kubernetes-validations[{place}]")


def _wording(text: Text, schema: Schema, path: str) -> Iterator[Fault]:
    message, said = text.message.strip(), text.rule.strip()
    if not said:
        yield Fault(f"{path}.rule", "FieldValueRequired", "Required value: rule is not specified")
    elif text.message and not message:
        yield _invalid(f"{path}.message", text.message, "must be non-empty if specified")
    elif _has_breaks(message):
        yield _invalid(f"{path}.message", text.message, "must not contain line breaks")
    elif _has_breaks(said) and not message:
        why = "message must be specified if rule contains line breaks"
        yield Fault(f"{path}.message", "FieldValueRequired", f"Required value: {why}")
    if text.message_expression and not text.message_expression.strip():
        yield Fault(f"{path}.messageExpression", "FieldValueRequired", "Required value: must be non-empty if specified")
    if text.reason is not None and text.reason not in rule.REASONS:
        listed = ", ".join(map(go_text.quoted, rule.REASONS))
        wording = f"Unsupported value: {go_text.quoted(text.reason)}: supported values: {listed}"
        yield Fault(f"{path}.reason", "FieldValueNotSupported", wording)
    if text.field_path and not text.field_path.strip():
        yield _invalid(f"{path}.fieldPath", text.field_path, "must be non-empty if specified")
    if _has_breaks(text.field_path):
        yield _invalid(f"{path}.fieldPath", text.field_path, "must not contain line breaks")
    if text.field_path and rule.normalized(text.field_path, schema) is None:
        yield _invalid(f"{path}.fieldPath", text.field_path, "must be a valid path")


def _has_breaks(text: str) -> bool:
    return any(sign in text for sign in _BREAKS)


def _invalid(path: str, value: str, why: str) -> Fault:
    return Fault(path, "FieldValueInvalid", f"Invalid value: {go_text.quoted(value)}: {why}")


def _uncompiled(schema: Schema, path: str, self_: Type | None, unknown: str) -> Iterator[Fault]:
    """Faults of compiling; `unknown` is the outermost list whose elements have no old value."""
    if schema.get("type") == "array" and schema.get("x-kubernetes-list-type") != "map":
        within = unknown or path
    else:
        within = unknown
    for part, inner in _parts(schema, path):
        name = inner.removeprefix(f"{path}.properties[").removesuffix("]")
        yield from _uncompiled(part, inner, _type(part, self_, name), within)
    if self_ is None:
        return
    for place, text in enumerate(rule.texts(schema)):
        yield from _compiled(text, self_, f"{path}.x-kubernetes-validations[{place}]", unknown)


def _type(part: Schema, self_: Type | None, name: str) -> Type | None:
    if self_ is not None and self_.of:
        return self_.of[-1]
    known = declared.escaped(name)
    if self_ is None or self_.fields is None or known is None:
        return declared.type_of(part)
    return self_.fields.get(known)


def _compiled(text: Text, self_: Type, path: str, unknown: str) -> Iterator[Fault]:
    try:
        told = program.compile(text.rule, self_, is_old_optional=bool(text.optional_old_self))
    except program.Refused as refused:
        yield _refused(text, f"{path}.rule", str(refused))
        return
    if told.type != types.BOOL:
        yield _refused(text, f"{path}.rule", "cel expression must evaluate to a bool")
        return
    if text.message_expression:
        yield from _message(text, self_, f"{path}.messageExpression")
    if told.uses_old and unknown:
        why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {unknown}"
        yield _invalid(f"{path}.rule", text.rule, why)
    elif text.optional_old_self is not None and not told.uses_old:
        shown = go_text.plain(text.optional_old_self)
        wording = f"Invalid value: {shown}: may not be set if oldSelf is not used in rule"
        yield Fault(f"{path}.optionalOldSelf", "FieldValueInvalid", wording)


def _message(text: Text, self_: Type, path: str) -> Iterator[Fault]:
    try:
        told = program.compile(text.message_expression, self_, is_old_optional=bool(text.optional_old_self))
    except program.Refused as refused:
        yield _refused(text, path, f"messageExpression {refused}")
        return
    if told.type != types.STRING:
        yield _refused(text, path, "messageExpression must evaluate to a string")


def _refused(text: Text, path: str, why: str) -> Fault:
    return Fault(path, "FieldValueInvalid", f"Invalid value: {text.shown}: {why}")
