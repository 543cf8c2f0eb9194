"""Requests with protobuf bodies: read like JSON ones, and refused in a real server's words (v1.37.2)."""

import pytest

from tests.embedded.api.calling import JSON, MAPS, PODS, Server, config_map, pod
from tests.kube.protobuf.encoder import body, encoded, field, named

PROTOBUF = {"content-type": "application/vnd.kubernetes.protobuf"}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "main", "image": "nginx:1", "ports": [{"containerPort": 80}]}]},
        },
    },
}
SECRET = 'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown'
NO_FOO = 'no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'
NO_MAP = 'no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"'
NO_PREFIX = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "


def custom(server: Server) -> str:
    """The path of a custom kind, now served."""
    schema = {"openAPIV3Schema": {"type": "object"}}
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
    }
    tree = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    assert server.call("POST", CRDS, {**tree, "metadata": {"name": "things.example.com"}}).code == 201
    return "/apis/example.com/v1/namespaces/default/things"


@pytest.mark.parametrize(
    ("path", "tree"), [(PODS, pod("a")), (DEPLOYMENTS, DEPLOYMENT), (MAPS, config_map("a", k="v"))]
)
def test_an_object_in_protobuf_is_the_one_in_json(path: str, tree: dict[str, object]) -> None:
    servers = Server(), Server()

    answers = [
        servers[0].call("POST", path, encoded(tree), PROTOBUF).tree,
        servers[1].call("POST", path, tree, JSON).tree,
    ]

    for answer in answers:
        answer["metadata"].pop("managedFields", None)
    assert answers[0] == answers[1]


def test_an_object_is_replaced_by_one_in_protobuf() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a", k="v"))

    replaced = server.call("PUT", f"{MAPS}/a", encoded(config_map("a", other="w")), PROTOBUF)

    assert (replaced.code, replaced.tree["data"]) == (200, {"other": "w"})


def test_unknown_fields_in_protobuf_are_dropped_even_when_strict() -> None:
    sent = body("v1", "ConfigMap", named("a") + field(99, "new"))

    answer = Server().call("POST", f"{MAPS}?fieldValidation=Strict", sent, PROTOBUF)

    assert (answer.code, "warning" in answer.headers) == (201, False)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"", f"{UNRECOGNIZED}empty data (<empty>)"),
        (b"{}", f"{UNRECOGNIZED}{NO_PREFIX} ({{}})"),
        (b"k8s\0", f"{UNRECOGNIZED}empty body (6b387300)"),
        (
            b"k8s\0" + field(2, named("x" * 40))[:-1],
            f"{UNRECOGNIZED}unexpected EOF (6b387300122c0a2a0a28{'78' * 20} ...)",
        ),
        (
            body("v1", "ConfigMap", named("a")[:-1]),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
        ),
        (body("v1", "Secret", named("a")), f"{SECRET} conversion"),
        (body("v1", "Foo", named("a")), f'Foo in version "v1" cannot be handled as a ConfigMap: {NO_FOO}'),
        (
            body("apps/v1", "ConfigMap", named("a")),
            f'ConfigMap in version "v1" cannot be handled as a ConfigMap: {NO_MAP}',
        ),
    ],
)
def test_a_body_that_is_no_such_object_is_refused(sent: bytes, message: str) -> None:
    server = Server()

    for answer in (server.call("POST", MAPS, sent, PROTOBUF), server.call("PUT", f"{MAPS}/a", sent, PROTOBUF)):
        assert (answer.code, answer.reason, answer.message) == (400, "BadRequest", message)


def test_json_of_another_kind_is_refused_in_the_same_words() -> None:
    server = Server()

    secret = server.call("POST", MAPS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}})
    unknown = server.call("POST", MAPS, {"apiVersion": "v1", "kind": "Foo", "metadata": {"name": "a"}})

    assert (secret.code, secret.message) == (400, f"{SECRET} conversion")
    assert unknown.message == f'Foo in version "v1" cannot be handled as a ConfigMap: {NO_FOO}'


def test_delete_options_in_protobuf_are_heeded() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))
    uid = field(2, field(1, "another"))

    dry = server.call("DELETE", f"{MAPS}/a", body("v1", "DeleteOptions", field(5, "All")), PROTOBUF)
    other = server.call("DELETE", f"{MAPS}/a", body("apps/v1", "DeleteOptions", uid), PROTOBUF)

    assert (dry.code, dry.tree["status"]) == (200, "Success")
    assert (other.code, other.reason) == (409, "Conflict")
    assert server.call("DELETE", f"{MAPS}/a", body("v1", "DeleteOptions", field(4, "Background")), PROTOBUF).code == 200
    assert server.call("GET", f"{MAPS}/a").code == 404


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (body("v1", "ConfigMap", named("a")), NO_MAP.replace("apps/v1", "v1")),
        (body("v1", "Foo", named("a")), NO_FOO),
        (b"k8s\0\xff", "unexpected EOF"),
        (b"{}", NO_PREFIX),
    ],
)
def test_other_than_delete_options_is_refused(sent: bytes, message: str) -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))

    answer = server.call("DELETE", f"{MAPS}/a", sent, PROTOBUF)

    assert (answer.code, answer.reason, answer.message) == (400, "BadRequest", message)


def test_pods_are_bound_and_evicted_and_scales_set_in_protobuf() -> None:
    server = Server()
    server.call("POST", PODS, pod("a"))
    server.call("POST", DEPLOYMENTS, DEPLOYMENT)
    binding = body("v1", "Binding", named("a") + field(2, field(1, "Node") + field(3, "n1")))
    scale = body("autoscaling/v1", "Scale", named("web") + field(2, field(1, 5)))

    assert server.call("POST", f"{PODS}/a/binding", binding, PROTOBUF).code == 201
    assert server.call("GET", f"{PODS}/a").tree["spec"]["nodeName"] == "n1"
    assert server.call("PUT", f"{DEPLOYMENTS}/web/scale", scale, PROTOBUF).tree["spec"] == {"replicas": 5}
    eviction = body("policy/v1", "Eviction", named("a") + field(2, field(1, 0)))
    assert server.call("POST", f"{PODS}/a/eviction", eviction, PROTOBUF).code == 201
    assert server.call("GET", f"{PODS}/a").code == 404


@pytest.mark.parametrize(
    ("method", "path", "wanted"),
    [
        ("POST", f"{PODS}/a/binding", "core.Binding"),
        ("POST", f"{PODS}/a/eviction", "policy.Eviction"),
        ("PUT", f"{DEPLOYMENTS}/web/scale", "autoscaling.Scale"),
    ],
)
def test_a_subresource_takes_its_own_kind_alone(method: str, path: str, wanted: str) -> None:
    server = Server()
    server.call("POST", PODS, pod("a"))
    server.call("POST", DEPLOYMENTS, DEPLOYMENT)
    kind = wanted.partition(".")[2]
    message = f'Secret in version "v1" cannot be handled as a {kind}: converting (v1.Secret) to ({wanted}): unknown'

    in_protobuf = server.call(method, path, body("v1", "Secret", named("a")), PROTOBUF)
    in_json = server.call(method, path, {"apiVersion": "v1", "kind": "Secret"})

    assert (in_protobuf.code, in_protobuf.message) == (400, f"{message} conversion")
    assert (in_json.code, in_json.message) == (400, f"{message} conversion")


def test_custom_resources_have_no_protobuf() -> None:
    server = Server()
    path = custom(server)
    thing = body("example.com/v1", "Thing", named("a"))
    unknown = "the body of the request was in an unknown format - accepted media types include: application/json"

    for answer in (server.call("POST", path, thing, PROTOBUF), server.call("PUT", f"{path}/a", thing, PROTOBUF)):
        assert (answer.code, answer.reason) == (415, "UnsupportedMediaType")
        assert answer.message == f"{unknown}, application/yaml"
    server.call("POST", path, {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}})
    patched = server.call("PATCH", f"{path}/a", thing, PROTOBUF)
    assert (patched.code, patched.message) == (
        415,
        f"{unknown}-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
    options = body("v1", "DeleteOptions", field(4, "Background"))
    assert server.call("DELETE", f"{path}/a", options, PROTOBUF).code == 200


def test_patches_have_no_protobuf() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))

    answer = server.call("PATCH", f"{MAPS}/a", encoded(config_map("a", k="v")), PROTOBUF)

    assert (answer.code, answer.reason, answer.message) == (
        415,
        "UnsupportedMediaType",
        "415: Unsupported Media Type",
    )


def test_a_body_of_an_unknown_form_is_told_those_that_are_read() -> None:
    answer = Server().call("POST", MAPS, b"<a/>", {"content-type": "text/xml"})

    assert (answer.code, answer.message) == (
        415,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf",
    )
