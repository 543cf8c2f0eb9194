"""Every refusal of the store, each a Kubernetes Status with its code and reason, and what its catcher owes.

BaseloadError
    StatusError         answer the client with `code`, `reason`, the message and the causes
        BadRequest      the request makes no sense, whatever is stored: mend it
        Forbidden       not now or not on this object: a namespace that ends, a finalizer too late
        NotFound        the object or its namespace is not there
        AlreadyExists   another object has the name: take another, or update
        Conflict        the object moved on since it was read: read again and try again
        Gone            the version is no longer held: list anew (a list may go on with `token`)
        Invalid         the object breaks a rule of its kind: the causes name the fields
        VersionTooNew   the version lies ahead of the store: ask again in `retry_after` seconds
        Unreasoned      what a server answers with 500 although the request is to blame, and for which it has no reason
        Broken          the disk refused a commit: what is in memory is not what is on disk, so stop the process
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from baseload.embedded.store.resource import Resource
from baseload.values.errors import BaseloadError


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason of a refusal, as `details.causes` carries it."""

    reason: str
    message: str
    field: str = ""


class StatusError(BaseloadError):
    """A refusal that a client is answered with; `resource` and `name` say of what, `is_general` that it is of nothing.

    What is refused before anybody looks at an object has details too, which are empty.
    """

    code: ClassVar[int]
    reason: ClassVar[str]

    def __init__(
        self,
        message: str,
        *,
        resource: Resource | None = None,
        name: str = "",
        causes: tuple[Cause, ...] = (),
        retry_after: int = 0,
        token: str = "",
        is_general: bool = False,
    ) -> None:
        super().__init__(message)
        self.resource, self.name, self.causes = resource, name, causes
        self.retry_after, self.token, self.is_general = retry_after, token, is_general


class BadRequest(StatusError):
    """The request makes no sense, whatever is stored."""

    code, reason = 400, "BadRequest"


class Forbidden(StatusError):
    """Not now, or not on this object."""

    code, reason = 403, "Forbidden"


class NotFound(StatusError):
    """The object, or the namespace it should live in, is not there."""

    code, reason = 404, "NotFound"


class AlreadyExists(StatusError):
    """Another object has the name."""

    code, reason = 409, "AlreadyExists"


class Conflict(StatusError):
    """The object is not the one, or not in the state, that the writer meant."""

    code, reason = 409, "Conflict"


class Gone(StatusError):
    """The version asked for is no longer held; `token` continues a list at the present version instead."""

    code, reason = 410, "Expired"


class Invalid(StatusError):
    """The object breaks a rule of its kind."""

    code, reason = 422, "Invalid"


class VersionTooNew(StatusError):
    """The version asked for lies ahead of the store."""

    code, reason = 504, "Timeout"


class Unreasoned(StatusError):
    """What a server answers with 500 although the request is to blame, and for which it has no reason."""

    code, reason = 500, ""


class Broken(StatusError):
    """A commit failed: memory is ahead of the disk, and nothing may be answered from it any more."""

    code, reason = 500, "InternalError"


def not_found(resource: Resource, name: str) -> NotFound:
    return NotFound(f'{resource.qualified} "{name}" not found', resource=resource, name=name)


def already_exists(resource: Resource, name: str, *, is_ending: bool = False) -> AlreadyExists:
    ending = "object is being deleted: " if is_ending else ""
    return AlreadyExists(f'{ending}{resource.qualified} "{name}" already exists', resource=resource, name=name)


def other_than_meant(resource: Resource, name: str, why: str) -> Conflict:
    """A delete's refusal, which names the kind where other conflicts name the plural."""
    named = replace(resource, plural=resource.kind)
    return conflict(named, name, why)


def conflict(resource: Resource, name: str, why: str) -> Conflict:
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return Conflict(message, resource=resource, name=name)


def forbidden(resource: Resource, name: str, why: str, causes: tuple[Cause, ...] = ()) -> Forbidden:
    return Forbidden(f'{resource.qualified} "{name}" is forbidden: {why}', resource=resource, name=name, causes=causes)


def invalid(resource: Resource, name: str, causes: tuple[Cause, ...]) -> Invalid:
    """An Invalid in Kubernetes' words: one fault plain, several in brackets, and none twice."""
    causes = tuple(dict.fromkeys(causes))
    faults = [f"{cause.field}: {cause.message}" for cause in causes]
    told = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    return Invalid(f'{kind} "{name}" is invalid: {told}', resource=resource, name=name, causes=causes)


def too_old(version: int, oldest: int) -> Gone:
    return Gone(f"too old resource version: {version} ({oldest})")


def too_new(version: int, current: int) -> VersionTooNew:
    cause = Cause("ResourceVersionTooLarge", "Too large resource version")
    message = f"Timeout: Too large resource version: {version}, current: {current}"
    return VersionTooNew(message, causes=(cause,), retry_after=1)
