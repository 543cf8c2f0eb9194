"""Selectors that are none, refused in the words of kube-apiserver v1.37.2."""

from typing import Final
from urllib.parse import quote

import pytest

from tests.embedded.api.calling import MAPS, PODS, Server

NAME: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
NO_REQUIREMENT: Final = "unable to parse requirement: "
ONLY: Final = 'is not a known field selector: only "metadata.name", "metadata.namespace"'


@pytest.fixture(scope="module")
def server() -> Server:
    return Server()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a in b", f"{NO_REQUIREMENT}found 'b' expected: '('"),
        ("a notin", f"{NO_REQUIREMENT}found '' expected: '('"),
        ("a in (b", f"{NO_REQUIREMENT}found '', expected: ',' or ')'"),
        ("a in (b c)", f"{NO_REQUIREMENT}found 'c', expected: ',' or ')'"),
        ("a in ((", f"{NO_REQUIREMENT}found '(', expected: ',', ')' or identifier"),
        ("a in (b,(", f"{NO_REQUIREMENT}found '(', expected: ',', or identifier"),
        ("!", f"{NO_REQUIREMENT}found '', expected: identifier"),
        ("a=!b", f"{NO_REQUIREMENT}found '!', expected: identifier"),
        ("a b", f"{NO_REQUIREMENT}found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("=b", "found '=', expected: !, identifier, or 'end of string'"),
        ("(a)", "found '(', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("-a=b", f'{NO_REQUIREMENT}<nil>: Invalid value: "-a": {NAME}'),
        ("a=-b", f'{NO_REQUIREMENT}values[0][a]: Invalid value: "-b": {VALUE}'),
        (
            "a in (é,-,ok)",
            f'{NO_REQUIREMENT}[values[0][a]: Invalid value: "-": {VALUE}, values[2][a]: Invalid value: "é": {VALUE}]',
        ),
        (
            "a>x",
            f"{NO_REQUIREMENT}values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ],
)
def test_a_label_selector_that_is_none_is_told_where_it_goes_wrong(server: Server, text: str, said: str) -> None:
    refused = server.call("GET", f"{MAPS}?labelSelector={quote(text)}")

    assert (refused.code, refused.reason, refused.message) == (400, "BadRequest", said)


@pytest.mark.parametrize("text", ["a in ()", "a in (,)", "a in (b,,c)", "a==", "in", "in in (in)", "a=in", "a<1"])
def test_what_only_looks_odd_is_a_label_selector(server: Server, text: str) -> None:
    assert server.call("GET", f"{MAPS}?labelSelector={quote(text)}").code == 200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("metadata.name=a,b", "invalid selector: 'metadata.name=a,b'; can't understand 'b'"),
        ("metadata.name in (q)", "invalid selector: 'metadata.name in (q)'; can't understand 'metadata.name in (q)'"),
        ("metadata.name==q=b", "invalid field selector: unescaped character in value: 61"),
        ("metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"),
        ("metadata.name=a\\b", "invalid field selector: invalid escape sequence: \\b"),
        ("=q", f'"" {ONLY}'),
        ("a!b=c", f'"a!b" {ONLY}'),
        ("status.phase=Running", f'"status.phase" {ONLY}'),
    ],
)
def test_a_field_selector_that_is_none_is_told_why(server: Server, text: str, said: str) -> None:
    refused = server.call("GET", f"{MAPS}?fieldSelector={quote(text)}")

    assert (refused.code, refused.reason, refused.message) == (400, "BadRequest", said)


def test_kinds_that_are_selected_by_fields_of_their_own_have_other_words(server: Server) -> None:
    jobs = "/apis/batch/v1/namespaces/default/jobs"

    said = [server.call("GET", f"{path}?fieldSelector=nope%3Dx").message for path in (PODS, jobs)]

    assert said == ["field label not supported: nope", 'field label "nope" not supported for Job']


def test_replica_sets_are_not_selected_by_their_replicas(server: Server) -> None:
    refused = server.call("GET", "/apis/apps/v1/replicasets?fieldSelector=status.replicas%3D1")

    assert refused.message == f'"status.replicas" {ONLY}'
