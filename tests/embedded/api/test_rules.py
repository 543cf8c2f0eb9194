"""Rules of custom resources on create and update, as a real server's answers are on record."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.embedded.api.calling import JSON, MERGE, Answered, Server

RECORD: Final = Path(__file__).with_name("recorded") / "rules.yaml"
CASES: Final[list[dict[str, Any]]] = yaml.safe_load(RECORD.read_text(encoding="utf-8"))
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS: Final = "/apis/x.dev/v1/things"


def definition(schema: dict[str, Any]) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.x.dev"},
        "spec": {
            "group": "x.dev",
            "scope": "Cluster",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [version],
        },
    }


def of_spec(*rules: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A schema whose spec has these fields and rules."""
    spec = {"type": "object", "properties": fields, "x-kubernetes-validations": list(rules)}
    return {"type": "object", "properties": {"spec": spec}}


def thing(spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "x.dev/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec}


def define(server: Server, schema: dict[str, Any]) -> None:
    answered = server.call("POST", DEFINITIONS, definition(schema))
    if answered.reason == "AlreadyExists":
        path = f"{DEFINITIONS}/things.x.dev"
        known = server.call("GET", path).tree
        answered = server.call("PUT", path, {**known, "spec": definition(schema)["spec"]})
    assert answered.code in (200, 201), answered.body


def put(server: Server, spec: dict[str, Any]) -> Answered:
    """Creates the object, or replaces it where there is one."""
    known = server.call("GET", f"{THINGS}/t")
    if known.code == 404:
        return server.call("POST", THINGS, thing(spec))
    metadata = {"name": "t", "resourceVersion": known.tree["metadata"]["resourceVersion"]}
    return server.call("PUT", f"{THINGS}/t", {**thing(spec), "metadata": metadata})


def said(answered: Answered) -> list[str]:
    """The causes of a refusal; none where there is no refusal."""
    if answered.code in (200, 201):
        return []
    assert (answered.code, answered.reason) == (422, "Invalid"), answered.body
    causes = answered.tree["details"]["causes"]
    return [f"{cause['field']} | {cause['reason']} | {cause['message']}" for cause in causes]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].replace(" ", "-"))
def test_rules_find_what_they_find_on_a_real_server(case: dict[str, Any]) -> None:
    server = Server()
    define(server, case["schema"])
    for step in case["steps"]:
        if "schema" in step:
            define(server, step["schema"])
        else:
            answered = put(server, step["create"] if "create" in step else step["put"])
            assert sorted(said(answered)) == sorted(step.get("says", [])), step


def test_a_refusal_names_the_object_and_every_broken_rule_in_its_message() -> None:
    server = Server()
    rules = ({"rule": "self.n > 1", "message": "too few"}, {"rule": "self.n != 1", "message": "not one"})
    define(server, of_spec(*rules, n={"type": "integer"}))
    answered = put(server, {"n": 1})
    assert answered.message == (
        'Thing.x.dev "t" is invalid: [spec: Invalid value: too few, spec: Invalid value: not one]'
    )


def test_a_definition_is_refused_when_a_rule_names_a_field_that_is_not_there() -> None:
    schema = of_spec({"rule": "self.m > 1"}, n={"type": "integer"})
    answered = Server().call("POST", DEFINITIONS, definition(schema))
    path = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"
    shown = (
        '{"Rule":"self.m \\u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"",'
        '"OptionalOldSelf":null}'
    )
    why = "compilation failed: ERROR: <input>:1:5: undefined field 'm'\n | self.m > 1\n | ....^"
    assert said(answered) == [f"{path} | FieldValueInvalid | Invalid value: {shown}: {why}"]


def test_a_definition_keeps_its_old_rules_when_an_update_would_break_them() -> None:
    server = Server()
    define(server, of_spec({"rule": "self.n > 1", "message": "too few"}, n={"type": "integer"}))
    path = f"{DEFINITIONS}/things.x.dev"
    known = server.call("GET", path).tree
    broken = {**known, "spec": definition(of_spec({"rule": "self.n >"}, n={"type": "integer"}))["spec"]}
    assert server.call("PUT", path, broken).code == 422
    assert said(put(server, {"n": 1})) == ["spec | FieldValueInvalid | Invalid value: too few"]


@pytest.mark.parametrize("media", [MERGE, {"content-type": "application/apply-patch+yaml"}], ids=["merge", "apply"])
def test_patches_are_held_to_transition_rules_too(media: dict[str, str]) -> None:
    server = Server()
    define(server, of_spec({"rule": "self.n >= oldSelf.n", "message": "never less"}, n={"type": "integer"}))
    assert put(server, {"n": 5}).code == 201
    query = "?fieldManager=me" + ("" if media is MERGE else "&force=true")
    refused = server.call("PATCH", f"{THINGS}/t{query}", thing({"n": 4}), media)
    assert said(refused) == ["spec | FieldValueInvalid | Invalid value: never less"]
    assert server.call("PATCH", f"{THINGS}/t{query}", thing({"n": 6}), media).code == 200


def test_a_dry_run_is_held_to_rules() -> None:
    server = Server()
    define(server, of_spec({"rule": "self.n > 1", "message": "too few"}, n={"type": "integer"}))
    refused = server.call("POST", f"{THINGS}?dryRun=All", thing({"n": 1}), JSON)
    assert said(refused) == ["spec | FieldValueInvalid | Invalid value: too few"]
