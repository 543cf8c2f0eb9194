"""What the controllers have in common: a queue, kinds that they hear of, and a sync of one object by its key.

They read the store itself, which no write leaves behind; only the index of pods hears of writes by events, and
`Controller.is_behind` keeps a controller from deciding on counts that lack its own last writes. That is what
client-go's expectations are for.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeVar

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.pods import Written
from baseload.embedded.actors.recorder import Recorder
from baseload.embedded.actors.workloads.ownership import PodIndex
from baseload.embedded.actors.workloads.queue import WorkQueue
from baseload.embedded.api import usage as usages
from baseload.embedded.api.usage import Usage
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record, section
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.subscription import Subscription
from baseload.kube import reading as json_reading

S = TypeVar("S", bound=Written)

MANAGER: Final = "kube-controller-manager"
ALL: Final = ("added", "spec", "status", "bound", "marked", "removed", "other")
OF_SPEC: Final = ("added", "spec", "marked", "removed", "other")
"""All classes of change but those of a status"""

Handler = Callable[[Event], None]


@dataclass(slots=True, eq=False)
class _Heard:
    """Who is told of what, and whether there is something to tell."""

    handler: Handler
    ring: Callable[[], None]
    subscription: Subscription | None = None
    is_rung: bool = False

    def note(self) -> None:
        self.is_rung = True
        self.ring()


@dataclass(slots=True)
class Workplace:
    """What the controllers share: the API, the index of pods, and who hears of which kind."""

    client: ActorClient
    pods: PodIndex
    ring: Callable[[], None]
    usage: Usage = usages.requested  # what running pods use, for autoscalers
    _heard: list[_Heard] = field(default_factory=list)

    def hear(self, group: str, kind: str, classes: Iterable[str], handler: Handler) -> None:
        """Has a function told of changes of a kind, in the turn after they happened."""
        heard = _Heard(handler, self.ring)
        heard.subscription = self.client.subscribe(group, kind, classes, heard.note)
        self._heard.append(heard)

    def tell(self) -> None:
        """Tells of what happened since the last time."""
        for heard in self._heard:
            if heard.is_rung and heard.subscription is not None:
                heard.is_rung, handler = False, heard.handler
                for event in heard.subscription.take():
                    handler(event)

    @property
    def now(self) -> int:
        return self.client.cluster.clock.now()


class Controller(ABC):
    """One kind's controller, under the name of its events."""

    component: str
    group: str
    kind: str

    def __init__(self, place: Workplace) -> None:
        self.place, self.client, self.pods = place, place.client, place.pods
        self.recorder = Recorder(place.client, self.component)
        self.queue = WorkQueue()
        self.resource: Resource = place.client.resource(self.group, self.kind)
        self._objects = place.client.store.table(self.resource).records
        self._written: dict[str, int] = {}  # key -> version of the last write that the index of pods must have seen

    def begin(self) -> None:
        """Hears of its kind from now on, and looks at all there is."""
        self.place.hear(self.group, self.kind, OF_SPEC, self.note)
        for key in self.client.records(self.group, self.kind):
            self.queue.add(key)

    def note(self, event: Event) -> None:
        """A change of an object of its own kind."""
        self.queue.add(event.record.key)

    @abstractmethod
    def sync(self, record: Record) -> None:
        """Does what an object asks for now."""

    def gone(self, key: str) -> None:
        """Forgets what it knew of an object that is no more."""
        self._written.pop(key, None)
        self.queue.forget(key)

    def work(self) -> None:
        """Looks at every object that is due."""
        for key in self.queue.take(self.place.now):
            record = self._objects.get(key)
            if record is None:
                self.gone(key)
            elif not self.is_behind(key):
                self._try(key, record)

    def is_behind(self, key: str) -> bool:
        """Whether the index of pods has not seen the last write for an object; it is looked at again when it has."""
        if self._written.get(key, 0) > self.pods.seen:
            return True
        self._written.pop(key, None)
        return False

    def wrote(self, key: str, record: Record) -> None:
        """A pod was written for an object: nothing is decided for it before the index knows."""
        self._written[key] = max(self._written.get(key, 0), record.version)

    def _try(self, key: str, record: Record) -> None:
        try:
            self.sync(record)
        except StatusError:
            self.queue.failed(key, self.place.now)
        else:
            self.queue.forget(key)

    def write_status(self, record: Record, status: Written) -> bool:
        """Writes a status where it says something new; whether it did."""
        held = self.current(record)
        if held is None or said(held, type(status)) == status:
            return False
        self.client.write_status(held, status, outline(status))
        return True

    def current(self, record: Record) -> Record | None:
        """The same object as it is now; None where it is gone."""
        held = self.client.store.find(record.resource, record.namespace, record.name)
        return held if held is not None and held.uid == record.uid else None


def said(record: Record, reading: type[S]) -> S | None:
    """An object's status; None where it is none of that form."""
    held = record.status
    if isinstance(held, reading):
        return held
    try:
        return json_reading.decoded(section(held) or b"{}", reading)
    except msgspec.ValidationError:
        return None


def outline(status: Written) -> tuple[object, ...]:
    """Which fields a status has, by which its managed fields are remembered."""
    shown: list[object] = []
    for name, default in _fields(type(status)):
        value = getattr(status, name)
        if value is default or value == default:
            continue
        kind = type(value)
        if kind is int or kind is str or kind is bool:
            shown.append(name)
        elif isinstance(value, tuple):
            shown.append((name, tuple([_outline_of(item) for item in value])))
        elif isinstance(value, dict):
            shown.append((name, tuple(value)))
        elif isinstance(value, Written):
            shown.append((name, outline(value)))
        else:
            shown.append(name)
    return tuple(shown)


def _outline_of(item: object) -> object:
    if isinstance(item, msgspec.Raw):
        return bytes(item)
    return _outline_of_item(item) if isinstance(item, Written) else item


@lru_cache(maxsize=4096)  # conditions stay as they are while counts change
def _outline_of_item(item: Written) -> object:
    return getattr(item, "type", ""), outline(item)


_KNOWN: Final[dict[type[Written], tuple[tuple[str, object], ...]]] = {}


def _fields(type: type[Written]) -> tuple[tuple[str, object], ...]:
    """Each field with its default; with a value that nothing equals where there is none."""
    known = _KNOWN.get(type)
    if known is None:
        given = type.__struct_defaults__
        missing = len(type.__struct_fields__) - len(given)
        defaults = (*(object() for _ in range(missing)), *given)
        known = _KNOWN[type] = tuple(zip(type.__struct_fields__, defaults, strict=True))
    return known
