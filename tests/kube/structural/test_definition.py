"""Which definitions an API server refuses, and why; the words are those of kube-apiserver v1.37.2."""

from typing import Any, Final

import pytest

from baseload.kube.structural import definition

_TEXT: Final = {"type": "string"}
_LABEL: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and "
    "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def version(schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    told = {"type": "object", "properties": {"spec": {"type": "object"}}} if schema is None else schema
    return {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": told}, **more}


def defined(*versions: dict[str, Any], **more: Any) -> dict[str, Any]:
    names = {"plural": "as", "singular": "a", "kind": "A", "listKind": "AList", **more.pop("names", {})}
    spec = {"group": "example.com", "scope": "Cluster", "names": names, "conversion": {"strategy": "None"}}
    return {
        "metadata": {"name": "as.example.com"},
        "spec": {**spec, "versions": list(versions) or [version()], **more},
        "status": {"storedVersions": ["v1"]},
    }


def told(tree: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    return [f"{found.path}: {found.message}" for found in definition.faults(tree, old)]


def in_schema(field: dict[str, Any]) -> list[str]:
    """The faults of a field's schema, from there on."""
    schema = {"type": "object", "properties": {"f": field}}
    start = "spec.validation.openAPIV3Schema.properties[f]"
    return [text.removeprefix(start).lstrip(".") for text in told(defined(version(schema)))]


def test_a_sound_definition_is_taken() -> None:
    assert told(defined()) == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"group": "nodot"}, 'spec.group: Invalid value: "nodot": should be a domain with at least one dot'),
        ({"scope": "Weird"}, 'spec.scope: Unsupported value: "Weird": supported values: "Cluster", "Namespaced"'),
        ({"scope": ""}, "spec.scope: Required value"),
        (
            {"names": {"listKind": "A"}},
            'spec.names.listKind: Invalid value: "A": kind and listKind may not be the same',
        ),
        (
            {"names": {"kind": "A_"}},
            f'spec.names.kind: Invalid value: "A_": may have mixed case, but should otherwise match: {_LABEL}',
        ),
        ({"names": {"shortNames": ["A_"]}}, f'spec.names.shortNames[0]: Invalid value: "A_": {_LABEL}'),
        (
            {"conversion": {"strategy": "Foo"}},
            'spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"',
        ),
        (
            {"conversion": {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}},
            "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to "
            "Webhook",
        ),
    ],
)
def test_names_scope_and_conversion_are_checked(more: dict[str, Any], message: str) -> None:
    assert message in told(defined(**more))


def test_a_definition_is_named_after_its_plural_and_its_group() -> None:
    tree = defined()
    tree["metadata"]["name"] = "others.example.com"

    assert told(tree) == [
        'metadata.name: Invalid value: "others.example.com": must be spec.names.plural+"."+spec.group'
    ]
    assert told(tree, tree) == [], "what is there already has the name that it has"


def test_exactly_one_version_is_stored_and_each_has_its_own_name() -> None:
    none, twins = version(), version()
    found = told(defined({**none, "storage": False}))
    assert "must have exactly one version marked as storage version" in found[0]
    assert any("must contain unique version names" in text for text in told(defined(none, twins)))


def test_each_version_has_a_schema() -> None:
    bare = {"name": "v1", "served": True, "storage": True}
    assert told(defined(bare)) == ["spec.versions[0].schema.openAPIV3Schema: Required value"]


def test_parts_that_versions_have_of_their_own_are_named_by_version() -> None:
    wrong = {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"properties": {}}}}

    assert told(defined(version(), wrong)) == [
        "spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at the root"
    ]


def test_subresources_columns_and_selectable_fields_are_checked() -> None:
    found = told(
        defined(
            version(
                subresources={
                    "status": {},
                    "scale": {
                        "specReplicasPath": "spec.x",
                        "statusReplicasPath": ".spec.x",
                        "labelSelectorPath": ".metadata.x",
                    },
                },
                additionalPrinterColumns=[{"name": "a", "type": "foo", "jsonPath": "x", "format": "bar"}, {}],
                selectableFields=[{"jsonPath": ".spec.none"}, {"jsonPath": ".spec"}, {"jsonPath": "x"}],
                deprecationWarning="x",
            )
        )
    )

    assert found == [
        'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
        'spec.subresources.scale.specReplicasPath: Invalid value: "spec.x": must be a simple json path starting with .',
        'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.x": should be a json path under .status',
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.x": should be a json path under either '
        ".spec or .status",
        'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of '
        "boolean,date,integer,number,string",
        'spec.additionalPrinterColumns[0].format: Invalid value: "bar": must be one of '
        "byte,date,date-time,double,float,int32,int64,password",
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "x": must be a simple json path starting with .',
        "spec.additionalPrinterColumns[1].name: Required value",
        "spec.additionalPrinterColumns[1].type: Required value: must be one of boolean,date,integer,number,string",
        "spec.additionalPrinterColumns[1].JSONPath: Required value",
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid '
        "field",
        'spec.selectableFields[1].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or '
        "integer. Enum string fields and strings with formats are allowed.",
        'spec.selectableFields[2].jsonPath: Invalid value: "x": is an invalid path: expected [ or . but got: x',
    ]


@pytest.mark.parametrize(
    ("field", "messages"),
    [
        ({"description": "x"}, ["type: Required value: must not be empty for specified object fields"]),
        ({"type": "array"}, ["items: Required value: must be specified"]),
        (
            {"type": "array", "items": {}},
            ["items.type: Required value: must not be empty for specified array items"],
        ),
        (
            {"type": "foo"},
            [
                'type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", '
                '"string"'
            ],
        ),
        ({**_TEXT, "$ref": "#/x"}, ["$ref: Forbidden: $ref is not supported"]),
        (
            {"type": "array", "uniqueItems": True, "items": _TEXT},
            [
                "uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes "
                "quadratic"
            ],
        ),
        (
            {"type": "object", "properties": {"a": _TEXT}, "additionalProperties": _TEXT},
            ["additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            ["x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"],
        ),
        (
            {"type": "array", "x-kubernetes-list-type": "map", "items": _TEXT},
            [
                "x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
                'items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
            ],
        ),
        (
            {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a"],
                "items": {"type": "object", "properties": {"a": _TEXT}},
            },
            [
                "items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, "
                "so it must "
                "have a default or be a required property"
            ],
        ),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True},
            [
                "properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without "
                "x-kubernetes-preserve-unknown-fields"
            ],
        ),
        (
            {"type": "object", "properties": {"a": _TEXT}, "anyOf": [{"properties": {"a": {"type": "string"}}}]},
            ["anyOf[0].properties[a].type: Forbidden: must be empty to be structural"],
        ),
        (
            {**_TEXT, "pattern": "("},
            [
                'pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: '
                "error parsing regexp: missing closing ): `(`"
            ],
        ),
        ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, []),
    ],
)
def test_a_schema_is_structural(field: dict[str, Any], messages: list[str]) -> None:
    assert in_schema(field) == messages


@pytest.mark.parametrize(
    ("field", "messages"),
    [
        (
            {**_TEXT, "default": 5},
            ['default: Invalid value: "integer":  in body must be of type string: "integer"'],
        ),
        (
            {"type": "string", "enum": ["x", "y"], "default": "z"},
            ['default: Unsupported value: "z": supported values: "x", "y"'],
        ),
        (
            {"type": "object", "properties": {"e": _TEXT}, "default": {"d": 1}},
            ['default: Invalid value: {"d":1}: must not have unknown fields'],
        ),
        (
            {"type": "object", "required": ["x"], "properties": {"x": _TEXT}, "default": {}},
            ["default.x: Required value"],
        ),
        ({"type": "integer", "default": 3, "maximum": 3}, []),
    ],
)
def test_a_default_is_a_value_that_the_schema_takes(field: dict[str, Any], messages: list[str]) -> None:
    assert in_schema(field) == messages


def test_what_restricts_the_whole_speaks_of_no_field_that_is_not_there() -> None:
    whole = {"type": "object", "properties": {"a": _TEXT}, "anyOf": [{"properties": {"b": {"minLength": 1}}}]}

    assert told(defined(version(whole))) == [
        "spec.validation.openAPIV3Schema.properties[b]: Required value: because it is defined in "
        "spec.validation.openAPIV3Schema.anyOf[0].properties[b]"
    ]


def test_metadata_is_only_spoken_of_by_name() -> None:
    def root(metadata: dict[str, Any]) -> list[str]:
        return told(defined(version({"type": "object", "properties": {"metadata": metadata}})))

    assert root({"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}) == []
    (found,) = root({"type": "object", "properties": {"labels": {"type": "object"}}})
    assert found == (
        "spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than "
        "name and "
        "generateName, but metadata is implicitly specified"
    )


def test_what_names_the_objects_stays_as_it_is() -> None:
    old = {**defined(), "status": {"conditions": [{"type": "Established", "status": "True"}], "storedVersions": ["v1"]}}
    new = {**defined(scope="Namespaced", names={"kind": "B"}), "status": old["status"]}

    assert told(new, old) == [
        'spec.scope: Invalid value: "Namespaced": field is immutable',
        'spec.names.kind: Invalid value: "B": field is immutable',
    ]


def test_a_version_that_objects_were_stored_in_is_not_taken_away() -> None:
    tree = {**defined(version(name="v2")), "status": {"storedVersions": ["v1", "v2"]}}

    assert told(tree) == [
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage '
        "version, "
        "and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and "
        "removes "
        "v1 from status.storedVersions"
    ]


def test_kubernetes_own_groups_ask_for_an_approval() -> None:
    tree = defined(group="foo.k8s.io")
    tree["metadata"]["name"] = "as.foo.k8s.io"

    assert told(tree) == [
        "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval "
        "annotation "
        '"api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'
    ]
    tree["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, experimental-only"}
    assert told(tree) == []
