"""Lists: which version a reader may ask for, and pages that all show one version.

A continue token names the version of the first page and the last key that was sent. Later pages show that same version
by undoing what happened since; when the log no longer reaches back so far, the reader is told Gone and given a token
that goes on at the present version instead.
"""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

import msgspec

from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest, Cause, Gone, Invalid
from baseload.embedded.store.record import Record
from baseload.embedded.store.selection import EVERYTHING, Selection
from baseload.embedded.store.table import Table

Match = Literal["", "Exact", "NotOlderThan"]
"""resourceVersionMatch; "" where the reader left it out"""

_PRESENT: Final = -1  # the version in a token that goes on at the present
_BAD_TOKEN: Final = "invalid continue token: continue key is not valid"
_EXPIRED: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


class _Token(msgspec.Struct, frozen=True):
    v: str
    rv: int
    start: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a list request says beside the selection: `version` is None where resourceVersion is absent."""

    limit: int = 0  # 0: all
    token: str = ""
    version: int | None = None
    match: Match = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Objects at one version; `token` continues where there are more, `remaining` counts those where that is known."""

    records: list[Record]
    version: int
    token: str = ""
    remaining: int | None = None


ALL: Final = Asked()


def page(table: Table, current: int, selection: Selection = EVERYTHING, asked: Asked = ALL) -> Page:
    """The next page of what is selected."""
    selection.check(table.resource)
    start, stop = table.span(selection.namespace)
    if asked.token:
        version, start = _continued(table, current, asked, (start, stop))
    else:
        version = _version(asked, current)
    if version == current and start == table.span(selection.namespace)[0]:
        found = table.select(selection)
    elif version == current:
        found = (record for record in table.scan(start, stop) if selection.matches(record))
    else:
        found = (record for record in table.scan_at(version, start, stop) if selection.matches(record))
    return _cut(table, found, version, selection, asked.limit)


def _cut(table: Table, found: Iterator[Record], version: int, selection: Selection, limit: int) -> Page:
    records = list(islice(found, limit)) if limit else list(found)
    more = next(found, None) if limit else None
    if more is None:
        return Page(records, version)
    last = records[-1].key
    remaining = None
    if not selection.has_selectors:
        stop = table.span(selection.namespace)[1]
        remaining = table.count_at(version, last + "\0", stop)
    return Page(records, version, _written(_Token("meta.k8s.io/v1", version, last + "\0")), remaining)


def _version(asked: Asked, current: int) -> int:
    """The version of a first page: the present one, or exactly the one that was asked for."""
    version, match = asked.version, asked.match
    if match and version is None:
        raise _bad_match("is forbidden unless resourceVersion is provided")
    if match == "Exact" and version == 0:
        raise _bad_match('"exact" is forbidden for resourceVersion "0"')
    if not version:
        return current
    if version > current:
        raise errors.too_new(version, current)
    exact = match == "Exact" or (not match and asked.limit > 0)  # the old way to ask for it
    return version if exact else current


def _continued(table: Table, current: int, asked: Asked, span: tuple[str, str]) -> tuple[int, str]:
    """The version and the first key of a later page."""
    if asked.match:
        raise _bad_match("is forbidden for continue")
    if asked.version:
        raise BadRequest("specifying resource version is not allowed when using continue")
    token = _read(asked.token)
    if not span[0] <= token.start < span[1] or token.rv == 0 or token.rv > current:
        raise BadRequest(f"{_BAD_TOKEN}: it was not given for this list")
    if token.rv < 0:
        return current, token.start
    if token.rv < table.log.floor:
        anew = _written(_Token(token.v, _PRESENT, token.start))
        raise Gone(_EXPIRED, resource=table.resource, token=anew)
    return token.rv, token.start


def _bad_match(why: str) -> Invalid:
    cause = Cause("FieldValueForbidden", f"Forbidden: resourceVersionMatch {why}", "resourceVersionMatch")
    message = f'ListOptions.meta.k8s.io "" is invalid: {cause.field}: {cause.message}'
    return Invalid(message, causes=(cause,))


def _written(token: _Token) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).rstrip(b"=").decode()


def _read(text: str) -> _Token:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(raw, type=_Token)
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise BadRequest(f"{_BAD_TOKEN}: {error}") from error
