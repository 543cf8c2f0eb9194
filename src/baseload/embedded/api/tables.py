"""Tables: what kubectl prints by default, a row an object, made by the server.

A kind of Kubernetes' own has its columns in `printers`; a custom one names them in its definition; any other has a
name and an age.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, cast

import msgspec

from baseload.embedded.api import ages, cells, jsonpath, printers
from baseload.embedded.api.cells import Cell, Tree
from baseload.embedded.api.kinds import Column, ServedKind
from baseload.embedded.store.record import Json

Include = Literal["None", "Metadata", "Object"]

_NAME_TEXT: Final = "Name must be unique within a namespace."
_Row = Callable[[Tree, int], list[Json]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a kind, and how an object becomes a row."""

    columns: list[Json]
    row: _Row


def layout(kind: ServedKind) -> Layout:
    """How a kind's table looks."""
    if kind.columns is not None:
        return _custom(kind.columns)
    cells = printers.BY_KIND.get((kind.resource.group, kind.resource.kind), printers.ANY)

    def row(tree: Tree, now: int) -> list[Json]:
        stored = kind.stored(tree)  # a table looks the same in each version
        return [cell.text(stored, now) for cell in cells]

    return Layout([_definition(cell) for cell in cells], row)


def table(
    form: Layout, trees: Iterable[Tree], include: Include, now: int, metadata: Tree, *, head: bool = True
) -> dict[str, object]:
    """A Table of some objects; `head` says whether it names its columns. Trees are taken and let go one by one."""
    rows: list[msgspec.Raw] = []
    for tree in trees:
        row: Tree = {"cells": form.row(tree, now)}
        if include != "None":
            row["object"] = tree if include == "Object" else partial(tree)
        rows.append(msgspec.Raw(msgspec.json.encode(row)))
    columns = form.columns if head else None
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": rows,
    }


def partial(tree: Tree) -> Tree:
    """An object's metadata alone."""
    metadata = tree.get("metadata", {})
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}


def _definition(cell: Cell) -> Json:
    text = _NAME_TEXT if cell.name == "Name" else cell.name
    return {
        "name": cell.name,
        "type": cell.type,
        "format": cell.format or ("name" if cell.name == "Name" else ""),
        "description": text,
        "priority": cell.priority,
    }


def _custom(columns: tuple[Column, ...]) -> Layout:
    definitions: list[Json] = [_definition(printers.NAME), *map(_custom_definition, columns)]

    def row(tree: Tree, now: int) -> list[Json]:
        return [printers.NAME.text(tree, now), *(_value(column, tree, now) for column in columns)]

    return Layout(definitions, row)


def _custom_definition(column: Column) -> Json:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }


def _value(column: Column, tree: Tree, now: int) -> Json:
    found = jsonpath.find(cast(Json, tree), column.path)
    if not found:
        return None
    value = found[0]
    if column.type == "date":
        return ages.age(value, now)
    if column.type == "string" and not isinstance(value, str):
        return ",".join(map(cells.shown, found)) if len(found) > 1 else cells.shown(value)
    return value if isinstance(value, str | int | float | bool) else cells.shown(value)
