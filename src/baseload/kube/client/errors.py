"""Every way in which a request to a Kubernetes API can fail, and what its catcher owes.

BaseloadError
    ApiError                the request was not done, or nobody knows
        BadRequest          the server cannot make sense of it: a defect of whoever asks, never tried again
        Unauthorized        the server does not know who asks: new credentials
        Forbidden           it knows, and refuses: another right, or another time
        NotFound            the object, its namespace or its kind is not there
        AlreadyExists       another object has the name: take another, or update
        Conflict            the object moved on since it was read: read again and decide again
            ApplyConflict   others manage fields that were applied; `causes` say who: leave them out, or force
        Gone                the version is no longer held: list anew
        Invalid             the object breaks a rule; `causes` name the fields
        TooManyRequests     not now: again after `retry_after` seconds
        Timeout             no answer in time; it may have been done: read before it is tried again
        Unreachable         no connection, or it broke; where `was_sent`, it may have been done
        Untrusted           the server is not whom the kubeconfig means: look at its certificate authority and address
        ServerFailed        the server has a defect or is starting or stopping: later

`Client` has tried again what can be (`retry`) before it raises any of them. An answer that was lost and asked for again
may be the echo of one's own success: AlreadyExists, Conflict and NotFound are then found by reading.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from baseload.kube.reading import without_nulls
from baseload.values.errors import BaseloadError

_NO_PATH = "the server could not find the requested resource"  # a server says only that a page was not found
_LONGEST = 300  # characters of an answer that is no Status


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason of a refusal."""

    reason: str = ""
    message: str = ""
    field: str = ""


class ApiError(BaseloadError):
    """The request was not done, or nobody knows; `code` is 0 where there was no answer."""

    code: int = 0
    reason: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after: float = 0.0  # seconds, as the server asks for
    token: str = ""  # where a list that is Gone may go on, at another version


class BadRequest(ApiError):
    """The server cannot make sense of the request."""


class Unauthorized(ApiError):
    """The server does not know who asks."""


class Forbidden(ApiError):
    """The server knows who asks, and refuses."""


class NotFound(ApiError):
    """The object, its namespace or its kind is not there."""


class AlreadyExists(ApiError):
    """Another object has the name."""


class Conflict(ApiError):
    """The object moved on since it was read."""


class ApplyConflict(Conflict):
    """Others manage fields that were applied."""


class Gone(ApiError):
    """The version is no longer held."""


class Invalid(ApiError):
    """The object breaks a rule of its kind."""


class TooManyRequests(ApiError):
    """Not now."""


class Timeout(ApiError):
    """No answer in time."""


class Unreachable(ApiError):
    """No connection, or it broke; `was_sent` where the request may have reached the server."""

    def __init__(self, message: str, *, was_sent: bool = True) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class Untrusted(ApiError):
    """The server could not prove that it is the one that is meant."""


class ServerFailed(ApiError):
    """The server has a defect, or is starting or stopping."""


class _Details(msgspec.Struct, rename="camel"):
    causes: list[msgspec.Raw] | None = None
    retry_after_seconds: int = 0


class _StatusMeta(msgspec.Struct):
    token: str = msgspec.field(default="", name="continue")


class Status(msgspec.Struct, rename="camel"):
    """A Status as a server writes it."""

    kind: str = ""
    status: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    metadata: _StatusMeta | None = None
    details: _Details | None = None


class Codes:
    """Which code and reason is which error."""

    of_code: ClassVar[dict[int, type[ApiError]]] = {
        401: Unauthorized,
        403: Forbidden,
        404: NotFound,
        409: Conflict,
        410: Gone,
        422: Invalid,
        429: TooManyRequests,
        504: Timeout,
    }
    of_reason: ClassVar[dict[str, type[ApiError]]] = {"AlreadyExists": AlreadyExists, "Expired": Gone, "Gone": Gone}


def of_answer(code: int, body: bytes, headers: Mapping[str, str]) -> ApiError:
    """The error that an answer stands for."""
    error = of_status(_status(body, code), code)
    after = headers.get("retry-after", "").strip()
    if after.isascii() and after.isdecimal():
        error.retry_after = float(after)
    return error


def of_status(status: Status, code: int = 0) -> ApiError:
    """The error that a Status stands for; a code of its own counts where the answer has none."""
    code = code or status.code
    details = status.details or _Details()
    causes = tuple(_cause(raw) for raw in details.causes or ())
    told = f"the server answers {code} without a word" if code else "the server tells of an error without a word"
    error = _kind(code, status.reason, causes)(status.message or told)
    error.code, error.reason, error.causes = code, status.reason, causes
    error.retry_after = float(details.retry_after_seconds)
    error.token = status.metadata.token if status.metadata else ""
    return error


def _cause(raw: msgspec.Raw) -> Cause:
    try:
        return msgspec.convert(without_nulls(msgspec.json.decode(raw)), Cause)
    except msgspec.MsgspecError:
        return Cause(message=bytes(raw)[:_LONGEST].decode("utf-8", "replace"))


def _kind(code: int, reason: str, causes: tuple[Cause, ...]) -> type[ApiError]:
    if code == 409 and any(cause.reason == "FieldManagerConflict" for cause in causes):
        return ApplyConflict
    found = Codes.of_reason.get(reason) or Codes.of_code.get(code)
    if found is None:
        return ServerFailed if code >= 500 else BadRequest
    return found


def _status(body: bytes, code: int) -> Status:
    try:
        status = msgspec.json.decode(body, type=Status)
    except (msgspec.MsgspecError, RecursionError):
        status = Status()
    if status.kind == "Status":
        return status
    return Status(message=_NO_PATH if code == 404 else body[:_LONGEST].decode("utf-8", "replace").strip())
