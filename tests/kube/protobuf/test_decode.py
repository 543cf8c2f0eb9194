"""What a protobuf body is read as: the JSON that Go's own types would be written as."""

import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.kube.protobuf import decode as decoding
from baseload.kube.protobuf import table
from baseload.kube.protobuf.decode import decode
from baseload.kube.protobuf.wire import ProtobufError
from tests.kube.protobuf import trees
from tests.kube.protobuf.encoder import body, encoded, field, message, named, varint

KINDS = sorted(table.kinds())
SEEDS = st.integers(0, 2**32)


def config_map(octets: bytes) -> bytes:
    return body("v1", "ConfigMap", octets)


def refusal(sent: bytes) -> str:
    with pytest.raises(ProtobufError) as caught:
        decode(sent)
    return str(caught.value)


@settings(max_examples=300)
@given(kind=st.sampled_from(KINDS), seed=SEEDS)
def test_what_is_encoded_is_decoded(kind: str, seed: int) -> None:
    tree = trees.tree(kind, seed)

    assert decode(encoded(tree)) == tree


@given(kind=st.sampled_from(KINDS), seed=SEEDS, left=st.integers(0, 10_000))
def test_a_body_that_is_cut_off_is_refused(kind: str, seed: int, left: int) -> None:
    whole = message(table.kinds()[kind], trees.tree(kind, seed)) or named("x")
    head = b"k8s\0" + field(1, field(1, "v1") + field(2, kind)) + varint(2 << 3 | 2) + varint(len(whole))

    assert refusal(head + whole[: left % len(whole)]) == "unexpected EOF"


def test_zeros_are_there_where_go_does_not_leave_them_out() -> None:
    container = field(1, "main") + field(2, "") + field(18, 0)
    sent = body("v1", "Pod", named("p") + field(2, field(2, container) + field(4, 0) + field(5, 0)))

    assert decode(sent) == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "main", "resources": {}}],
            "terminationGracePeriodSeconds": 0,
            "activeDeadlineSeconds": 0,
        },
        "status": {},
    }


def test_a_pointer_to_zero_stays_and_one_to_nothing_is_absent() -> None:
    empty = {"selector": None, "template": {"metadata": {}, "spec": {"containers": None}}, "strategy": {}}

    assert decode(body("apps/v1", "Deployment", field(2, field(1, 0))))["spec"] == {**empty, "replicas": 0}
    assert decode(body("apps/v1", "Deployment", b""))["spec"] == empty


def test_lists_and_maps_that_json_must_have_are_null_when_empty() -> None:
    assert decode(body("rbac.authorization.k8s.io/v1", "Role", named("r")))["rules"] is None
    assert "data" not in decode(config_map(named("c")))


def test_an_inlined_struct_lies_in_the_object_that_holds_it() -> None:
    volume = field(1, "data") + field(2, field(2, field(1, "Memory")))
    spec: Any = decode(body("v1", "Pod", field(2, field(1, volume))))["spec"]

    assert spec["volumes"] == [{"name": "data", "emptyDir": {"medium": "Memory"}}]


def test_what_an_inlined_struct_must_have_is_there_too() -> None:
    spec: Any = decode(body("v1", "Pod", field(2, field(34, field(1, field(2, "busybox"))))))["spec"]

    assert spec["ephemeralContainers"] == [{"name": "", "image": "busybox", "resources": {}}]


@pytest.mark.parametrize(
    ("octets", "value"),
    [
        (field(1, 0) + field(2, 8080) + field(3, ""), 8080),
        (field(1, 1) + field(2, 0) + field(3, "50%"), "50%"),
        (field(1, 0) + field(2, -1), -1),
        (b"", 0),
    ],
)
def test_a_number_or_word_is_what_its_type_says(octets: bytes, value: int | str) -> None:
    spec: Any = decode(body("policy/v1", "PodDisruptionBudget", field(2, field(1, octets))))["spec"]

    assert spec["minAvailable"] == value


def test_instants_are_written_as_kubernetes_writes_them() -> None:
    at = field(1, 1_796_040_005) + field(2, 123_456_789)
    event: Any = decode(body("v1", "Event", field(6, at) + field(7, b"") + field(10, at)))
    lease: Any = decode(body("coordination.k8s.io/v1", "Lease", field(2, field(3, b"") + field(4, field(1, 0)))))

    assert event["firstTimestamp"] == "2026-11-30T12:00:05Z"
    assert event["lastTimestamp"] is None
    assert event["eventTime"] == "2026-11-30T12:00:05.123456Z"
    assert lease["spec"] == {"acquireTime": None, "renewTime": "1970-01-01T00:00:00.000000Z"}


def test_an_instant_that_is_none_is_left_out_of_metadata() -> None:
    assert decode(config_map(field(1, field(8, b""))))["metadata"] == {}


def test_a_schema_is_written_as_openapi_has_it() -> None:
    count = field(5, "integer") + varint(9 << 3 | 1) + struct.pack("<d", 100) + field(8, field(1, "7"))
    strings = field(5, "array") + field(24, field(1, field(5, "string")))
    tuples = field(24, field(2, field(5, "string")) + field(2, field(5, "integer")))
    free = field(30, field(1, 1)) + field(33, field(2, field(5, "string")))
    depends = field(32, field(1, "a") + field(2, field(2, "b"))) + field(32, field(1, "c") + field(2, field(1, free)))
    properties = {"count": count, "strings": strings, "tuples": tuples, "free": free, "depends": depends}
    schema = b"".join(field(29, field(1, name) + field(2, octets)) for name, octets in properties.items())
    version = field(1, "v1") + field(4, field(1, schema))
    spec: Any = decode(body("apiextensions.k8s.io/v1", "CustomResourceDefinition", field(2, field(7, version))))["spec"]

    told = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    bare = {"additionalProperties": True, "additionalItems": {"type": "string"}}
    assert told == {
        "count": {"type": "integer", "maximum": 100, "default": 7},
        "strings": {"type": "array", "items": {"type": "string"}},
        "tuples": {"items": [{"type": "string"}, {"type": "integer"}]},
        "free": bare,
        "depends": {"dependencies": {"a": ["b"], "c": bare}},
    }
    assert json.dumps(told["count"]["maximum"]) == "100"


def test_bytes_are_base64_and_quantities_canonical() -> None:
    secret = decode(body("v1", "Secret", named("s") + field(2, field(1, "k") + field(2, b"\0\xff"))))
    quota: Any = decode(body("v1", "ResourceQuota", field(2, field(1, field(1, "cpu") + field(2, field(1, "1000m"))))))

    assert secret["data"] == {"k": "AP8="}
    assert quota["spec"]["hard"] == {"cpu": "1"}


def test_json_in_a_message_is_json_in_the_tree() -> None:
    entry = field(1, "kubectl") + field(7, field(1, b'{"f:data":{}}'))
    metadata: Any = decode(config_map(field(1, field(17, entry))))["metadata"]
    revision = decode(body("apps/v1", "ControllerRevision", field(2, field(1, b'{"spec":{}}')) + field(3, 1)))

    assert metadata["managedFields"] == [{"manager": "kubectl", "fieldsV1": {"f:data": {}}}]
    assert (revision["data"], revision["revision"]) == ({"spec": {}}, 1)


def test_numbers_come_packed_or_one_by_one() -> None:
    context = field(4, 7) + field(4, varint(8) + varint(9))
    spec: Any = decode(body("v1", "Pod", field(2, field(14, context))))["spec"]

    assert spec["securityContext"] == {"supplementalGroups": [7, 8, 9]}


def test_the_last_of_several_counts_and_messages_add_up() -> None:
    twice = field(1, field(1, "a") + field(3, "x")) + field(1, field(1, "b")) + field(4, 1) + field(4, 0)

    assert decode(config_map(twice)) == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "b", "namespace": "x"},
        "immutable": False,
    }
    assert decode(config_map(named("a") + named("")))["metadata"] == {}
    at = field(8, field(1, 5)) + field(8, field(1, 0))
    assert decode(config_map(field(1, at)))["metadata"] == {"creationTimestamp": "1970-01-01T00:00:00Z"}


def test_fields_that_nobody_knows_are_passed_over() -> None:
    group = varint(51 << 3 | 3) + field(1, "in it") + varint(51 << 3 | 4)
    fixed = varint(52 << 3 | 1) + b"8 octets" + varint(53 << 3 | 5) + b"four"

    tree = decode(config_map(field(50, "x") + field(49, 7) + group + fixed + named("c")))

    assert tree["metadata"] == {"name": "c"}


def test_text_that_is_no_utf_8_is_replaced_as_in_go() -> None:
    tree = decode(config_map(field(2, field(1, "k") + field(2, b"a\xff\xe2\x82z"))))

    assert tree["data"] == {"k": "a\ufffd\ufffd\ufffdz"}


def test_kind_and_version_may_come_from_the_path() -> None:
    bare = b"k8s\0" + field(2, named("c"))

    tree = decode(bare, api_version="v1", kind="ConfigMap")

    assert (tree["apiVersion"], tree["kind"], tree["metadata"]) == ("v1", "ConfigMap", {"name": "c"})
    assert refusal(bare) == """Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:"", Kind:""}'"""
    assert refusal(body("", "Pod", b"")).startswith("Object 'apiVersion' is missing in")


def test_delete_options_are_of_every_group() -> None:
    tree = decode(body("apps/v1", "DeleteOptions", field(1, 0) + field(4, "Orphan") + field(5, "All")))

    assert tree == {
        "kind": "DeleteOptions",
        "apiVersion": "apps/v1",
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Orphan",
        "dryRun": ["All"],
    }


# Every text but the last three is a real server's (v1.37.2).
@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "empty data"),
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0", "empty body"),
        (config_map(named("a"))[:-5], "unexpected EOF"),
        (config_map(named("a")[:-1]), "unexpected EOF"),
        (config_map(b"\xff" * 11), "proto: integer overflow"),
        (config_map(b"\xff" * 3), "unexpected EOF"),
        (config_map(varint(1 << 3 | 2) + varint(-1)), "proto: negative length found during unmarshaling"),
        (config_map(field(1, 5)), "proto: wrong wireType = 0 for field ObjectMeta"),
        (b"k8s\0" + field(1, 3), "proto: wrong wireType = 0 for field TypeMeta"),
        (config_map(b"\x0c"), "proto: ConfigMap: wiretype end group for non-group"),
        (config_map(b"\x02\x00"), "proto: ConfigMap: illegal tag 0 (wire type 2)"),
        (config_map(varint(99 << 3 | 7) + b"\0"), "proto: illegal wireType 7"),
        (config_map(varint(99 << 3 | 3) * 3), "unexpected EOF"),
        (body("v1", "Foo", b""), 'no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'),
        (
            body("v1", "ResourceQuota", field(2, field(1, field(1, "cpu") + field(2, field(1, "1O0"))))),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (body("policy/v1", "PodDisruptionBudget", field(2, field(1, field(1, 7)))), "impossible IntOrString.Type"),
        (
            body("v1", "Event", field(6, field(1, 2**62))),
            "Time.MarshalJSON: year outside of range [0,9999]",
        ),
        (body("apps/v1", "ControllerRevision", field(2, field(1, b"{"))), "json parse error: Input data was truncated"),
    ],
)
def test_bytes_that_are_no_message_are_refused_in_the_words_of_a_server(sent: bytes, words: str) -> None:
    assert refusal(sent) == words


def test_what_lies_too_deep_is_refused() -> None:
    schema = b""
    for _ in range(decoding.DEEPEST):
        schema = field(28, schema)  # not: not: not: ...
    version = field(1, "v1") + field(4, field(1, schema))
    sent = body("apiextensions.k8s.io/v1", "CustomResourceDefinition", field(2, field(7, version)))

    assert refusal(sent) == "the body is nested too deeply"


@pytest.mark.parametrize(
    "sent",
    [
        body("v1", "Pod", field(2, field(2, b"") * 150_000)),  # two bytes each, and a map of zeros in the tree
        body("v1", "Pod", field(2, field(2, field(3, "") * 200_001))),
        body("v1", "Pod", field(2, field(14, field(4, b"\1" * 200_001)))),
        config_map(field(2, b"") * 200_001),
        config_map(field(1, field(1, "x" * 2_000_000)) + field(1, field(1, "y" * 2_000_000))),
    ],
    ids=["messages", "texts", "numbers", "entries", "repeated"],
)
def test_more_values_than_a_body_can_sensibly_hold_are_refused(sent: bytes) -> None:
    assert refusal(sent) == "the body holds more than 200000 values"
