"""Unknown, missing and mistyped fields are named in the API server's words, all of them, and as strictly as asked."""

import typing
from collections.abc import Iterator

import msgspec
import pytest

from baseload.kube.kinds import KINDS
from baseload.kube.schema import definitions
from baseload.kube.types.apps import Deployment
from tests.kube import inputs
from tests.kube.inputs import Object


def test_a_misspelt_field_is_named_with_the_one_that_was_meant() -> None:
    text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replikas: 3\n  selector: {}\n"
    faults = inputs.faults_of(text + "  template: {spec: {containers: [{name: c}]}}\n")
    assert [(fault.path, fault.message, fault.allowed) for fault in faults] == [
        ("spec.replikas", 'unknown field "spec.replikas"', 'did you mean "replicas"?')
    ]
    assert str(faults[0]).startswith("stdin, document 1: Deployment default/a: spec.replikas: unknown field")


def test_every_fault_of_an_object_is_told_shape_and_rules_alike() -> None:
    pod = inputs.pod(
        containers=[{"name": "c", "imagee": "i", "resources": {"requests": {"cpu": "-1", "memory": "1Gx"}}}],
        hostNetwork="yes",
        tolerations=[{"operator": "Exist", "key": "a"}],
    )
    assert inputs.wrong(pod) == [
        'spec.containers[0].imagee: unknown field "spec.containers[0].imagee"',
        'spec.hostNetwork: Invalid value: "yes": must be of type boolean, not string',
        'spec.containers[0].resources.requests.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'spec.containers[0].resources.requests.memory: Invalid value: "1Gx" is not a quantity: a number, then at most '
        "one of n u m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent",
        'spec.tolerations[0].operator: Unsupported value: "Exist": supported values: "Exists", "Equal", "Lt", "Gt"',
    ]


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"weight": 0}, "spec.weight: Invalid value: 0: spec.weight in body should be greater than or equal to 1"),
        ({"weight": 101}, "spec.weight: Invalid value: 101: spec.weight in body should be less than or equal to 100"),
        ({"weight": 1.5}, "spec.weight: Invalid value: 1.5: must be of type integer, not number"),
        (
            {"disruption": {"consolidationPolicy": "Never"}},
            'spec.disruption.consolidationPolicy: Unsupported value: "Never": supported values: "WhenEmpty", '
            '"WhenEmptyOrUnderutilized", "Balanced"',
        ),
        (
            {"disruption": {"consolidateAfter": "1d"}},
            'spec.disruption.consolidateAfter: Invalid value: "1d": spec.disruption.consolidateAfter in body should '
            "match '^(([0-9]+(s|m|h))+|Never)$'",
        ),
        (
            {"disruption": {"budgets": {}}},
            "spec.disruption.budgets: Invalid value: a map: must be of type array, not object",
        ),
        ({"limit": {"cpu": 1}}, 'spec.limit: unknown field "spec.limit"'),
        (
            {"limits": {"cpu": True}},
            "spec.limits.cpu: Invalid value: true: must be of type integer or string, not boolean",
        ),
    ],
)
def test_values_that_a_custom_definition_forbids(spec: Object, fault: str) -> None:
    assert inputs.wrong(inputs.with_spec(inputs.node_pool(), spec)) == [fault]


def test_a_number_that_does_not_fit_is_refused() -> None:
    (fault,) = inputs.wrong(inputs.deployment(minReadySeconds=2**31))
    assert fault.startswith(
        "spec.minReadySeconds: Invalid value: 2147483648: spec.minReadySeconds in body should be less"
    )


def test_a_text_too_long_for_any_field_with_a_pattern_is_refused_unread() -> None:
    budget = {"nodes": "1", "duration": "1h", "schedule": "* * * * " + "1" * 10_000}
    (fault,) = inputs.wrong(inputs.node_pool(disruption={"budgets": [budget]}))
    assert len(fault) < 400


def test_a_label_that_yaml_takes_for_a_number_is_answered_with_the_quotes() -> None:
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {version: 1.10, on: x}}\n"
    faults = inputs.faults_of(text.replace(", on: x", ""))
    assert [(fault.path, fault.allowed) for fault in faults] == [
        ("metadata.labels.version", 'in quotes it is one: "1.1"')
    ]


def test_in_status_nothing_is_required_but_types_count() -> None:
    node: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    node["status"] = {"conditions": [{"type": "Ready"}]}
    assert inputs.from_objects(node).found
    node["status"] = {"conditions": [{"type": True}]}
    assert inputs.wrong(node) == ["status.conditions[0].type: Invalid value: true: must be of type string, not boolean"]


def test_an_object_out_of_an_api_server_is_only_warned_of() -> None:
    dumped = inputs.deployment(replikas=3)
    dumped["metadata"] = {"name": "web", "namespace": "default", "resourceVersion": "7"}
    found = inputs.from_objects(dumped)
    assert [warning.message for warning in found.warnings] == ['unknown field "spec.replikas"']
    assert inputs.wrong(dumped, validate="strict") == ['spec.replikas: unknown field "spec.replikas"']


def test_validation_can_be_lowered_to_warnings_or_left_out() -> None:
    wrong = inputs.deployment(replikas=3)
    assert len(inputs.from_objects(wrong, validate="warn").warnings) == 1
    assert inputs.from_objects(wrong, validate="ignore").warnings == ()


def test_a_field_that_cannot_be_read_is_refused_whatever_the_validation() -> None:
    wrong = inputs.deployment(replicas="3")
    assert inputs.wrong(wrong, validate="warn") == [
        'spec.replicas: Invalid value: "3": must be of type integer, not string'
    ]
    assert inputs.wrong(wrong, validate="ignore") == ["spec.replicas: Invalid value: expected integer, got string"]


def test_a_quantity_that_cannot_be_read_is_refused_whatever_the_validation() -> None:
    pod = inputs.pod(containers=[inputs.container(requests={"cpu": "many"})])
    assert len(inputs.wrong(pod, validate="ignore")) == 1


def test_warnings_that_many_objects_share_are_given_once() -> None:
    dumped = [inputs.deployment(f"web-{n}", replikas=3) for n in range(5)]
    (warning,) = inputs.from_objects(*dumped, validate="warn").warnings
    assert warning.allowed == 'did you mean "replicas"?; and 4 more like it'


def test_fields_that_kubernetes_leaves_open_take_anything() -> None:
    config: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"any.key": "x"}}
    managed = [{"fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
    assert inputs.from_objects(config, inputs.pod(metadata={"managedFields": managed})).found


@pytest.mark.parametrize(
    "kind", ["Role", "Ingress", "NetworkPolicy", "HorizontalPodAutoscaler", "Lease", "CustomResourceDefinition"]
)
def test_kinds_that_no_decision_reads_are_still_held_to_their_schema(kind: str) -> None:
    api_version = next(version for version, name in KINDS if name == kind)
    wrong: Object = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spce": {}}
    assert 'spce: unknown field "spce"' in inputs.wrong(wrong)


def test_every_kind_that_is_read_has_a_schema() -> None:
    read = [kind for kind in KINDS.values() if kind.reading]
    assert [kind.name for kind in read if not definitions.of_kind(kind.api_version, kind.name)] == []


def struct_of(of: object) -> type[msgspec.Struct] | None:
    """The struct that a field's type names, however deep within a list or a choice."""
    if isinstance(of, type) and issubclass(of, msgspec.Struct):
        return of
    return next((inner for inner in map(struct_of, typing.get_args(of)) if inner), None)


def unknown_fields(reading: type[msgspec.Struct], schema: definitions.Schema, path: str) -> Iterator[str]:
    """The fields of a reading that its schema does not have."""
    fields = definitions.properties(schema) or {}
    for field in msgspec.structs.fields(reading):
        at = f"{path}.{field.encode_name}"
        if field.encode_name not in fields:
            yield at
            continue
        held = definitions.resolved(fields[field.encode_name])
        items = held.get("items")
        inner = struct_of(field.type)
        if inner is not None:
            yield from unknown_fields(inner, definitions.resolved(items) if isinstance(items, dict) else held, at)


def test_every_field_that_is_read_is_a_field_of_the_schema() -> None:
    unknown: set[str] = set()
    for kind in KINDS.values():
        schema = definitions.of_kind(kind.api_version, kind.name)
        if kind.reading is not None and schema is not None:
            unknown.update(unknown_fields(kind.reading, schema, kind.name))
    # One reading serves all requirements, and one all conditions; only some of them have these fields.
    shared = (".minValues", ".conditions.observedGeneration")
    assert sorted(path for path in unknown if not path.endswith(shared)) == []


def test_an_unread_kind_from_a_server_is_not_compared() -> None:
    lease: Object = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spce": {}}
    lease["metadata"] = {"name": "a", "resourceVersion": "1"}
    assert inputs.from_objects(lease).warnings == ()
    assert inputs.from_objects(inputs.deployment()).of(Deployment)
