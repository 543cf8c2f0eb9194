"""Why a patch is refused, as the API server says it: a status code, a reason and the message, ready for a Status."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

BAD_REQUEST = "BadRequest"
INVALID = "Invalid"
UNKNOWN = ""  # what a server answers whose error nobody gave a reason


class PatchError(Exception):
    """The patch cannot be applied; answer with the code, the reason and the message."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        self.code = code
        self.reason = reason
        self.message = message
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Cause:
    """One field that another manager holds."""

    field: str  # e.g. .spec.replicas
    message: str
    reason: str = "FieldManagerConflict"


class ApplyConflict(PatchError):
    """Others manage fields that the applied configuration would change; answer 409 with the causes."""

    def __init__(self, message: str, causes: tuple[Cause, ...]) -> None:
        super().__init__(409, "Conflict", message)
        self.causes = causes


def bad_request(message: str) -> PatchError:
    """The patch itself is malformed."""
    return PatchError(400, BAD_REQUEST, message)


def unprocessable() -> PatchError:
    """The patch is well-formed and does not fit the object; a server does not say more than this."""
    return PatchError(422, INVALID, "the server rejected our request due to an error in our request")


def failed(message: str) -> PatchError:
    """What a server answers with 500 although the patch is to blame."""
    return PatchError(500, UNKNOWN, message)


def bounded(work: Callable[P, R]) -> Callable[P, R]:
    """Refuses trees that are nested too deeply to be walked."""

    @wraps(work)
    def walk(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return work(*args, **kwargs)
        except RecursionError:
            raise bad_request("exceeded max depth") from None

    return walk
