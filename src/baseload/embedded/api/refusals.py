"""What only an API refuses, beside the refusals of the store: forms, media types, methods, sizes.

StatusError (embedded.store.errors)
    Unauthorized        the credentials are not known, or good no longer
    NoSuchPath          the path names nothing that is served
    NoSuchMethod        the path is served, the method is not
    NotAcceptable       no form of the answer would do
    Unsupported         the body is of a type that is not read
    TooLarge            the body is larger than the API reads
    TooManyRequests     not now: a disruption budget has nothing left
    Unavailable         nothing is there that could answer
    NotServed           a part of Kubernetes that is not here
    Failed              the server's own fault
"""

from baseload.embedded.store.errors import BadRequest, Conflict, Invalid, StatusError, Unreasoned
from baseload.embedded.store.errors import Cause as Cause
from baseload.kube.kinds import group_of
from baseload.kube.merge.refusal import ApplyConflict, PatchError
from baseload.kube.protobuf import table
from baseload.kube.protobuf.decode import SCHEME


class Unauthorized(StatusError):
    """The credentials are not known, or good no longer."""

    code, reason = 401, "Unauthorized"


class NoSuchPath(StatusError):
    """The path names nothing that is served."""

    code, reason = 404, "NotFound"


class NoSuchMethod(StatusError):
    """The path is served, the method is not."""

    code, reason = 405, "MethodNotAllowed"


class NotAcceptable(StatusError):
    """No form of the answer would do."""

    code, reason = 406, "NotAcceptable"


class Unsupported(StatusError):
    """The body is of a type that is not read."""

    code, reason = 415, "UnsupportedMediaType"


class TooLarge(StatusError):
    """The body is larger than the API reads."""

    code, reason = 413, "RequestEntityTooLarge"


class TooManyRequests(StatusError):
    """Not now: a disruption budget has nothing left."""

    code, reason = 429, "TooManyRequests"


class Unavailable(StatusError):
    """Nothing is there that could answer."""

    code, reason = 503, "ServiceUnavailable"


class NotServed(StatusError):
    """A part of Kubernetes that is not here."""

    code, reason = 501, "NotImplemented"


class Failed(StatusError):
    """The server's own fault."""

    code, reason = 500, "InternalError"


def no_such_path() -> NoSuchPath:
    return NoSuchPath("the server could not find the requested resource", is_general=True)


def no_such_method() -> NoSuchMethod:
    return NoSuchMethod("the server does not allow this method on the requested resource", is_general=True)


def not_registered(api_version: str, kind: str) -> str:
    """Go's words for a kind that it does not know; it says where it keeps those that it does."""
    return f'no kind "{kind}" is registered for version "{api_version}" in scheme "{SCHEME}"'


def of_other_kind(api_version: str, kind: str, wanted_version: str, wanted: str) -> BadRequest:
    """A body of another kind than the path takes."""
    version = api_version.rpartition("/")[2]
    why = not_registered(api_version, kind)
    if table.message_of(api_version, kind) is not None:
        group = group_of(wanted_version).partition(".")[0] or "core"
        why = f"converting ({version}.{kind}) to ({group}.{wanted}): unknown conversion"
    return BadRequest(f'{kind} in version "{version}" cannot be handled as a {wanted}: {why}')


def of_patch(error: PatchError) -> StatusError:
    """A patch's refusal as a Status, which does not say of what."""
    causes: tuple[Cause, ...] = ()
    if isinstance(error, ApplyConflict):
        causes = tuple(Cause(cause.reason, cause.message, cause.field) for cause in error.causes)
    if error.code == Invalid.code:
        return Invalid(error.message, is_general=True)
    by_code: dict[int, type[StatusError]] = {400: BadRequest, 409: Conflict, 413: TooLarge, 415: Unsupported}
    return by_code.get(error.code, Unreasoned)(error.message, causes=causes)
