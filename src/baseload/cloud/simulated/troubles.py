"""What befalls instances: interruptions of spot, failures of machines and hosts, outages of zones.

What is drawn at the launch of an instance is arranged then; the same can be done to one at any moment.
"""

from collections.abc import Callable
from typing import Final

from baseload.cloud.errors import Conflict
from baseload.cloud.simulated import messages
from baseload.cloud.simulated.agenda import Agenda
from baseload.cloud.simulated.draws import Streams
from baseload.cloud.simulated.inventory import INTERNAL, RECLAIMED, RETIRED, Cause, Inventory, Record
from baseload.cloud.simulated.queue import Queue
from baseload.cloud.simulated.settings import NOTICE, RETIREMENT, FailureKind, FailureRule, Outage, Spot

_HANGS: Final[dict[FailureKind, Cause]] = {"Hangs": "instance", "HostFails": "host"}
_RETIREMENT: Final = "instance-retirement"


class Troubles:
    """Arranges what goes wrong, and tells the queue of what becomes of instances."""

    def __init__(self, agenda: Agenda, streams: Streams, inventory: Inventory, queue: Queue, region: str) -> None:
        self._agenda, self._streams, self._inventory, self._queue = agenda, streams, inventory, queue
        self._region = region
        for what, act in (
            ("instance.recommend", self.recommend),
            ("instance.interrupt", self._interrupt_if_living),
            ("instance.reclaim", self._reclaim),
            ("instance.fail", self.fail),
            ("instance.recover", inventory.recover),
            ("instance.retire", self._stop_retired),
        ):
            inventory.on(what, act)
        agenda.on("zone.down", self.zone_down)
        agenda.on("zone.up", self.zone_up)
        self.down: dict[str, int] = {}  # zone -> how many outages hold
        self.noticed: Callable[[Record], None] = lambda _: None  # called with who gets its notice

    def befall(self, record: Record, spot: Spot, failures: tuple[FailureRule, ...], boots_after: int) -> None:
        """Draws the fate of an instance at its launch."""
        for number, rule in enumerate(failures):
            struck = self._streams.share(f"failure/{number}") < rule.share
            instance = record.instance
            if struck and rule.where.holds(instance.instance_type, instance.zone, instance.capacity_type):
                self._arrange(record, rule, number, boots_after)
                break
        if record.instance.capacity_type == "spot" and spot.life is not None:
            self._live_until(record, spot.life.at(self._streams.share("spot-life")), spot.rebalance_ahead)

    def interrupt(self, record: Record) -> None:
        """Two minutes' notice to a spot instance, then its end; Conflict for one that is not spot or not there."""
        if record.instance.capacity_type != "spot" or not record.is_living:
            raise Conflict(f"{record.instance.id} is no spot instance that runs: it cannot be interrupted")
        if not record.is_noticed:
            record.is_noticed = True
            self.noticed(record)
            self._say(messages.spot_interruption, record)
            self._agenda.after(NOTICE, "instance.reclaim", record.instance.id)

    def recommend(self, record: Record) -> None:
        """A rebalance recommendation."""
        if record.is_living and not record.is_noticed:
            self._say(messages.rebalance, record)

    def fail(self, record: Record, kind: FailureKind, lasts: int | None = None) -> None:
        """Has a failure begin now; the kinds of a boot count where it has not come to that yet."""
        match kind:
            case "FailsToStart":
                record.starts = False
            case "NeverRegisters":
                record.registers_after = record.ready_after = None
            case "NeverReady":
                record.ready_after = None
            case "Dies":
                self._inventory.terminate(record, INTERNAL)
            case "Stops":
                self._inventory.stop(record, INTERNAL)
            case "Hangs" | "HostFails":
                self._hang(record, _HANGS[kind], lasts)
            case "Retires":
                self._retire(record, RETIREMENT if lasts is None else lasts)

    def is_down(self, zone: str) -> bool:
        return zone in self.down

    def arrange_outage(self, outage: Outage, start: int) -> None:
        self._agenda.at(start + outage.window.begins, "zone.down", outage.zone)
        if outage.window.ends is not None:
            self._agenda.at(start + outage.window.ends, "zone.up", outage.zone)

    def zone_down(self, zone: str) -> None:
        """The zone gives no machine, and those that it has hang."""
        self.down[zone] = self.down.get(zone, 0) + 1
        for record in self._in(zone):
            self._inventory.hang(record, "zone")

    def zone_up(self, zone: str) -> None:
        """One outage of the zone is over."""
        left = self.down.pop(zone, 0) - 1
        if left > 0:
            self.down[zone] = left
            return
        for record in self._in(zone):
            self._inventory.recover(record, "zone")

    def say_state(self, record: Record) -> None:
        """Tells of the state in which an instance now is."""
        now, instance = self._agenda.now(), record.instance
        self._queue.put(messages.state_change(self._id(), self._region, instance.id, now, instance.state), now)

    def _in(self, zone: str) -> list[Record]:
        return [record for record in self._inventory if record.instance.zone == zone]

    def _arrange(self, record: Record, rule: FailureRule, number: int, boots_after: int) -> None:
        lasts = None if rule.lasts is None else rule.lasts.at(self._streams.share(f"failure/{number}/lasts"))
        if rule.kind in ("FailsToStart", "NeverRegisters", "NeverReady"):
            self.fail(record, rule.kind)
            return
        after = rule.after.at(self._streams.share(f"failure/{number}/after"))
        if after is not None:
            self._agenda.after(boots_after + after, "instance.fail", record.instance.id, rule.kind, lasts)

    def _live_until(self, record: Record, life: int | None, ahead: int | None) -> None:
        if life is None:
            return
        if ahead is not None:
            self._agenda.after(max(life - ahead, 0), "instance.recommend", record.instance.id)
        self._agenda.after(life, "instance.interrupt", record.instance.id)

    def _interrupt_if_living(self, record: Record) -> None:
        if record.is_living:
            self.interrupt(record)

    def _reclaim(self, record: Record) -> None:
        self._inventory.terminate(record, RECLAIMED)

    def _stop_retired(self, record: Record) -> None:
        self._inventory.stop(record, RETIRED)

    def _hang(self, record: Record, cause: Cause, lasts: int | None) -> None:
        self._inventory.hang(record, cause)
        if lasts is not None:
            self._agenda.after(lasts, "instance.recover", record.instance.id, cause)

    def _retire(self, record: Record, ahead: int) -> None:
        if record.is_living and _RETIREMENT not in record.events:
            record.events.append(_RETIREMENT)
            now = self._agenda.now()
            text = messages.retirement(self._id(), self._region, record.instance.id, now, now + ahead)
            self._queue.put(text, now)
            self._agenda.after(ahead, "instance.retire", record.instance.id)

    def _say(self, message: messages.Message, record: Record) -> None:
        now = self._agenda.now()
        self._queue.put(message(self._id(), self._region, record.instance.id, now), now)

    def _id(self) -> str:
        text = f"{self._streams.word('message'):016x}{self._streams.word('message'):016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
