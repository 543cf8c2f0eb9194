"""An applied configuration laid over the live object.

Where the configuration says nothing the live object stays; leaves and atomic parts are replaced; maps merge field by
field and lists item by item. Items of the configuration keep its order, the others stay as near to their old place as
that allows.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from baseload.kube.merge.elements import element
from baseload.kube.merge.tree import ABSENT, same
from baseload.kube.merge.types import ListType, MapType, Type


def combined(kind: Type, live: object, config: object) -> object:
    """The live value with the configuration on it; the live value itself where that changes nothing."""
    if config is ABSENT or live is config:
        return live
    if live is ABSENT:
        return config
    if isinstance(config, str):  # the most frequent leaf
        return live if live == config else config
    form = kind.form(config)
    if isinstance(form, MapType) and not form.atomic:
        old_map = live if isinstance(live, dict) else {}
        new_map = config if isinstance(config, dict) else {}
        if old_map or new_map:
            return _maps(form, old_map, new_map)
    elif isinstance(form, ListType) and not form.atomic:
        old_list = live if isinstance(live, list) else []
        new_list = config if isinstance(config, list) else []
        if old_list or new_list:
            return _lists(form, old_list, new_list)
    return live if same(live, config) else config


def _maps(form: MapType, live: dict[str, object], config: dict[str, object]) -> dict[str, object]:
    changed: dict[str, object] | None = None
    for name, value in config.items():
        held = live.get(name, ABSENT)
        if value is held or (isinstance(value, str) and value == held):  # the most frequent leaf
            continue
        field = form.field(name)
        if field is None:
            continue
        merged = combined(field, held, value)
        if merged is not held:
            changed = dict(live) if changed is None else changed
            changed[name] = merged
    return live if changed is None else changed


def _lists(form: ListType, live: list[object], config: list[object]) -> list[object]:
    steps = [element(form, item) for item in live]
    wanted = {element(form, item): item for item in config}
    if steps == list(wanted):
        return _side_by_side(form, live, wanted.values())
    held: dict[str, object] = {}
    for step, item in zip(steps, live, strict=True):
        held[step] = None if step in held else item  # items that cannot be told apart are replaced, not merged into
    items: list[object] = []
    for step, at in _order(steps, list(wanted)):
        old = live[at] if at is not None else held.get(step, ABSENT)
        items.append(combined(form.element, old, wanted.get(step, ABSENT)))
    unchanged = len(items) == len(live) and all(new is old for new, old in zip(items, live, strict=True))
    return live if unchanged else items


def _side_by_side(form: ListType, live: list[object], config: Iterable[object]) -> list[object]:
    """The merged list where both have the same items in the same order."""
    items = [combined(form.element, old, new) for old, new in zip(live, config, strict=True)]
    return live if all(new is old for new, old in zip(items, live, strict=True)) else items


def _order(live: Sequence[str], config: Sequence[str]) -> list[tuple[str, int | None]]:
    """The elements of both lists in the merged order; those of the live list alone with their place in it."""
    shared = set(live)
    awaited = deque(step for step in config if step in shared)
    configured, placed = set(config), set[str]()
    order: list[tuple[str, int | None]] = []
    at = to = 0
    while at < len(live) or to < len(config):
        if at < len(live) and live[at] not in configured:
            order.append((live[at], at))
            at += 1
            continue
        if at < len(live) and to < len(config) and awaited and live[at] != awaited[0]:
            at += 1  # it stands elsewhere in the configuration
            continue
        is_both = at < len(live) and to < len(config) and live[at] == config[to]
        at += is_both or (at < len(live) and live[at] in placed)
        if to < len(config):
            order.append((config[to], None))
            placed.add(config[to])
            if awaited and awaited[0] == config[to]:
                awaited.popleft()
            to += 1
    return order
