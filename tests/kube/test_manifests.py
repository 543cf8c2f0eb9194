"""Objects are found in documents and Lists, named, read once and shared, and every fault is told at once."""

import gzip
import json

import pytest

from baseload.kube.types.apps import Deployment
from baseload.kube.types.core import Namespace, PersistentVolumeClaim, Pod
from baseload.kube.types.karpenter import NodePool
from baseload.values.errors import BadInput
from tests.kube import inputs
from tests.kube.inputs import Object


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def test_objects_come_in_the_order_of_the_input() -> None:
    text = "".join(f"---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n" for name in "bca")
    found = inputs.from_text(text)
    assert [value.metadata.name for value in found.of(Namespace)] == ["b", "c", "a"]
    assert [place.document for place in found.found] == [1, 2, 3]


def test_items_of_a_typed_list_may_leave_their_kind_out() -> None:
    items = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]
    found = inputs.from_text(json.dumps({"apiVersion": "v1", "kind": "NamespaceList", "items": items}))
    assert [(place.ref, place.path_prefix) for place in found.found] == [
        ("Namespace a", "items[0]"),
        ("Namespace b", "items[1]"),
    ]


def test_lists_may_hold_lists() -> None:
    inner: Object = {"apiVersion": "v1", "kind": "List", "items": [namespace("a")]}
    assert inputs.from_objects(inner).found[0].path_prefix == "items[0].items[0]"


def test_json_values_may_follow_one_another() -> None:
    text = "\n".join(json.dumps(namespace(name)) for name in "ab")
    assert [(place.name, place.document) for place in inputs.from_text(text).found] == [("a", 1), ("b", 2)]


def test_json_documents_may_be_separated_as_in_yaml() -> None:
    text = "\n---\n".join(json.dumps(namespace(name), indent=1) for name in "ab")
    assert [place.name for place in inputs.from_text(text).found] == ["a", "b"]


def test_a_namespaced_object_without_a_namespace_is_in_default_and_others_are_in_none() -> None:
    pool = inputs.node_pool()
    pool["metadata"] = {"name": "p", "namespace": "x"}
    pod = inputs.pod()
    pod["metadata"] = {"name": "a"}
    found = inputs.from_objects(pod, pool)
    assert [place.ref for place in found.found] == ["Pod default/a", "NodePool p"]
    assert found.of(Pod)[0].metadata.namespace == "default"
    assert found.of(NodePool)[0].metadata.namespace == ""


def test_equal_specs_are_one_value() -> None:
    first, second, third = inputs.from_objects(inputs.pod("a"), inputs.pod("b"), inputs.pod("c", nodeName="n")).of(Pod)
    assert first.spec is second.spec
    assert third.spec is not first.spec


def test_null_is_absent() -> None:
    pod = inputs.pod("a", nodeSelector=None, affinity=None)
    pod["metadata"] = {"name": "a", "namespace": None, "creationTimestamp": None, "labels": {"x": None}}
    (read,) = inputs.from_objects(pod).of(Pod)
    assert read.spec.node_selector == {}
    assert read.metadata.creation_timestamp == ""
    assert read.metadata.labels == {}


def test_a_claim_tells_no_class_from_the_empty_one() -> None:
    def claim(name: str, spec: Object) -> Object:
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}

    found = inputs.from_objects(claim("a", {}), claim("b", {"storageClassName": ""}))
    assert [value.spec.storage_class_name for value in found.of(PersistentVolumeClaim)] == [None, ""]


def test_an_object_that_stands_twice_is_refused_with_both_places() -> None:
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
    (fault,) = inputs.faults_of(f"{text}---\n{text}")
    assert fault.document == 2
    assert fault.message == "stands here a second time, first in stdin, document 1"


def test_versions_of_one_kind_name_the_same_object() -> None:
    def scaler(version: str) -> Object:
        api_version = f"autoscaling/{version}"
        spec: Object = {"maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}
        return {"apiVersion": api_version, "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}, "spec": spec}

    assert len(inputs.wrong(scaler("v1"), scaler("v2"))) == 1


@pytest.mark.parametrize(
    ("api_version", "kind", "near"),
    [
        ("v1", "Pods", "Pod of v1"),
        ("karpenter.sh/v1beta1", "NodePool", "NodePool of karpenter.sh/v1"),
        ("apps/v1", "deployment", "Deployment of apps/v1"),
    ],
)
def test_an_unknown_kind_of_a_known_group_is_refused_with_the_nearest(api_version: str, kind: str, near: str) -> None:
    (fault,) = inputs.faults_of(f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n")
    assert fault.message == f'no kind "{kind}" is known in version "{api_version}"'
    assert fault.allowed == f"the nearest is {near}"


def test_objects_of_unknown_groups_are_passed_over_and_named_once() -> None:
    widgets: list[Object] = [{"apiVersion": "example.com/v1", "kind": "NodePol", "metadata": {"name": n}} for n in "ab"]
    found = inputs.from_objects(*widgets)
    assert found.found == ()
    assert [str(warning) for warning in found.warnings] == [
        'kind "NodePol" of "example.com/v1" is unknown; 2 objects passed over '
        "(the nearest known kind is NodePool of karpenter.sh/v1)"
    ]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("{}", ["apiVersion: Required value", "kind: Required value"]),
        ("apiVersion: v1\nkind: Pod\n", ["metadata.name: Required value"]),
        ("hello", [": is no object: a map with apiVersion, kind and metadata"]),
        ("- a", [": is no object: a map with apiVersion, kind and metadata"]),
        ("[1]", [": is no object: a map with apiVersion, kind and metadata"]),
        ("apiVersion: 1\nkind: Pod\n", ["apiVersion: Invalid value: expected string, got integer"]),
        ('{"a": 1,}', [": is not JSON: Expecting property name enclosed in double quotes: line 1, column 9"]),
        ('{"a": "\\ud800"}', [": is not JSON: Input data was truncated"]),
        ("[" * 100_000, [": is nested too deeply"]),
    ],
)
def test_what_is_no_object_is_refused(text: str, faults: list[str]) -> None:
    assert [f"{fault.path}: {fault.message}" for fault in inputs.faults_of(text)] == faults


def test_faults_of_an_unnamed_item_say_where_in_the_list_it_stands() -> None:
    assert inputs.wrong({"apiVersion": "v1", "kind": "Pod", "metadata": {}}) == [
        "items[0].metadata.name: Required value"
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "name": "b"}}',
        '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}, "metadata": {"name": "b"}}',
        '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}, "kind": "Namespace"}',
    ],
)
def test_a_key_that_stands_twice_in_json_is_refused(text: str) -> None:
    assert ["stands twice" in fault.message for fault in inputs.faults_of(text)] == [True]


def test_other_spellings_of_equal_json_are_no_repetition() -> None:
    text = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "\\u0061", "annotations": {"x": "\\/é"}}}'
    assert inputs.from_text(text).found[0].ref == "Namespace a"


def test_an_edit_changes_one_object_and_leaves_the_first_manifests_as_they_were() -> None:
    before = inputs.from_objects(inputs.pod("a"), inputs.deployment("web", replicas=2))
    after = before.edited("Deployment default/web", "spec.replicas", 5)
    assert [value.spec.replicas for value in (*before.of(Deployment), *after.of(Deployment))] == [2, 5]
    assert after.of(Pod) == before.of(Pod)
    changed = after.find("Deployment default/web")
    assert changed is not None
    assert json.loads(changed.raw)["spec"]["replicas"] == 5


def test_an_edit_can_remove_a_field_and_add_one() -> None:
    found = inputs.from_objects(inputs.pod("a", nodeSelector={"a/b": "c"}))
    removed = found.edited("Pod default/a", 'spec.nodeSelector["a/b"]', None)
    added = found.edited("Pod default/a", "spec.tolerations[0].operator", "Exists")
    assert removed.of(Pod)[0].spec.node_selector == {}
    assert [toleration.operator for toleration in added.of(Pod)[0].spec.tolerations] == ["Exists"]


def test_an_edit_that_a_field_cannot_hold_is_refused() -> None:
    found = inputs.from_objects(inputs.pod("a"))
    with pytest.raises(KeyError):
        found.edited("Pod default/b", "spec.priority", 1)
    with pytest.raises(BadInput, match=r"spec\.priority: Invalid value: expected integer, got string"):
        found.edited("Pod default/a", "spec.priority", "high")


def test_bytes_that_are_no_text_are_refused() -> None:
    assert inputs.faults_of(gzip.compress(b"apiVersion: v1", mtime=0))


def test_a_list_has_items() -> None:
    assert [str(fault) for fault in inputs.faults_of("apiVersion: v1\nkind: List\nitmes: []\n")] == [
        "stdin, document 1: List: items: Required value",
        'stdin, document 1: List: itmes: unknown field "itmes" (did you mean "items"?)',
    ]


def test_a_list_has_no_other_fields() -> None:
    (fault,) = inputs.faults_of('{"apiVersion": "v1", "kind": "List", "items": [], "spec": {}}')
    assert (fault.path, fault.message) == ("spec", 'unknown field "spec"')


def test_a_number_that_no_reader_takes_is_named_by_its_path() -> None:
    pod = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"priority": %s, "x": [1e999]}}'
    faults = inputs.faults_of(pod % ("9" * 5000))
    assert [fault.path for fault in faults] == ["spec.priority", "spec.x[0]"]
