"""The instances of a run: launched, running, interrupted, ended; and what they cost."""

from collections import deque
from collections.abc import Callable
from typing import Final

from baseload.cloud.port import Instance
from baseload.cloud.simulated.inventory import Record
from baseload.cloud.simulated.region import Region, What
from baseload.replay.notebook import Notebook
from baseload.replay.series import ENDED_BY, Labels
from baseload.values.label import NODEPOOL

_EVENTS: Final[dict[str, str]] = {
    "pending": "instance.launched",
    "running": "instance.booted",
    "shutting-down": "instance.ending",
    "stopping": "instance.stopping",
    "stopped": "instance.stopped",
    "terminated": "instance.gone",
    "interrupted": "instance.interrupted",
}


class CloudSeen:
    """What the series and the journal are told of instances; `ended` hears of each that runs nothing any more."""

    def __init__(
        self, notebook: Notebook, region: Region, ring: Callable[[], None], ended: Callable[[Instance], None]
    ) -> None:
        self._note, self._region, self._ring, self._ended = notebook, region, ring, ended
        self._heard: deque[tuple[Instance, What]] = deque()
        self._rates: dict[str, tuple[Instance, int]] = {}  # id of an instance that is paid for -> what it costs now
        self._unused: dict[str, Labels] = {}  # id -> labels, of those that nobody used yet
        self._living: dict[str, Labels] = {}
        self._spot = 0  # spot instances that are paid for
        region.told = self._hear

    def use(self, id: str) -> None:
        """A pod was bound to a node of this instance."""
        labels = self._unused.pop(id, None)
        if labels is not None:
            self._note.add("launches.unused", labels, -1)

    def drain(self) -> None:
        """Notes what was heard since the last time."""
        while self._heard:
            instance, what = self._heard.popleft()
            self._look(instance, what)
            self._say(instance, what)

    def reprice(self) -> None:
        """Spot prices have moved."""
        for id, (instance, rate) in self._rates.items():
            if instance.capacity_type == "spot" and (now := self._price(instance)) != rate:
                self._note.add("cost.hour", labels_of(instance), now - rate)
                self._rates[id] = instance, now

    def next_move(self) -> int | None:
        """The moment at which spot prices move next; None where that is of no account."""
        spot = self._region.settings.spot
        if not self._spot or not spot.swing:
            return None
        now, start = self._note.clock.now(), self._region.start
        return start + ((now - start) // spot.step + 1) * spot.step

    def _hear(self, record: Record, what: What) -> None:
        self._heard.append((record.instance, what))
        if len(self._heard) == 1:
            self._ring()

    def _look(self, instance: Instance, what: What) -> None:
        labels, id = labels_of(instance), instance.id
        match what:
            case "pending":
                self._note.add("launches", labels)
                self._note.add("launches.unused", labels)
                self._note.add("instances", labels)
                self._unused[id] = self._living[id] = labels
            case "running":
                rate = self._price(instance)
                self._rates[id] = instance, rate
                self._spot += instance.capacity_type == "spot"
                self._note.add("cost.hour", labels, rate)
            case "shutting-down":
                self._note.add("terminations", (*labels, ENDED_BY.get(instance.reason, "failed")))
                self._leave(instance)
            case "stopping":
                self._leave(instance)
            case "interrupted":
                self._note.add("interruptions", labels)

    def _leave(self, instance: Instance) -> None:
        """Nothing runs on it any more, and nothing is paid for it."""
        labels = self._living.pop(instance.id, None)
        if labels is not None:
            self._note.add("instances", labels, -1)
        held = self._rates.pop(instance.id, None)
        if held is not None:
            self._spot -= instance.capacity_type == "spot"
            self._note.add("cost.hour", labels_of(instance), -held[1])
            self._ended(instance)

    def _price(self, instance: Instance) -> int:
        market, now = self._region.market, self._note.clock.now()
        return market.price(instance.instance_type, instance.zone, instance.capacity_type, now) or 0

    def _say(self, instance: Instance, what: What) -> None:
        if self._note.writer is None:
            return
        pool, kind, capacity_type, zone = labels_of(instance)
        reason = instance.reason if what != "interrupted" else "SpotInterruption"
        message = f"{kind}, {capacity_type}, {zone}" + (f", NodePool {pool}" if pool else "")
        if what in ("pending", "running"):
            message += f", {instance.private_dns}"
        self._note.tell("cloud", _EVENTS[what], f"Instance {instance.id}", reason, message)


def labels_of(instance: Instance) -> Labels:
    return instance.tags.get(NODEPOOL, ""), instance.instance_type, instance.capacity_type, instance.zone
