"""Rules that do not compile, in the words of a real server."""

from pathlib import Path
from typing import Any, Final

import pytest

from baseload.kube.cel import declared, definition, program, types
from baseload.kube.cel.types import Type
from baseload.kube.schema import definitions

RECORD: Final = Path(__file__).with_name("recorded") / "refusals.txt"
TEXT: Final = {"type": "string", "maxLength": 20}
NUMBER: Final = {"type": "integer"}
SPEC: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "n": NUMBER,
        "s": TEXT,
        "l": {"type": "array", "maxItems": 5, "items": TEXT},
        "m": {"type": "object", "maxProperties": 5, "additionalProperties": TEXT},
        "o": {"type": "object", "properties": {"a": TEXT}},
        "ios": {"x-kubernetes-int-or-string": True},
    },
}


def recorded() -> list[tuple[str, str]]:
    """(rule, what is said of it)"""
    blocks = RECORD.read_text(encoding="utf-8").split("\n\n")[1:]
    return [(rule, said.replace("    ", "")) for rule, _, said in (block.partition("\n") for block in blocks)]


def refused(*rules: dict[str, Any], **properties: Any) -> list[str]:
    spec = {**SPEC, "properties": {**SPEC["properties"], **properties}, "x-kubernetes-validations": list(rules)}
    found = definition.faults({"type": "object", "properties": {"spec": spec}}, "schema")
    return [f"{fault.path.removeprefix('schema.properties[spec].')} {fault.reason} {fault.message}" for fault in found]


def verdict(rule: str, self_: Type) -> str:
    try:
        told = program.compile(rule, self_)
    except program.Refused as refusal:
        return str(refusal).rstrip()
    return "" if told.type == types.BOOL else "cel expression must evaluate to a bool"


@pytest.mark.parametrize(("rule", "said"), recorded())
def test_a_rule_is_refused_as_a_real_server_refuses_it(rule: str, said: str) -> None:
    self_ = declared.type_of(SPEC)
    assert self_ is not None
    assert verdict(rule, self_) == said.rstrip()


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"rule": " "}, "[0].rule FieldValueRequired Required value: rule is not specified"),
        (
            {"rule": "self.n ==\n 1"},
            "[0].message FieldValueRequired Required value: message must be specified if rule contains line breaks",
        ),
        (
            {"rule": "true", "message": "a\nb"},
            '[0].message FieldValueInvalid Invalid value: "a\\nb": must not contain line breaks',
        ),
        (
            {"rule": "true", "message": " "},
            '[0].message FieldValueInvalid Invalid value: " ": must be non-empty if specified',
        ),
        (
            {"rule": "true", "reason": "Bad"},
            '[0].reason FieldValueNotSupported Unsupported value: "Bad": supported values: "FieldValueDuplicate", '
            '"FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
        ),
        (
            {"rule": "true", "fieldPath": ".zz"},
            '[0].fieldPath FieldValueInvalid Invalid value: ".zz": must be a valid path',
        ),
        (
            {"rule": "true", "optionalOldSelf": True},
            "[0].optionalOldSelf FieldValueInvalid Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
    ],
)
def test_a_malformed_rule_is_refused(rule: dict[str, Any], said: str) -> None:
    assert refused(rule) == [f"x-kubernetes-validations{said}"]


def test_old_values_cannot_be_named_where_elements_are_not_known_again() -> None:
    items = {"type": "object", "properties": {"k": TEXT}, "x-kubernetes-validations": [{"rule": "self.k == oldSelf.k"}]}
    within = {"type": "array", "maxItems": 5, "items": items}
    why = "oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[spec]"
    assert refused(a=within) == [
        "properties[a].items.x-kubernetes-validations[0].rule FieldValueInvalid Invalid value: "
        f'"self.k == oldSelf.k": {why}.properties[a]'
    ]
    keyed = {**within, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    assert refused(a=keyed) == []


def test_a_message_expression_has_to_be_a_text() -> None:
    said = refused({"rule": "self.n == 1", "messageExpression": "self.n"})
    shown = (
        '{"Rule":"self.n == 1","Message":"","MessageExpression":"self.n","Reason":null,"FieldPath":"",'
        '"OptionalOldSelf":null}'
    )
    assert said == [
        f"x-kubernetes-validations[0].messageExpression FieldValueInvalid Invalid value: {shown}: "
        "messageExpression must evaluate to a string"
    ]


def test_the_rules_of_our_own_definitions_compile() -> None:
    for crd in definitions.custom():
        schema = crd["schema"]
        assert isinstance(schema, dict)
        assert definition.faults(schema, "schema") == [], crd["kind"]
