"""Kinds in several versions: how an object that is stored in one of them is read and written in another.

The store keeps each object once, in one version. A version that is served beside it names its own group and version,
its own selectable fields, and how a tree of one becomes a tree of the other.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

import msgspec

from baseload.embedded.store.errors import BadRequest, StatusError
from baseload.embedded.store.record import Json, Record, encode
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.selection import Selection
from baseload.values.selector import FieldSelector

Tree: TypeAlias = dict[str, Json]
Convert: TypeAlias = Callable[[Tree], Tree]
"""May change the tree that it is given; the result is the caller's own"""

_VERSION: Final = re.compile(r"v(?P<major>[1-9][0-9]*)((?P<stage>alpha|beta)(?P<minor>[1-9][0-9]*))?")
_OF_EVERY_KIND: Final = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Webhook:
    """Who would know how to convert, and is never asked."""

    address: str
    service: tuple[str, str] | None = None  # namespace and name


@dataclass(frozen=True, slots=True)
class Conversion:
    """Between a version that is served and the one that is stored; `view` is how requests name the former."""

    view: Resource
    shown: Convert
    stored: Convert
    fields: Mapping[str, str] = field(default_factory=dict)  # a selectable field here -> the same as it is stored
    webhook: Webhook | None = None


def renamed(resource: Resource) -> Convert:
    """The conversion that changes the apiVersion alone."""

    def convert(tree: Tree) -> Tree:
        return {"kind": resource.kind, **tree, "apiVersion": resource.api_version}

    return convert


def rank(version: str) -> tuple[int, int, int, str]:
    """Where a version stands among those of a group; the highest is preferred: v2, v1, v1beta2, v1alpha1, others."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (0, 0, 0, "".join(chr(0x10FFFF - ord(letter)) for letter in version))
    stage = {"": 3, "beta": 2, "alpha": 1}[match["stage"] or ""]
    return (stage, int(match["major"]), int(match["minor"] or 0), "")


def tree_of(record: Record) -> Tree:
    """An object as it is stored, as a tree of its own."""
    return cast(Tree, msgspec.json.decode(encode(record)))


def selection(
    view: Resource, asked: Selection, selectable: tuple[str, ...], fields: Mapping[str, str], *, is_custom: bool
) -> Selection:
    """A selection in a version's words as one in the store's; refuses fields that the version does not offer."""
    terms = asked.fields.terms
    for path in asked.fields.fields():
        if path not in _OF_EVERY_KIND and path not in selectable:
            raise BadRequest(_unknown(view, path, is_custom=is_custom))
    if not any(path in fields for path, _, _ in terms):
        return asked
    stored = tuple((fields.get(path, path), equal, value) for path, equal, value in terms)
    return Selection(asked.namespace, asked.labels, FieldSelector(stored))


def _unknown(view: Resource, path: str, *, is_custom: bool) -> str:
    """What a server says of a field that it does not select by; a kind without fields of its own has other words."""
    if view.kind == "Job":
        return f'field label "{path}" not supported for Job'
    if is_custom or view.fields:
        return f"field label not supported: {path}"
    return f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def refusal(error: StatusError, stored: Resource, view: Resource) -> StatusError:
    """A refusal of the store's in the words of the version that was asked for."""
    if error.resource is not stored or stored.qualified == view.qualified:
        return error
    message = str(error).replace(f'{stored.qualified} "', f'{view.qualified} "')
    return type(error)(
        message,
        resource=view,
        name=error.name,
        causes=error.causes,
        retry_after=error.retry_after,
        token=error.token,
        is_general=error.is_general,
    )
