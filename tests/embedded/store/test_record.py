"""Objects as records: what goes in comes out, and equal parts are held once."""

import msgspec
import pytest

from baseload.embedded.store import parse, record
from baseload.embedded.store.errors import BadRequest
from baseload.embedded.store.record import Json, Record
from tests.embedded.store.kinds import CONFIG_MAP, POD, draft, pod


class Status(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    phase: str
    pod_ip: str


class Spec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    scheduler_name: str = ""
    priority: int = 0


def decoded(of: Record) -> Json:
    tree: Json = msgspec.json.decode(record.encode(of))
    return tree


@pytest.mark.parametrize(
    "tree",
    [
        {"metadata": {"name": "a", "namespace": "n"}},
        {"metadata": {"name": "a", "namespace": "n"}, "spec": {}},
        {"metadata": {"name": "a", "namespace": "n"}, "spec": {"nodeName": "x"}},
        {"metadata": {"name": "a", "namespace": "n"}, "spec": {"nodeName": "x", "priority": 1}},
        {"metadata": {"name": "a", "namespace": "n"}, "spec": {"v": "nodeName"}, "status": {"phase": "Running"}},
        {"metadata": {"name": "a", "namespace": "n"}, "data": {"nodeName": "line\nbreak"}, "spec": {"a": [1]}},
        {"metadata": {"name": "a", "namespace": "n"}, "data": {"k": "ünï"}, "status": {}},
        {
            "metadata": {
                "name": 'system:"a"',
                "namespace": "n",
                "generateName": "a-",
                "uid": "u-1",
                "resourceVersion": "12",
                "generation": 3,
                "creationTimestamp": "2026-11-30T12:00:00Z",
                "deletionTimestamp": "2026-11-30T12:00:30Z",
                "deletionGracePeriodSeconds": 30,
                "labels": {"app": "web"},
                "annotations": {"note": "x\ny"},
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "blockOwnerDeletion": False}
                ],
                "finalizers": ["a.io/b"],
                "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}],
            },
            "spec": {"nodeName": "x", "a": 1},
            "status": {"phase": "Pending"},
        },
    ],
)
def test_what_goes_in_comes_out(tree: dict[str, Json]) -> None:
    assert decoded(parse.parse_object(POD, tree)) == {"kind": "Pod", "apiVersion": "v1", **tree}


def test_objects_are_on_one_line_however_they_came() -> None:
    text = b'{"metadata": {\n"name": "a", "managedFields": [\n]},\n"data": {\n"k": "v\\n"},\r\n"status": {\n}}'

    encoded = record.encode(parse.parse(CONFIG_MAP, text))

    assert b"\n" not in encoded
    assert b"\r" not in encoded
    assert msgspec.json.decode(encoded)["data"] == {"k": "v\n"}


def test_nulls_are_as_if_absent() -> None:
    metadata = b'{"name":"a","creationTimestamp":null,"labels":null,"managedFields":null}'
    text = b'{"metadata":%b,"spec":null,"status":null}' % metadata

    assert decoded(parse.parse(POD, text)) == {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b'{"metadata":',
        b'{"metadata":{"labels":{"a":1}}}',
        b'{"metadata":{"ownerReferences":[1]}}',
        b'{"metadata":{"name":"a"},"spec":{"a":"\xff\xfe"}}',
        b'{"metadata":{"name":"a"},"status":{"a":"\xff\xfe"}}',
        b'{"metadata":{"name":"a","managedFields":[{"manager":"\xff"}]}}',
        b'{"metadata":{"name":"a"},"spec":{"a":01}}',
        b'{"metadata":{"name":"a"},"spec":[' + b"[" * 100_000 + b"]}",
    ],
)
def test_what_is_no_object_is_a_bad_request(text: bytes) -> None:
    with pytest.raises(BadRequest):
        parse.parse(POD, text)


def test_equal_specs_labels_and_owners_are_held_once_wherever_their_pods_run() -> None:
    one, other = pod("a", node="x", labels={"app": "web"}), pod("b", node="y", labels={"app": "web"})

    assert one.body is other.body
    assert one.shared is other.shared


def test_a_spec_is_read_once_for_all_who_share_it() -> None:
    one = draft(POD, "a", spec={"schedulerName": "mine", "priority": 7, "nodeName": "x"})
    other = draft(POD, "b", spec={"schedulerName": "mine", "priority": 7})

    assert one.body.spec(Spec) == Spec("mine", 7)
    assert one.body.spec(Spec) is other.body.spec(Spec)
    assert pod("c").body.field("spec.priority") == ""


def test_an_actors_status_is_encoded_when_it_is_read() -> None:
    running = pod("a").with_status(Status("Running", "10.0.0.1"))

    assert msgspec.json.decode(record.encode(running))["status"] == {"phase": "Running", "podIp": "10.0.0.1"}
