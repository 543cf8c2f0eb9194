"""The instances of the region, from launch until they are forgotten, and the machines behind them.

    pending ─▶ running ─▶ shutting-down ─▶ terminated ─▶ forgotten
       │          └────▶ stopping ─▶ stopped ─▶ shutting-down
       └──────▶ shutting-down

A machine boots when its instance runs and is gone when the instance begins to stop or to end. Meanwhile it hangs while
there is any cause for it: its own, its host's, its zone's.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from baseload.cloud.errors import NotFound
from baseload.cloud.machines import Change, Follower, Machine, What
from baseload.cloud.port import Instance, State
from baseload.cloud.simulated.agenda import Agenda, Argument
from baseload.cloud.simulated.draws import Delays, Streams
from baseload.cloud.simulated.settings import MEMORY
from baseload.values.clock import Bell

Cause = Literal["instance", "host", "zone"]

INTERNAL: Final = "Server.InternalError"
BY_USER: Final = "Client.UserInitiatedShutdown"
RECLAIMED: Final = "Server.SpotInstanceTermination"
RETIRED: Final = "Server.ScheduledStop"


@dataclass(slots=True)
class Record:
    """What the region knows of an instance."""

    instance: Instance
    user_data: str
    vcpus: int
    seen_from: int  # the moment from which it is described
    registers_after: int | None
    ready_after: int | None
    starts: bool = True  # False: it is ended when it should run
    machine: Machine | None = None
    hangs: dict[Cause, int] = field(default_factory=dict)  # why -> since when
    events: list[str] = field(default_factory=list)
    is_noticed: bool = False  # its interruption has been announced

    @property
    def state(self) -> State:
        return self.instance.state

    @property
    def is_living(self) -> bool:
        """Whether it is not being given up."""
        return self.instance.state not in ("shutting-down", "terminated")


@dataclass(frozen=True, slots=True)
class Hooks:
    """Who is told what becomes of instances, in the moment."""

    changed: Callable[[Record], None]  # it is in another state
    ending: Callable[[Record], None]  # it begins to end
    ended: Callable[[Record], None]  # what it occupied is free


class Inventory:
    """The instances by id, in the order of their launch."""

    def __init__(
        self, agenda: Agenda, streams: Streams, hooks: Hooks, *, terminating: Delays, stopping: Delays
    ) -> None:
        self._agenda, self._streams, self._hooks = agenda, streams, hooks
        self._terminating, self._stopping = terminating, stopping
        for what, act in (
            ("instance.run", self._run),
            ("instance.stopped", self._stopped),
            ("instance.ended", self._end),
            ("instance.forgotten", self._forget),
        ):
            self.on(what, act)
        self._records: dict[str, Record] = {}
        self._booted: dict[str, Machine] = {}
        self._followers: list[Follower] = []

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def get(self, id: str) -> Record:
        """NotFound for one that never was or is forgotten."""
        record = self._records.get(id)
        if record is None:
            raise NotFound(f"The instance ID '{id}' does not exist", code="InvalidInstanceID.NotFound")
        return record

    def find(self, id: str) -> Record | None:
        return self._records.get(id)

    def on(self, what: str, act: Callable[..., None]) -> None:
        """Has the agenda do something to an instance, unless it is forgotten by then."""

        def carry_out(id: str, *arguments: Argument) -> None:
            record = self._records.get(id)
            if record is not None:
                act(record, *arguments)

        self._agenda.on(what, carry_out)

    def put_back(self, records: Iterable[Record]) -> None:
        """Goes on with instances as they were; their machines run or hang."""
        self._records = {record.instance.id: record for record in records}
        machines = [record.machine for record in self if record.machine is not None]
        machines.sort(key=lambda machine: machine.booted)
        self._booted = {machine.instance.id: machine for machine in machines}

    def seen(self) -> Iterator[Record]:
        """Those that are described already."""
        now = self._agenda.now()
        return (record for record in self._records.values() if record.seen_from <= now)

    def add(self, record: Record, running_after: int) -> None:
        self._records[record.instance.id] = record
        self._hooks.changed(record)
        self._agenda.after(running_after, "instance.run", record.instance.id)

    def terminate(self, record: Record, reason: str) -> None:
        """Begins its end, unless that has begun."""
        if not record.is_living:
            return
        self._into(record, "shutting-down", reason)
        self._hooks.ending(record)
        self._gone(record)
        self._agenda.after(self._delay(self._terminating, "terminating"), "instance.ended", record.instance.id)

    def stop(self, record: Record, reason: str) -> None:
        if record.state not in ("pending", "running"):
            return
        self._into(record, "stopping", reason)
        self._gone(record)
        self._agenda.after(self._delay(self._stopping, "stopping"), "instance.stopped", record.instance.id)

    def hang(self, record: Record, cause: Cause) -> None:
        """Has its machine hang for this cause, now or when it boots."""
        if record.is_living and cause not in record.hangs:
            record.hangs[cause] = self._agenda.now()
            if len(record.hangs) == 1:
                self._tell("hung", record.machine)

    def recover(self, record: Record, cause: Cause) -> None:
        if record.hangs.pop(cause, None) is not None and not record.hangs:
            self._tell("recovered", record.machine)

    def machines(self) -> tuple[Machine, ...]:
        return tuple(self._booted.values())

    def follow(self, bell: Bell | None = None) -> Follower:
        """Begins with what the machines that there are came to, as if it had always followed."""
        follower = Follower(self._agenda.clock.bell() if bell is None else bell)
        for machine in self._booted.values():
            follower.put(Change(machine.booted, "booted", machine))
            hangs = self._records[machine.instance.id].hangs
            if hangs:
                follower.put(Change(max(min(hangs.values()), machine.booted), "hung", machine))
        self._followers.append(follower)
        return follower

    def _run(self, record: Record) -> None:
        if record.state != "pending":
            return
        if not record.starts:
            self.terminate(record, INTERNAL)
            return
        self._into(record, "running", "")
        now = self._agenda.now()
        machine = Machine(record.instance, record.user_data, now, record.registers_after, record.ready_after)
        record.machine = self._booted[record.instance.id] = machine
        self._tell("booted", machine)
        if record.hangs:
            self._tell("hung", machine)

    def _gone(self, record: Record) -> None:
        machine, record.machine = record.machine, None
        if machine is not None:
            del self._booted[record.instance.id]
            self._tell("gone", machine)

    def _stopped(self, record: Record) -> None:
        if record.state == "stopping":
            self._into(record, "stopped", record.instance.reason)

    def _end(self, record: Record) -> None:
        self._into(record, "terminated", record.instance.reason)
        record.hangs.clear()
        self._hooks.ended(record)
        self._agenda.after(MEMORY, "instance.forgotten", record.instance.id)

    def _forget(self, record: Record) -> None:
        del self._records[record.instance.id]

    def _into(self, record: Record, state: State, reason: str) -> None:
        record.instance = replace(record.instance, state=state, reason=reason)
        self._hooks.changed(record)

    def _tell(self, what: What, machine: Machine | None) -> None:
        if machine is not None:
            change = Change(self._agenda.now(), what, machine)
            for follower in self._followers:
                follower.put(change)

    def _delay(self, delays: Delays, stream: str) -> int:
        return delays.at(self._streams.share(stream)) or 0
