"""Whatever is sent, the answer is a Kubernetes Status with the right code and reason, and the server goes on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embedded.api.calling import JSON, MAPS, MERGE, PODS, Server, config_map, pod

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
BODIES = [
    (b"", 400, "BadRequest"),
    (b"{", 400, "BadRequest"),
    (b"[]", 400, "BadRequest"),
    (b'"text"', 400, "BadRequest"),
    (b"\xff\xfe", 400, "BadRequest"),
    (DEEP, 400, "BadRequest"),
    (b'{"kind":"Pod"}', 400, "BadRequest"),
    (b'{"apiVersion":"v2"}', 400, "BadRequest"),
    (b'{"metadata":[]}', 400, "BadRequest"),
    (b'{"metadata":{"name":7}}', 400, "BadRequest"),
    (b'{"metadata":{"name":"a","labels":{"x":1}}}', 400, "BadRequest"),
    (b'{"metadata":{"name":"a","namespace":"other"}}', 400, "BadRequest"),
    (b'{"metadata":{"name":"a","resourceVersion":"5"}}', 400, "BadRequest"),
    (b'{"metadata":{}}', 422, "Invalid"),
    (b'{"metadata":{"name":"../etc"}}', 422, "Invalid"),
    (b'{"metadata":{"name":"a","labels":{"!":"x"}}}', 422, "Invalid"),
    (b'{"metadata":{"name":"a"},"data":{"x":1}}', 400, "BadRequest"),
]


@pytest.mark.parametrize(("body", "code", "reason"), BODIES)
def test_a_bad_body_is_refused_by_its_reason(body: bytes, code: int, reason: str) -> None:
    server = Server()

    answer = server.call("POST", MAPS, body)

    assert (answer.code, answer.tree["kind"], answer.reason) == (code, "Status", reason)
    assert answer.tree["code"] == code
    assert server.call("POST", MAPS, config_map("fine")).code == 201


HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "unexpected end of JSON input (<empty>)"),
        (b'{"kind":', 'unexpected end of JSON input ({"kind":)'),
        (b'{"kind":"Con', 'unexpected end of JSON input ({"kind":"Con)'),
        (
            b'{"metadata":{"name":"a-long-name-of"}',
            'unexpected end of JSON input ({"metadata":{"name":"a-long-na ...)',
        ),
        (b"- a", f"json: cannot unmarshal array into Go value of type {HEAD} (2d2061)"),
        (b"[]", f"json: cannot unmarshal array into Go value of type {HEAD} (5b5d)"),
        (b'"x"', f"json: cannot unmarshal string into Go value of type {HEAD} (227822)"),
    ],
)
def test_what_is_no_object_is_shown_by_its_beginning(body: bytes, why: str) -> None:
    headers = {"content-type": "application/yaml"} if body == b"- a" else JSON
    answer = Server().call("POST", MAPS, body, headers)

    told = (
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
    )
    assert (answer.code, answer.reason, answer.message) == (400, "BadRequest", told + why)


def test_what_is_no_utf_8_becomes_the_replacement_character() -> None:
    server = Server()
    for number, value in enumerate((b"x\xffy", b"x\\ud800y")):
        made = server.call("POST", MAPS, b'{"metadata":{"name":"m%d"},"data":{"a":"%b"}}' % (number, value))
        assert (made.code, made.tree["data"]) == (201, {"a": "x\ufffdy"})
    patch = b'{"data":{"b":"\xff","c":"\\ud83d\\ude00"}}'
    patched = server.call("PATCH", f"{MAPS}/m0", patch, MERGE)
    assert (patched.code, patched.tree["data"]) == (200, {"a": "x\ufffdy", "b": "\ufffd", "c": "\U0001f600"})
    strict = server.call(
        "POST", f"{MAPS}?fieldValidation=Strict", b'{"metadata":{"name":"s"},"data":{"a":"\xff","a":"2"}}'
    )
    assert (strict.code, 'duplicate field "data.a"' in strict.message) == (400, True)
    refused = server.call("POST", MAPS, b'{"metadata":{"name":"n"},"data":{"a":NaN}}')
    assert (refused.code, refused.reason) == (400, "BadRequest")


@pytest.mark.parametrize("media_type", [MERGE["content-type"], "application/json-patch+json"])
def test_a_patch_that_is_no_json_is_refused(media_type: str) -> None:
    server = Server()
    server.call("POST", MAPS, config_map("m"))
    answer = server.call("PATCH", f"{MAPS}/m", b'{"a"', {"content-type": media_type})
    assert (answer.code, answer.reason, answer.message) == (400, "BadRequest", "invalid JSON patch")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "//api/v1", 404),
        ("GET", "/api/v1/namespaces/a%2Fb/pods", 404),
        ("GET", "/api/v1/nonsense", 404),
        ("GET", "/api/v1/pods/a", 404),
        ("GET", f"{PODS}/a/b/c/d", 404),
        ("GET", f"{PODS}//a", 404),
        ("GET", f"{PODS}/..%2F..%2Fsecrets", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("POST", f"{PODS}/a", 405),
        ("PUT", PODS, 405),
        ("PATCH", PODS, 405),
        ("BREW", PODS, 405),
        ("POST", "/version", 405),
        ("DELETE", f"{PODS}/a/status", 405),
        ("GET", f"{PODS}/a/log", 404),
        ("GET", f"{PODS}?limit=-1", 200),
        ("GET", f"{PODS}?limit=many", 400),
        ("GET", f"{PODS}?continue=abc", 400),
        ("GET", f"{PODS}?labelSelector=a%20b", 400),
        ("GET", f"{PODS}?fieldSelector=spec.absent%3D1", 400),
        ("GET", f"{PODS}?resourceVersion=x", 400),
        ("GET", f"{PODS}?resourceVersion=99999", 504),
        ("GET", f"{PODS}?resourceVersionMatch=Never", 422),
        ("GET", f"{PODS}?includeObject=Some", 200),
        ("POST", f"{PODS}?dryRun=Some", 422),
        ("POST", f"{PODS}?fieldValidation=Some", 422),
    ],
)
def test_a_request_that_makes_no_sense_is_told_so(method: str, path: str, code: int) -> None:
    body = pod("a") if method == "POST" else b""

    answer = Server().call(method, path, body)

    assert answer.code == code
    assert answer.tree["kind"] == ("Status" if code != 200 else "PodList")


def test_a_body_without_bounds_is_refused_before_it_is_read_to_the_end() -> None:
    answer = Server().call("POST", MAPS, b" " * 1_000_000, pieces=200)

    assert (answer.code, answer.reason) == (413, "RequestEntityTooLarge")


@pytest.mark.parametrize(
    ("media_type", "code"),
    [("text/plain", 415), ("application/vnd.kubernetes.protobuf", 400), ("application/cbor", 415)],
)
def test_other_encodings_are_refused_by_name(media_type: str, code: int) -> None:
    answer = Server().call("POST", MAPS, b"k8s\0", {"content-type": media_type})

    assert (answer.code, answer.tree["status"]) == (code, "Failure")


def test_an_answer_that_would_not_be_understood_is_not_given() -> None:
    answer = Server().call("GET", PODS, headers={"accept": "text/html"})

    assert (answer.code, answer.reason) == (406, "NotAcceptable")


@pytest.mark.parametrize(
    ("media_type", "body", "code"),
    [
        ("application/merge-patch+json", b"[]", 400),
        ("application/merge-patch+json", b"{", 400),
        ("application/merge-patch+json", b'{"metadata":7}', 200),
        ("application/merge-patch+json", b'{"metadata":{"name":"other"}}', 400),
        ("application/merge-patch+json", b'{"metadata":{"resourceVersion":"1"}}', 409),
        ("application/merge-patch+json", b'{"metadata":{"uid":"x"}}', 422),
        ("application/json-patch+json", b"{}", 400),
        ("application/json-patch+json", b'[{"op":"remove","path":"/spec"}]', 422),
        ("application/json-patch+json", b'[{"op":"replace","path":"","value":[]}]', 422),
        ("application/strategic-merge-patch+json", b"[]", 400),
        ("application/apply-patch+yaml", b": : :", 400),
        ("application/apply-patch+yaml", b"[]", 400),
        ("application/json", b"{}", 415),
    ],
)
def test_a_patch_that_cannot_be_is_refused(media_type: str, body: bytes, code: int) -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))

    answer = server.call("PATCH", f"{MAPS}/a?fieldManager=m", body, {"content-type": media_type})

    assert answer.code == code, answer.body


def test_an_unknown_field_is_refused_warned_about_or_dropped_as_asked() -> None:
    server = Server()
    body = {**config_map("a"), "dat": {}}

    strict = server.call("POST", f"{MAPS}?fieldValidation=Strict", body)
    warned = server.call("POST", f"{MAPS}?fieldValidation=Warn", body)

    wording = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dat"'
    assert (strict.code, strict.message) == (400, wording)
    assert warned.headers["warning"] == '299 - "unknown field \\"dat\\""'
    assert "dat" not in warned.tree


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["metadata", "spec", "status", "data", "kind", "apiVersion"])


@given(body=st.dictionaries(FIELDS, JSON_VALUES | st.fixed_dictionaries({"name": JSON_VALUES}), max_size=4))
def test_no_object_brings_the_server_down(body: dict[str, object]) -> None:
    server = Server()
    for path in (PODS, MAPS, "/apis/apps/v1/namespaces/default/deployments"):
        assert server.call("POST", path, body).code != 500


@given(body=JSON_VALUES | st.dictionaries(FIELDS, JSON_VALUES, max_size=3))
def test_no_patch_brings_the_server_down(body: object) -> None:
    server = Server()
    server.call("POST", PODS, pod("a"))
    for media_type in ("merge-patch+json", "strategic-merge-patch+json", "json-patch+json"):
        answer = server.call("PATCH", f"{PODS}/a", body, {"content-type": f"application/{media_type}"})
        assert "Internal error" not in answer.message


def test_definitions_that_cannot_be_served_are_refused() -> None:
    server = Server()
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    names = {"plural": "as", "kind": "A"}
    base: dict[str, object] = {"group": "example.com", "scope": "Cluster", "names": names, "versions": []}

    for spec in ({}, base, {**base, "versions": [{"name": "v1", "served": True, "storage": True}]}):
        answer = server.call("POST", path, {"metadata": {"name": "as.example.com"}, "spec": spec}, JSON)
        assert (answer.code, answer.reason) == (422, "Invalid")
    assert server.call("GET", path, headers=MERGE).tree["items"] == []
