"""The shape of an object: its JSON without the texts that say nothing about which fields it has.

The fields follow from the maps, from what the items of lists are told apart by, and from where there is a text, a
number or nothing; not from what the texts are, save that one is empty: some fields are so in an object of which nothing
was said, and nobody owns what says no more. Jobs of one origin differ in the value of a variable, pods of one set in
a host name: a cluster has few shapes beside its objects, so that what follows from a shape can be remembered by it.
"""

import re
from collections.abc import Hashable, Iterator
from functools import cache
from typing import Final, Generic, TypeVar

import msgspec

from baseload.kube.merge.tree import Object
from baseload.kube.merge.types import ListType, MapType, ObjectType, Type

# The text that a field has, if there is anything in it, from the end of the field's name on. A quote that begins a
# text stands behind [ { , or a colon, and one within a text behind a backslash: neither is taken for the end of a
# name. Names that end in one of these keep their texts, as do the fields that items are told apart by; to keep more
# than need be does no harm.
_TEXT: Final = rb'":"(?!")(?<![\[{,:\\]":")%b[^"\\]*(?:\\.[^"\\]*)*"'
_MOST: Final = 1 << 10  # things of some kilobytes each; then all are forgotten, and what recurs comes again soon
T = TypeVar("T")


class Recurring(Generic[T]):
    """What is remembered by shapes that came more than once; most of what comes once never comes again."""

    def __init__(self) -> None:
        self._met: set[int] = set()
        self._kept: dict[Hashable, T] = {}

    def found(self, shape: Hashable) -> T | None:
        """What was kept."""
        return self._kept.get(shape)

    def keep(self, shape: Hashable, held: T) -> None:
        """Keeps something, if its shape came before."""
        for full in (self._met, self._kept):
            if len(full) >= _MOST:
                full.clear()
        if hash(shape) in self._met:
            self._kept[shape] = held
        else:
            self._met.add(hash(shape))


def of(kind: ObjectType, tree: Object) -> bytes:
    """The shape of an object of a kind; its name is no part of it."""
    metadata = tree.get("metadata")
    if isinstance(metadata, dict) and "name" in metadata:
        tree = {**tree, "metadata": {**metadata, "name": ""}}
    return _texts(kind).sub(b'":"', msgspec.json.encode(tree))


@cache
def _texts(kind: ObjectType) -> re.Pattern[bytes]:
    """What a shape of the kind goes without."""
    told = sorted(set(_keys(kind.root, set())))
    return re.compile(_TEXT % b"".join(b'(?<!"%b":")' % re.escape(key.encode()) for key in told))


def _keys(kind: Type, seen: set[int]) -> Iterator[str]:
    """The fields that items of lists are told apart by, anywhere in a type."""
    for form in (kind.mapping, kind.listing):
        if form is None or form.atomic or id(form) in seen:
            continue
        seen.add(id(form))
        if isinstance(form, ListType):
            yield from form.keys
        for inner in _inner(form):
            yield from _keys(inner, seen)


def _inner(form: MapType | ListType) -> Iterator[Type]:
    if isinstance(form, ListType):
        yield form.element
        return
    for name in form.named:
        field = form.field(name)
        if field is not None:
            yield field
    if form.others is not None:
        yield form.others
