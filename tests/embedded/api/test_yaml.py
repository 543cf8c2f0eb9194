"""Bodies and answers in YAML, as kube-apiserver v1.37.2 reads and writes them."""

from typing import Final

import pytest

from tests.embedded.api.calling import MAPS, Answered, Server, config_map

YAML: Final = "application/yaml"
READ: Final = {"accept": YAML}
SENT: Final = {"content-type": YAML, "accept": YAML}
DATA: Final = {
    "a": "b\nc\n",
    "a10": "x",
    "a2": "x",
    "base60": "1:20",
    "colon": "a: b",
    "date": "2026-01-01",
    "e": "",
    "float": "1e3",
    "hash": "# a",
    "hex": "0x1f",
    "long": "word " * 18,
    "number": "007",
    "tab": "a\tb",
    "yes": "Yes",
}
TOLD: Final = """\
apiVersion: v1
data:
  a: |
    b
    c
  a2: x
  a10: x
  base60: "1:20"
  colon: 'a: b'
  date: "2026-01-01"
  e: ""
  float: "1e3"
  hash: '# a'
  hex: "0x1f"
  long: 'word word word word word word word word word word word word word word word
    word word word '
  number: "007"
  tab: "a\\tb"
  "yes": "Yes"
kind: ConfigMap
metadata:
  creationTimestamp: \""""


def body(answer: Answered) -> str:
    assert answer.headers["content-type"] == YAML
    return answer.body.decode()


def test_an_object_is_told_in_yaml_to_who_prefers_it() -> None:
    server = Server()
    server.call("POST", MAPS, {"metadata": {"name": "m"}, "data": DATA})

    assert body(server.call("GET", f"{MAPS}/m", headers=READ)).startswith(TOLD)


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/yaml", YAML),
        ("application/yaml, application/json", YAML),
        ("application/json;q=0.1,application/yaml;q=0.9", YAML),
        ("application/json, application/yaml", "application/json"),
        ("application/yaml;q=0.1,application/json;q=0.9", "application/json"),
        ("text/plain, */*", "application/json"),
    ],
)
def test_the_client_says_what_it_prefers(accept: str, media_type: str) -> None:
    assert Server().call("GET", MAPS, headers={"accept": accept}).headers["content-type"] == media_type


def test_lists_tables_and_refusals_are_told_in_yaml_too() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("m", a="b"))

    listed = body(server.call("GET", MAPS, headers=READ))
    table = body(server.call("GET", MAPS, headers={"accept": f"{YAML};as=Table;v=v1;g=meta.k8s.io"}))
    refused = body(server.call("GET", f"{MAPS}/y", headers=READ))

    assert listed.startswith("apiVersion: v1\nitems:\n- data:\n    a: b\n")
    assert table.startswith("apiVersion: meta.k8s.io/v1\ncolumnDefinitions:\n- description: ")
    assert refused == (
        'apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: "y"\nkind: Status\n'
        'message: configmaps "y" not found\nmetadata: {}\nreason: NotFound\nstatus: Failure\n'
    )


def test_a_body_in_yaml_makes_an_object() -> None:
    server = Server()

    made = body(server.call("POST", MAPS, b"metadata:\n  name: z\ndata: {a: 'b'}\n", SENT))
    put = body(server.call("PUT", f"{MAPS}/z", b"metadata:\n  name: z\ndata: {a: 'c'}\n", SENT))

    assert made.startswith("apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\n")
    assert put.startswith("apiVersion: v1\ndata:\n  a: c\nkind: ConfigMap\n")


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"{", "did not find expected node content ({)"),
        (b"a: [b", "did not find expected ',' or ']' (613a205b62)"),
    ],
)
def test_what_is_no_yaml_is_told_in_the_words_of_go(sent: bytes, why: str) -> None:
    refused = Server().call("POST", MAPS, sent, {"content-type": YAML}).message

    assert refused == f"the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: {why}"


def test_an_applied_configuration_that_is_no_yaml_is_no_patch() -> None:
    headers = {"content-type": "application/apply-patch+yaml"}

    refused = Server().call("PATCH", f"{MAPS}/m?fieldManager=x", b"{", headers)

    why = "error decoding patch: error converting YAML to JSON: yaml: line 1: did not find expected node content"
    assert (refused.code, refused.reason, refused.message) == (400, "BadRequest", why)


def test_numbers_are_told_as_go_tells_them() -> None:
    server = Server()
    version = {"name": "v1", "served": True, "storage": True}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [{**version, "schema": schema}],
    }
    made = {"metadata": {"name": "things.example.com"}, "spec": spec}
    server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", made)
    things = "/apis/example.com/v1/namespaces/default/things"
    numbers = {"1": 2, "big": 1.0, "f": 1.5, "g": 1e30, "i": 12345678901234567, "n": None, "ll": [[1, [2]], [{"a": 1}]]}
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": numbers}
    server.call("POST", things, thing)

    told = body(server.call("GET", f"{things}/t", headers=READ))

    assert told.partition("\nspec:\n")[2] == (
        '  "1": 2\n  big: 1\n  f: 1.5\n  g: 1e+30\n  i: 12345678901234567\n'
        '  ll:\n  - - 1\n    - - 2\n  - - a: 1\n  "n": null\n'
    )


def test_a_watch_is_not_told_in_yaml() -> None:
    refused = Server().call("GET", f"{MAPS}?watch=true", headers=READ)

    assert refused.code == 406
    assert "application/json;stream=watch,\n  application/vnd.kubernetes.protobuf;stream=watch'" in body(refused)


@pytest.mark.parametrize(
    ("path", "accept", "message", "details"),
    [
        (
            f"{MAPS}/m",
            "text/plain",
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf",
            {},
        ),
        (
            MAPS,
            "application/*",
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch",
            {},
        ),
        ("/version", YAML, "406: Not Acceptable\n\nAvailable representations: application/json", {}),
        (
            MAPS,
            "application/json;as=Foo;v=v1;g=meta.k8s.io",
            "only the following media types are accepted: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf",
            None,
        ),
    ],
)
def test_a_form_that_there_is_not_is_refused_by_the_forms_that_there_are(
    path: str, accept: str, message: str, details: object
) -> None:
    server = Server()
    server.call("POST", MAPS, config_map("m"))

    refused = server.call("GET", path, headers={"accept": f"{accept}", "user-agent": "x"})

    assert refused.code == 406
    if accept != YAML:
        assert (refused.message, refused.tree.get("details")) == (message, details)
    else:
        assert "details: {}\n" in body(refused)
