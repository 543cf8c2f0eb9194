"""Status objects: how the API says that something went well without an object, or that it did not."""

from typing import Final

from baseload.embedded.store.errors import Invalid, StatusError
from baseload.embedded.store.record import Json, Record

_KIND: Final[dict[str, Json]] = {"kind": "Status", "apiVersion": "v1", "metadata": {}}


def failure(error: StatusError) -> dict[str, Json]:
    """A refusal."""
    metadata: dict[str, Json] = {"continue": error.token} if error.token else {}
    told: dict[str, Json] = {**_KIND, "metadata": metadata, "status": "Failure", "message": str(error)}
    if error.reason:
        told["reason"] = error.reason
    if (details := _details(error)) or error.is_general:
        told["details"] = details
    return {**told, "code": error.code}


def success(record: Record) -> dict[str, Json]:
    """The end of an object."""
    resource = record.resource
    details: dict[str, Json] = {"name": record.name, "group": resource.group, "kind": resource.plural}
    details["uid"] = record.uid
    return {**_KIND, "status": "Success", "details": {key: value for key, value in details.items() if value}}


def _details(error: StatusError) -> dict[str, Json]:
    details: dict[str, Json] = {}
    if error.name:
        details["name"] = error.name
    if error.resource is not None:
        if error.resource.group:
            details["group"] = error.resource.group
        if kind := error.resource.kind if isinstance(error, Invalid) else error.resource.plural:
            details["kind"] = kind
    if error.causes:
        causes = [{"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in error.causes]
        details["causes"] = [{key: value for key, value in cause.items() if value} for cause in causes]
    if error.retry_after:
        details["retryAfterSeconds"] = error.retry_after
    return details
