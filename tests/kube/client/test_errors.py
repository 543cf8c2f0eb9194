"""What a server refuses is an error of its kind, and the kinds are those that the docstring draws."""

import textwrap
from collections.abc import Iterator

import msgspec
import pytest

from baseload.kube.client import errors
from baseload.kube.client.errors import ApiError, Cause
from baseload.values.errors import BaseloadError


def drawn(docstring: str) -> list[tuple[int, str]]:
    """The (depth, name) lines of the tree, which is the docstring's second paragraph."""
    lines = textwrap.dedent(docstring.split("\n\n")[1]).splitlines()
    return [((len(line) - len(line.lstrip())) // 4, line.split()[0]) for line in lines]


def walked(error: type[BaseloadError], depth: int) -> Iterator[tuple[int, str]]:
    yield depth, error.__name__
    for kind in error.__subclasses__():
        yield from walked(kind, depth + 1)


def test_the_docstring_draws_the_tree_of_errors() -> None:
    assert drawn(errors.__doc__ or "") == [(0, "BaseloadError"), *walked(ApiError, 1)]


def status(code: int, reason: str, **more: object) -> bytes:
    told = {"kind": "Status", "status": "Failure", "message": "why", "reason": reason, "code": code, **more}
    return msgspec.json.encode(told)


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", errors.BadRequest),
        (401, "Unauthorized", errors.Unauthorized),
        (403, "Forbidden", errors.Forbidden),
        (404, "NotFound", errors.NotFound),
        (405, "MethodNotAllowed", errors.BadRequest),
        (409, "AlreadyExists", errors.AlreadyExists),
        (409, "Conflict", errors.Conflict),
        (410, "Expired", errors.Gone),
        (410, "Gone", errors.Gone),
        (413, "RequestEntityTooLarge", errors.BadRequest),
        (415, "UnsupportedMediaType", errors.BadRequest),
        (422, "Invalid", errors.Invalid),
        (429, "TooManyRequests", errors.TooManyRequests),
        (500, "InternalError", errors.ServerFailed),
        (503, "ServiceUnavailable", errors.ServerFailed),
        (504, "Timeout", errors.Timeout),
    ],
)
def test_code_and_reason_make_the_kind(code: int, reason: str, kind: type[ApiError]) -> None:
    error = errors.of_answer(code, status(code, reason), {})
    assert type(error) is kind
    assert (str(error), error.code, error.reason) == ("why", code, reason)


def test_a_conflict_of_field_managers_carries_them() -> None:
    causes = [{"reason": "FieldManagerConflict", "message": 'conflict with "kubectl"', "field": ".spec.replicas"}]
    error = errors.of_answer(409, status(409, "Conflict", details={"causes": causes}), {})
    assert type(error) is errors.ApplyConflict
    assert error.causes == (Cause("FieldManagerConflict", 'conflict with "kubectl"', ".spec.replicas"),)


def test_causes_that_are_none_leave_the_error_as_it_is() -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "why", "field": None}, None, "so"]
    error = errors.of_answer(422, status(422, "Invalid", details={"causes": causes}), {})
    assert type(error) is errors.Invalid
    assert error.causes == (Cause("FieldValueInvalid", "why"), Cause(message="null"), Cause(message='"so"'))


def test_the_wait_is_that_of_the_header_else_that_of_the_details() -> None:
    body = status(429, "TooManyRequests", details={"retryAfterSeconds": 2})
    assert errors.of_answer(429, body, {}).retry_after == 2
    assert errors.of_answer(429, body, {"retry-after": "7"}).retry_after == 7
    assert errors.of_answer(429, body, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}).retry_after == 2


def test_a_list_that_is_gone_says_where_it_may_go_on() -> None:
    assert errors.of_answer(410, status(410, "Expired", metadata={"continue": "t"}), {}).token == "t"


@pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>", b'{"a": 1}', b"\xff\xfe", b""])
def test_an_answer_that_is_no_status_counts_by_its_code(body: bytes) -> None:
    error = errors.of_answer(502, body, {})
    assert type(error) is errors.ServerFailed
    assert error.code == 502


def test_a_path_that_is_not_served_is_told_as_client_go_tells_it() -> None:
    error = errors.of_answer(404, b"404 page not found\n", {})
    assert type(error) is errors.NotFound
    assert str(error) == "the server could not find the requested resource"


def test_an_answer_without_a_word_says_so() -> None:
    assert str(errors.of_answer(502, b"", {})) == "the server answers 502 without a word"


def test_an_error_without_a_code_and_a_word_says_so() -> None:
    assert str(errors.of_status(errors.Status())) == "the server tells of an error without a word"
