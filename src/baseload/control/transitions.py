"""What changes in the conditions of nodes, claims, pools and classes is told as events, as operatorpkg's controllers
tell it.

A condition that appears is not told, nor one that has another reason and the status that it had. Those that Ready
stands on are Unknown before they are written.
"""

from typing import Final

import msgspec

from baseload.act.events import About, Events
from baseload.control.informer import Transition
from baseload.control.nodeclasses import STANDS_ON
from baseload.control.observed import CLAIM, CLASS, NODE, POOL, Observed
from baseload.decide.lifecycle.conditions import OF_CLAIM, OF_POOL
from baseload.decide.lifecycle.names import READY
from baseload.kube.client.objects import Object
from baseload.kube.kinds import Kind
from baseload.plan.lifecycle import Told

_UNKNOWN: Final = {
    NODE: frozenset[str](),
    CLAIM: frozenset({*OF_CLAIM, READY}),
    POOL: frozenset({*OF_POOL, READY}),
    CLASS: frozenset({*STANDS_ON, READY}),
}
"""kind -> the conditions that every object of it has"""


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Status(msgspec.Struct):
    conditions: list[_Condition] = []


class _Said(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


_read: Final = msgspec.json.Decoder(_Said).decode


class Transitions:
    """Tells of conditions."""

    def __init__(self, observed: Observed, events: Events) -> None:
        self._observed, self._events = observed, events
        self._known: dict[tuple[Kind, str], dict[str, str]] = {}  # kind and name -> type -> status
        observed.informer.listen(self._note, *_UNKNOWN)

    def _note(self, change: Transition) -> None:
        initial = _UNKNOWN.get(change.kind)
        one = change.after or change.before
        if initial is None or one is None:
            return
        key = change.kind, one.metadata.name
        before = self._known.pop(key, None)
        if change.after is None:
            return
        said = _conditions(change.after)
        self._known[key] = dict.fromkeys(sorted(initial), "Unknown") | {it.type: it.status for it in said}
        moved = [it for it in said if before.get(it.type, it.status) != it.status] if before is not None else []
        about = self._about(*key) if moved else None
        if about is not None and before is not None:
            for it in moved:
                self._events.tell(about, _told(before[it.type], it))

    def _about(self, kind: Kind, name: str) -> About | None:
        if kind is NODE:
            return self._observed.node(name)
        if kind is CLAIM:
            return self._observed.claim(name)
        return self._observed.pool(name) if kind is POOL else self._observed.node_class(name)


def _conditions(held: Object) -> list[_Condition]:
    try:
        return _read(held.raw).status.conditions
    except msgspec.ValidationError:
        return []


def _told(before: str, held: _Condition) -> Told:
    why = f", Message: {held.message}" if held.message else ""
    message = f"Status condition transitioned, Type: {held.type}, Status: {before} -> {held.status}, "
    return Told(held.type, f"{message}Reason: {held.reason}{why}", quiet=0)
