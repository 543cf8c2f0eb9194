"""Looking into trees that a client sent, whose parts may have any type; who has the wrong one is refused elsewhere."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from baseload.embedded.store.record import Json

Tree: TypeAlias = dict[str, Json]


def child(tree: Tree, *path: str) -> Tree:
    """The map at a path, made where it is not there."""
    for name in path:
        held = tree.get(name)
        if not isinstance(held, dict):
            if held is not None:
                return {}
            held = tree[name] = {}
        tree = held
    return tree


def held(tree: Tree, *path: str) -> Tree:
    """The map at a path; an empty one of nobody's where there is none."""
    for name in path:
        found = tree.get(name)
        if not isinstance(found, dict):
            return {}
        tree = found
    return tree


def maps(tree: Tree, name: str) -> Sequence[Tree]:
    """The maps in a list."""
    found = tree.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else ()


def fill(tree: Tree, values: Mapping[str, Json]) -> None:
    """Gives fields that are not there their values."""
    for key, value in values.items():
        if tree.get(key) is None:
            tree[key] = dict(value) if isinstance(value, dict) else list(value) if isinstance(value, list) else value


def fill_empty(tree: Tree, values: Mapping[str, Json]) -> None:
    """Gives fields their values that are not there or have the zero value, which Go cannot tell apart."""
    for key, value in values.items():
        if not tree.get(key):
            tree[key] = value
