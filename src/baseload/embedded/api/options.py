"""Options of a request, read and refused as Go's own readers do it, in their words.

A server reads them into an object (ListOptions, CreateOptions and their like) and checks that as it checks others.
"""

from collections.abc import Mapping
from typing import Final

from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest, Cause, Invalid
from baseload.embedded.store.resource import Resource
from baseload.kube.merge.go_text import quoted

META: Final = "meta.k8s.io"
APPLY: Final = "application/apply-patch"
_BY_METHOD: Final = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}
_LONGEST_MANAGER: Final = 128
_MATCHES: Final = ("Exact", "NotOlderThan", "")
_MATCH: Final = "resourceVersionMatch"


def integer(given: str) -> int:
    """A whole number of 64 bits."""
    digits = given[1:] if given[:1] in ("-", "+") else given
    if not (digits.isascii() and digits.isdecimal()):
        raise BadRequest(f'strconv.ParseInt: parsing "{given[:60]}": invalid syntax')
    if len(digits) > 19 or not -(2**63) <= int(given) < 2**63:
        raise BadRequest(f'strconv.ParseInt: parsing "{given[:60]}": value out of range')
    return int(given)


def version(given: str) -> int:
    """A resourceVersion, a natural number of 64 bits."""
    wrong = "" if given.isascii() and given.isdecimal() else "invalid syntax"
    if not wrong and (len(given) > 20 or int(given) >= 2**64):
        wrong = "value out of range"
    if wrong:
        shown = given[:60]
        said = f'Invalid value: "{shown}": strconv.ParseUint: parsing "{shown}": {wrong}'
        raise BadRequest(f"invalid resource version: resourceVersion: {said}")
    return int(given)


def is_yes(given: str) -> bool:
    """A yes or no; whatever does not say no says yes."""
    return given.lower() not in ("0", "false")


def invalid(kind: str, *causes: Cause, group: str = META, name: str = "") -> Invalid:
    """A refusal of options, which are an object of a kind of their own."""
    resource = Resource(group, "v1", kind, kind.lower(), namespaced=False, has_status=False, has_generation=False)
    return errors.invalid(resource, name, causes)


def forbidden(field: str, why: str) -> Cause:
    """A refusal of an option that does not go with the others."""
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)


def unsupported(field: str, shown: str, supported: str) -> Cause:
    """A refusal of a value that is none of a few."""
    return Cause("FieldValueNotSupported", f"Unsupported value: {shown}: supported values: {supported}", field)


def check_write(method: str, query: Mapping[str, str], media_type: str) -> None:
    """Refuses a write whose options make no sense."""
    kind = _BY_METHOD.get(method)
    if kind is None or not query:
        return
    causes: list[Cause] = []
    if kind == "PatchOptions" and "force" in query and not media_type.startswith(APPLY):
        causes.append(forbidden("force", "may not be specified for non-apply patch"))
    causes += dry_run(query.get("dryRun", ""))
    causes += _manager(query.get("fieldManager", ""))
    validation = query.get("fieldValidation", "")
    if validation not in ("", "Ignore", "Strict", "Warn"):
        causes.append(unsupported("fieldValidation", quoted(validation), '"", "Ignore", "Strict", "Warn"'))
    if causes:
        raise invalid(kind, *causes)


def dry_run(given: str) -> list[Cause]:
    """What is wrong with a dryRun."""
    return [] if given in ("", "All") else [unsupported("dryRun", f"[{quoted(given)}]", '"All"')]


def check_delete(policy: object, *, sets_orphans: bool) -> None:
    """Refuses a delete whose options make no sense."""
    kind, field = "DeleteOptions", "propagationPolicy"
    if policy not in (None, "Background", "Foreground", "Orphan"):
        supported = '"Foreground", "Background", "Orphan", "nil"'
        raise invalid(kind, unsupported(field, quoted(str(policy)), supported))
    if policy is not None and sets_orphans:
        why = "orphanDependents and deletionPropagation cannot be both set"
        raise invalid(kind, Cause("FieldValueInvalid", f"Invalid value: {quoted(str(policy))}: {why}", field))


def _manager(given: str) -> list[Cause]:
    causes: list[Cause] = []
    if len(given.encode()) > _LONGEST_MANAGER:
        message = f"Too long: may not be more than {_LONGEST_MANAGER} bytes"
        causes.append(Cause("FieldValueTooLong", message, "fieldManager"))
    for position, character in enumerate(given):
        if not character.isprintable():
            said = f"invalid character U+{ord(character):04X} (at position {position})"
            message = f"Invalid value: {quoted(given)}: {said}"
            causes.append(Cause("FieldValueInvalid", message, "fieldManager"))
            break
    return causes


def check_read(query: Mapping[str, str], *, is_watch: bool) -> None:
    """Refuses a list or a watch whose options do not go together; what a version has to do with it is the store's."""
    match, initial = query.get(_MATCH, ""), query.get("sendInitialEvents")
    if query.get("timeoutSeconds"):
        integer(query["timeoutSeconds"])
    causes: list[Cause] = []
    if is_watch:
        causes += _of_watch(match, asks_for_initial=initial is not None)
    else:
        if match and not query.get("resourceVersion"):
            causes.append(forbidden(_MATCH, f"{_MATCH} is forbidden unless resourceVersion is provided"))
        if match not in _MATCHES:
            causes.append(unsupported(_MATCH, quoted(match), ", ".join(map(quoted, _MATCHES))))
        if initial is not None:
            causes.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    if causes:
        raise invalid("ListOptions", *causes)


def _of_watch(match: str, *, asks_for_initial: bool) -> list[Cause]:
    if asks_for_initial and match != "NotOlderThan":
        return [forbidden(_MATCH, f"sendInitialEvents requires setting {_MATCH} to NotOlderThan")]
    if match and not asks_for_initial:
        return [forbidden(_MATCH, f"{_MATCH} is forbidden for watch unless sendInitialEvents is provided")]
    return []
