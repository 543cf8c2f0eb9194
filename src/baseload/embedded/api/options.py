"""Options of a request, read and refused as Go's own readers do it, in their words."""

from typing import Final

from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest, Cause, Invalid
from baseload.embedded.store.resource import Resource

META: Final = "meta.k8s.io"


def integer(given: str) -> int:
    """A whole number of 64 bits."""
    digits = given[1:] if given[:1] in ("-", "+") else given
    if not (digits.isascii() and digits.isdecimal()):
        raise BadRequest(f'strconv.ParseInt: parsing "{given[:60]}": invalid syntax')
    if len(digits) > 19 or not -(2**63) <= int(given) < 2**63:
        raise BadRequest(f'strconv.ParseInt: parsing "{given[:60]}": value out of range')
    return int(given)


def is_yes(given: str) -> bool:
    """A yes or no; whatever does not say no says yes."""
    return given.lower() not in ("0", "false")


def invalid(kind: str, *causes: Cause, group: str = META, name: str = "") -> Invalid:
    """A refusal of options, which are an object of a kind of their own."""
    resource = Resource(group, "v1", kind, kind.lower(), namespaced=False, has_status=False, has_generation=False)
    return errors.invalid(resource, name, causes)


def unsupported(kind: str, field: str, shown: str, supported: str) -> Invalid:
    """A refusal of a value that is none of a few."""
    message = f"Unsupported value: {shown}: supported values: {supported}"
    return invalid(kind, Cause("FieldValueNotSupported", message, field))


def forbidden(field: str, why: str) -> Cause:
    """A refusal of an option that does not go with the others."""
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)
