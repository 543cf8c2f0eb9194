"""Whether a write means the object that is there, in the state that it is in."""

from baseload.embedded.api.versions import Tree
from baseload.embedded.store import errors, parse
from baseload.embedded.store.errors import BadRequest, Cause
from baseload.embedded.store.record import Record


def check(old: Record, after: Tree, *, is_patch: bool) -> None:
    """Refuses a tree that says of itself that it is another one, or another state of it."""
    metadata = after.get("metadata")
    sent = metadata if isinstance(metadata, dict) else {}
    version = sent.get("resourceVersion")
    if version and parse.version_of(str(version)) != old.version:
        why = "the object has been modified; please apply your changes to the latest version and try again"
        raise errors.conflict(old.resource, old.name, why)
    if (uid := sent.get("uid")) and uid != old.uid:
        if is_patch:
            cause = Cause("FieldValueInvalid", f'Invalid value: "{uid}": field is immutable', "metadata.uid")
            raise errors.invalid(old.resource, old.name, (cause,))
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.uid}"
        raise errors.conflict(old.resource, old.name, why)
    if (name := sent.get("name")) not in (None, "", old.name):
        raise BadRequest(f"the name of the object ({name}) does not match the name on the URL ({old.name})")
