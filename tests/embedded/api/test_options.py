"""Options that make no sense are refused in a real server's words (kube-apiserver v1.37.2), and nothing is done."""

from typing import Final

import pytest

from baseload.embedded.api import duplicates
from tests.embedded.api.calling import JSON, MAPS, MERGE, PODS, Answered, Server, config_map

TABLE: Final = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
MATCH: Final = "resourceVersionMatch"
DRY: Final = 'dryRun: Unsupported value: ["Some"]: supported values: "All"'
YAML: Final = {"content-type": "application/yaml"}


def told(answer: Answered) -> tuple[int, str, str]:
    return answer.code, answer.reason, answer.message


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("limit=99999999999999999999", 400, 'strconv.ParseInt: parsing "99999999999999999999": value out of range'),
        ("watch=1&timeoutSeconds=1s", 400, 'strconv.ParseInt: parsing "1s": invalid syntax'),
        (
            "resourceVersion=x",
            400,
            'invalid resource version: resourceVersion: Invalid value: "x": '
            'strconv.ParseUint: parsing "x": invalid syntax',
        ),
        (
            "resourceVersion=-1",
            400,
            'invalid resource version: resourceVersion: Invalid value: "-1": '
            'strconv.ParseUint: parsing "-1": invalid syntax',
        ),
        (
            f"{MATCH}=Never",
            422,
            f'ListOptions.meta.k8s.io "" is invalid: [{MATCH}: Forbidden: {MATCH} is forbidden unless resourceVersion '
            f'is provided, {MATCH}: Unsupported value: "Never": supported values: "Exact", "NotOlderThan", ""]',
        ),
        (
            f"{MATCH}=Exact",
            422,
            f'ListOptions.meta.k8s.io "" is invalid: {MATCH}: Forbidden: {MATCH} is forbidden unless resourceVersion '
            "is provided",
        ),
        (
            "sendInitialEvents=true",
            422,
            'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for '
            "list",
        ),
        (
            "watch=1&sendInitialEvents=true",
            422,
            f'ListOptions.meta.k8s.io "" is invalid: {MATCH}: Forbidden: sendInitialEvents requires setting {MATCH} to '
            "NotOlderThan",
        ),
        (
            f"watch=1&resourceVersion=1&{MATCH}=NotOlderThan",
            422,
            f'ListOptions.meta.k8s.io "" is invalid: {MATCH}: Forbidden: {MATCH} is forbidden for watch unless '
            "sendInitialEvents is provided",
        ),
    ],
)
def test_a_list_or_watch_is_refused(query: str, code: int, message: str) -> None:
    answer = Server().call("GET", f"{PODS}?{query}")

    assert told(answer) == (code, {400: "BadRequest", 422: "Invalid"}[code], message)


def test_causes_of_refused_options_name_the_field() -> None:
    answer = Server().call("GET", f"{PODS}?sendInitialEvents=true")

    message = "Forbidden: sendInitialEvents is forbidden for list"
    assert answer.tree["details"] == {
        "group": "meta.k8s.io",
        "kind": "ListOptions",
        "causes": [{"reason": "FieldValueForbidden", "message": message, "field": "sendInitialEvents"}],
    }


def test_a_negative_limit_or_time_is_taken_as_it_is_elsewhere() -> None:
    server = Server()

    assert server.call("GET", f"{PODS}?limit=-1").code == 200
    assert server.call("GET", f"{PODS}?watch=1&timeoutSeconds=-1").body == b""  # a watch that ends at once


@pytest.mark.parametrize("no", ["0", "false", "False", "FALSE"])
def test_whatever_does_not_say_no_says_yes(no: str) -> None:
    server = Server()
    server.closing.is_set = True

    assert server.call("GET", f"{PODS}?watch={no}").tree["kind"] == "PodList"
    for yes in ("1", "true", "x", ""):
        assert server.call("GET", f"{PODS}?watch={yes}").body == b""


def test_an_object_that_is_named_in_the_path_is_read_and_not_watched() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))

    assert server.call("GET", f"{MAPS}/a?watch=true").tree["kind"] == "ConfigMap"


@pytest.mark.parametrize(
    ("query", "agent", "is_laid_out"),
    [
        ("", "kubectl/v1.37.0", False),
        ("", "curl/8.5.0", True),
        ("?pretty=false", "curl/8.5.0", False),
        ("?pretty=true", "kubectl/v1.37.0", True),
        ("?pretty=1", "", True),
    ],
)
def test_json_is_laid_out_for_people_who_read_it(query: str, agent: str, is_laid_out: bool) -> None:
    answer = Server().call("GET", f"{PODS}{query}", headers={"user-agent": agent})

    assert answer.body.startswith(b'{\n  "kind": "PodList",\n') is is_laid_out
    assert answer.tree["items"] == []


@pytest.mark.parametrize(
    ("method", "query", "message"),
    [
        ("POST", "dryRun=Some", f'CreateOptions.meta.k8s.io "" is invalid: {DRY}'),
        ("PUT", "dryRun=Some", f'UpdateOptions.meta.k8s.io "" is invalid: {DRY}'),
        ("PATCH", "dryRun=Some", f'PatchOptions.meta.k8s.io "" is invalid: {DRY}'),
        ("DELETE", "dryRun=Some", f'DeleteOptions.meta.k8s.io "" is invalid: {DRY}'),
        (
            "PATCH",
            "force=true",
            'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
        ),
        (
            "POST",
            "fieldValidation=Some",
            'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Some": supported values: '
            '"", "Ignore", "Strict", "Warn"',
        ),
        (
            "POST",
            f"fieldManager={'x' * 129}",
            'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
        ),
        (
            "DELETE",
            "propagationPolicy=Foo",
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Foo": supported values: '
            '"Foreground", "Background", "Orphan", "nil"',
        ),
        (
            "DELETE",
            "propagationPolicy=Orphan&orphanDependents=true",
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and '
            "deletionPropagation cannot be both set",
        ),
    ],
)
def test_a_write_is_refused_and_nothing_is_done(method: str, query: str, message: str) -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))
    path = MAPS if method == "POST" else f"{MAPS}/a"
    headers = MERGE if method == "PATCH" else JSON

    answer = server.call(method, f"{path}?{query}", b"" if method == "DELETE" else config_map("a"), headers)

    assert told(answer) == (422, "Invalid", message)
    assert server.call("GET", f"{MAPS}/a").code == 200


def test_a_delete_that_does_not_know_its_dry_run_deletes_nothing() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))

    answer = server.call("DELETE", f"{MAPS}/a", {"dryRun": ["Some"]})

    assert told(answer) == (422, "Invalid", f'DeleteOptions.meta.k8s.io "" is invalid: {DRY}')
    assert server.call("DELETE", f"{MAPS}/a", {"dryRun": ["All"]}).code == 200
    assert server.call("DELETE", f"{MAPS}/a", {"gracePeriodSeconds": -1}).code == 200
    assert server.call("GET", f"{MAPS}/a").code == 404


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("%2e%2e", "Name parameter invalid: \"..\": may not be '..'"),
        ("%2e", "Name parameter invalid: \".\": may not be '.'"),
        ("a%25b", "Name parameter invalid: \"a%b\": may not contain '%'"),
    ],
)
def test_a_name_that_could_be_a_path_is_refused(name: str, message: str) -> None:
    for method in ("GET", "DELETE"):
        assert told(Server().call(method, f"{PODS}/{name}")) == (400, "BadRequest", message)


def test_a_table_is_asked_for_with_what_it_includes() -> None:
    answer = Server().call("GET", f"{PODS}?includeObject=Some", headers=TABLE)

    why = "includeObject: Invalid value: \"Some\": must be 'Metadata', 'Object', 'None', or empty"
    assert told(answer) == (400, "BadRequest", f"Unable to convert to Table as requested: {why}")


TWICE: Final = b'{"metadata":{"name":"b","name":"a"},"data":{"x":"1","x":"2"},"foo":[{"y":1,"y":2}]}'


def test_a_field_that_stands_twice_is_refused_warned_about_or_let_pass_as_asked() -> None:
    server = Server()

    strict = server.call("POST", f"{MAPS}?fieldValidation=Strict", TWICE)
    twice = 'duplicate field "metadata.name", duplicate field "data.x", duplicate field "foo[0].y"'
    assert told(strict) == (
        400,
        "BadRequest",
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        f'{twice}, unknown field "foo"',
    )
    warned = server.call("POST", f"{MAPS}?fieldValidation=Warn&dryRun=All", TWICE)
    assert (warned.code, warned.headers["warning"]) == (201, '299 - "unknown field \\"foo\\""')
    passed = server.call("POST", f"{MAPS}?fieldValidation=Ignore", TWICE)
    assert (passed.code, passed.tree["metadata"]["name"], passed.tree["data"]) == (201, "a", {"x": "2"})


def test_escapes_and_spaces_are_not_taken_for_fields_that_stand_twice() -> None:
    body = b'{ "metadata" : {"name": "\\u0061"},\n "data": {"x": "\\u00e9\\/", "y": "1"} }'

    answer = Server().call("POST", f"{MAPS}?fieldValidation=Strict", body)

    assert (answer.code, answer.tree["data"]) == (201, {"x": "\u00e9/", "y": "1"})


def _bomb() -> bytes:
    lines = ["metadata: {name: a}", "data:", "  a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefghi", "bcdefghij", strict=True):
        lines.append(f"  {name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (_bomb(), "aliases stand for more than"),
        (b"[" * 50_000, "nesting depth"),
        (b": : :", "yaml: did not find expected key"),
        (b"{a: &a [*a]}", "yaml: an alias points at a value that contains it"),
        (b"\xff\xfe\x00", "yaml: invalid leading UTF-8 octet"),
    ],
)
def test_yaml_that_grows_without_end_or_is_none_is_refused(body: bytes, words: str) -> None:
    answer = Server().call("POST", MAPS, body, YAML)

    assert (answer.code, answer.reason) == (400, "BadRequest")
    assert words in answer.message


def test_a_map_in_braces_need_not_be_json() -> None:
    answer = Server().call("POST", MAPS, b"{metadata: {name: a}, data: {x: y}}", YAML)

    assert (answer.code, answer.tree["data"]) == (201, {"x": "y"})


@pytest.mark.parametrize(
    "body",
    [
        b'\xef\xbb\xbf{"metadata":{"name":"a"}}',
        b'{"metadata":{"name":"a","generation":1e400}}',
        b'{"metadata":{"name":"a","generation":' + b"9" * 6000 + b"}}",
        b'{"metadata":{"name":"a"}} x',
        b"\x1f\x8b\x08\x00",
    ],
)
def test_json_with_more_than_json_in_it_is_refused(body: bytes) -> None:
    answer = Server().call("POST", MAPS, body)

    assert (answer.code, answer.reason, answer.tree["kind"]) == (400, "BadRequest", "Status")
    assert answer.message


@pytest.mark.parametrize("text", [b"\\ud800", b"\xff"])
def test_text_that_is_no_unicode_becomes_the_sign_for_that(text: bytes) -> None:
    answer = Server().call("POST", MAPS, b'{"metadata":{"name":"a"},"data":{"x":"%b"}}' % text)

    assert (answer.code, answer.tree["data"]) == (201, {"x": "\ufffd"})


def test_nothing_is_an_object_without_a_name() -> None:
    answer = Server().call("POST", MAPS, b"null")

    assert (answer.code, answer.reason) == (422, "Invalid")


def test_a_name_with_a_zero_in_it_is_no_name_and_data_may_hold_one() -> None:
    server = Server()

    assert server.call("POST", MAPS, b'{"metadata":{"name":"a\\u0000"}}').code == 422
    kept = server.call("POST", MAPS, b'{"metadata":{"name":"a"},"data":{"x":"a\\u0000b"}}')
    assert (kept.code, kept.tree["data"]["x"]) == (201, "a\0b")


def test_of_very_many_fields_that_stand_twice_a_hundred_are_told() -> None:
    assert duplicates.paths(b'{"a":0' + b',"a":0' * 500 + b"}") == ["a"] * 100
