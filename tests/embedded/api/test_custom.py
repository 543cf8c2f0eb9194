"""Custom resources as their definition allows them; words and codes are those of kube-apiserver v1.37.2."""

from typing import Any, Final

from tests.embedded.api.calling import MERGE, Server

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
VALS: Final = "/apis/example.com/v1/namespaces/default/vals"


def definition(fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    status = {"type": "object", "required": ["must"], "properties": {"must": {"type": "string"}}}
    spec = {"type": "object", "properties": fields}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **more}
    names = {"plural": "vals", "kind": "Val"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "vals.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def serving(fields: dict[str, Any]) -> Server:
    server = Server()
    made = server.call("POST", DEFINITIONS, definition(fields, subresources={"status": {}}))
    assert made.code == 201, made.body
    return server


def val(name: str = "a", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Val", "metadata": {"name": name}, "spec": spec}


def test_every_fault_is_told_at_once_with_its_reason() -> None:
    server = serving({"n": {"type": "integer", "maximum": 3}, "t": {"type": "string"}})

    refused = server.call("POST", VALS, val("A", n=5, t=True))

    assert (refused.code, refused.reason) == (422, "Invalid")
    causes = [(cause["reason"], cause["field"], cause["message"]) for cause in refused.tree["details"]["causes"]]
    assert causes[0][:2] == ("FieldValueInvalid", "metadata.name")
    assert causes[1:] == [
        ("FieldValueInvalid", "spec.n", "Invalid value: 5: spec.n in body should be less than or equal to 3"),
        (
            "FieldValueTypeInvalid",
            "spec.t",
            'Invalid value: "boolean": spec.t in body must be of type string: "boolean"',
        ),
    ]


def test_defaults_fill_the_place_of_nulls_unless_null_is_a_value() -> None:
    text = {"type": "string"}
    server = serving(
        {
            "plain": {**text, "default": "d"},
            "nullable": {**text, "nullable": True, "default": "d"},
            "bare": text,
            "kept": {**text, "nullable": True},
        }
    )

    made = server.call("POST", VALS, val(plain=None, nullable=None, bare=None, kept=None))

    assert made.tree["spec"] == {"plain": "d", "nullable": None, "kept": None}


def test_a_status_is_held_to_its_own_schema() -> None:
    server = serving({"n": {"type": "integer"}})
    server.call("POST", VALS, val(n=1))

    missing = server.call("PATCH", f"{VALS}/a/status", {"status": {"x": 1}}, MERGE)
    assert missing.message == 'Val.example.com "a" is invalid: status.must: Required value'
    wrong = server.call("PATCH", f"{VALS}/a/status", {"status": {"must": 1}}, MERGE)
    assert wrong.message == (
        'Val.example.com "a" is invalid: status.must: Invalid value: "integer": '
        'must in body must be of type string: "integer"'
    )
    assert server.call("PATCH", f"{VALS}/a/status", {"status": {"must": "1"}}, MERGE).code == 200


def test_a_schema_may_grow_stricter_over_objects_that_are_there() -> None:
    server = serving({"n": {"type": "integer"}, "m": {"type": "integer"}})
    server.call("POST", VALS, val(n=5))
    stricter = definition({"n": {"type": "integer", "maximum": 3}, "m": {"type": "integer"}})
    assert server.call("PATCH", f"{DEFINITIONS}/vals.example.com", stricter, MERGE).code == 200

    assert server.call("PATCH", f"{VALS}/a", {"spec": {"m": 1}}, MERGE).code == 200
    refused = server.call("PATCH", f"{VALS}/a", {"spec": {"n": 6}}, MERGE)
    assert refused.message.endswith("spec.n: Invalid value: 6: spec.n in body should be less than or equal to 3")


def test_an_embedded_object_has_an_api_version_and_a_kind() -> None:
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    server = serving({"e": embedded})

    missing = server.call("POST", VALS, val(e={}))
    assert missing.message == (
        'Val.example.com "a" is invalid: [spec.e.apiVersion: Required value, spec.e.kind: Required value]'
    )
    unreadable = server.call("POST", VALS, val(e={"apiVersion": "v1", "kind": "Pod", "metadata": 5}))
    assert (unreadable.code, unreadable.message) == (
        400,
        'Val in version "v1" cannot be handled as a Val: spec.e.metadata: Invalid value: 5: '
        "json: cannot unmarshal number into Go value of type v1.ObjectMeta",
    )
    held = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "foo": "bar"}, "spec": 1}
    made = server.call("POST", VALS, val(e=held))
    assert made.tree["spec"]["e"] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": 1}


def test_metadata_that_go_could_not_read_is_a_bad_request() -> None:
    server = serving({})
    tree = {**val(), "metadata": {"name": "a", "labels": {"a": 5}}}

    refused = server.call("POST", VALS, tree)

    assert (refused.code, refused.message) == (
        400,
        'Val in version "v1" cannot be handled as a Val: '
        "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
    )
