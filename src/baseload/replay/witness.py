"""Who sees a run: one task that comes last at every moment, takes what happened since, and notes it in a fixed order.

It hears of objects by class of change, of instances, plans and events by being called, and only takes a note there.
What happened at one moment is noted in the order plans, instances, objects by their version; so two runs of one
scenario note the same. An event comes after the object that was written last when it was told: what the cluster's own
components tell is heard from its ledger, whether anybody has the objects made or not, and what others write from these.
"""

from collections import deque
from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from typing import Final

import msgspec

from baseload.cloud.port import Instance
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.api.ledger import KEPT, Row
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.embedded.store.subscription import Subscription
from baseload.journal.record import Plan
from baseload.plan.disrupt import Command
from baseload.plan.provision import ProvisionPlan
from baseload.replay.cloud_seen import CloudSeen
from baseload.replay.disruptions_seen import DisruptionsSeen
from baseload.replay.loops_seen import LoopsSeen
from baseload.replay.nodes_seen import ClaimsSeen, NodesSeen
from baseload.replay.notebook import Notebook
from baseload.replay.plans_seen import PlansSeen
from baseload.replay.pods_seen import CLASSES, PodsSeen, Seen
from baseload.replay.series import ENDED_BY
from baseload.replay.workloads import workload_of
from baseload.values.instant import SECOND
from baseload.values.label import NODEPOOL
from baseload.world.living import Living

PRIORITY: Final = 1000
"""After everything else that is due at a moment"""
_ALL: Final = ("added", "bound", "marked", "spec", "status", "other", "removed")
_LONG: Final = 1e9
_REMEMBERED: Final = 1 << 16  # events that are told apart
_version: Final = attrgetter("version")


class _About(msgspec.Struct):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class _Source(msgspec.Struct):
    component: str = ""


class _Told(msgspec.Struct, rename="camel"):
    """An API event, as far as it is told on."""

    involved_object: _About = msgspec.field(default_factory=_About)
    regarding: _About = msgspec.field(default_factory=_About)
    reason: str = ""
    message: str = ""
    note: str = ""
    source: _Source = msgspec.field(default_factory=_Source)
    reporting_component: str = ""
    count: int = 1


_told: Final = msgspec.json.Decoder(_Told).decode


class _Heard(msgspec.Struct, frozen=True, gc=False):
    """An event that was told."""

    version: int
    """Of what was written before"""
    is_new: bool
    reason: str
    kind: str  # of what it is about
    namespace: str
    name: str
    source: str
    message: str


class Witness:
    """Sees one living cluster."""

    def __init__(self, living: Living, notebook: Notebook, *, known: Collection[str] = ()) -> None:
        """`known` are the objects that the journal has told of before this run."""
        self._known = known
        self._living, self._note = living, notebook
        self._bell = living.clock.bell()
        client = ActorClient(living.cluster, "baseload")
        self._client = client
        ring = self._bell.ring
        self._pods = client.subscribe("", "Pod", CLASSES, ring)
        self._nodes = client.subscribe("", "Node", _ALL, ring)
        self._claims = client.subscribe("karpenter.sh", "NodeClaim", _ALL, ring)
        self._events: Subscription | None = None
        self._rows: list[_Heard] = []
        if notebook.writer is not None or notebook.book.asks_for("events"):
            self._events = client.subscribe("", "Event", ("added", "spec"), ring)
            living.cluster.events.followers.append(self._followed)
        self._plans: deque[ProvisionPlan | Command] = deque()
        self.plans = PlansSeen(notebook)
        self.disruptions = DisruptionsSeen(notebook)
        self.nodes = NodesSeen(notebook)
        self.claims = ClaimsSeen(notebook)
        self.pods = PodsSeen(notebook, client.store, self._bound)
        self.loops = LoopsSeen(notebook, self._workload_of, self._replicas)
        self.cloud = CloudSeen(notebook, living.cloud.region, ring, self._ended)
        self._up: dict[str, bool] = {}
        self._starts: dict[str, int] = {}
        self._heard: dict[tuple[str, ...], int] = {}  # what events say -> when it was told
        living.planned = living.disrupted = self._planned
        living.gives_reasons = notebook.writer is not None
        for process in living.processes.values():
            process.told = ring

    async def run(self) -> None:
        """Sees everything until the end."""
        self._begin()
        while True:
            self.look()
            move = self.cloud.next_move()
            wait = _LONG if move is None else (move - self._living.clock.now()) / SECOND
            if not await self._bell.wait(wait):
                self.cloud.reprice()

    def look(self) -> None:
        """Notes what happened since the last time."""
        while self._plans:
            plan = self._plans.popleft()
            if isinstance(plan, Command):
                self.disruptions.hear(plan)
                self.loops.give_up(plan)
            else:
                self.plans.hear(plan)
                self.loops.launch(plan)
        self.cloud.drain()
        events: list[Event | _Heard] = list(self._pods.take())
        others: list[Event | _Heard] = [*self._nodes.take(), *self._claims.take(), *self._written()]
        told, self._rows = self._rows, []
        if others or told:
            events += others
            events += told
            events.sort(key=_version)
        for event in events:
            self._hear(event)
        self._look_at_processes()

    def finish(self) -> None:
        """The run ends now."""
        self.look()
        self.pods.finish()

    def _begin(self) -> None:
        """What is there at the start."""
        for subscription in (self._pods, self._nodes, self._claims):
            subscription.take()
        for name in self._living.processes:
            self._up[name] = False
            self._note.add("controllers.down", (name,))
        for record in _sorted(self._client.records("karpenter.sh", "NodeClaim")):
            self._meet(f"NodeClaim {record.name}", self.claims.look, record)
        for record in _sorted(self._client.records("", "Node")):
            self._meet(f"Node {record.name}", self.nodes.look, record)
        for record in _sorted(self._client.records("", "Pod")):
            self._meet(f"Pod {record.namespace}/{record.name}", self.pods.meet, record)

    def _meet(self, name: str, meet: Callable[[Record], object], record: Record) -> None:
        """What is there at the start, of which the journal need not tell again."""
        writer = self._note.writer
        if name in self._known:
            self._note.writer = None
        meet(record)
        self._note.writer = writer

    def _hear(self, event: Event | _Heard) -> None:
        if isinstance(event, _Heard):
            self._hear_told(event)
            return
        match event.record.resource.kind:
            case "Pod":
                self.pods.hear(event)
            case "Node":
                self.nodes.hear(event)
            case "NodeClaim":
                pool = event.record.shared.labels.get(NODEPOOL, "")
                self.claims.hear(event, self._plan_of(pool) if event.type == "ADDED" else None)

    def _followed(self, row: Row, is_new: bool) -> None:
        version = self._client.store.version
        source = row.component or "api"
        heard = (version, is_new, row.reason, row.kind, row.namespace, row.name, source, row.message)
        self._rows.append(_Heard(*heard))
        if len(self._rows) == 1:
            self._bell.ring()

    def _written(self) -> list[_Heard]:
        """The events that others wrote: what the ledger wrote was heard already."""
        written = self._events.take() if self._events is not None else []
        return [heard for event in written if (heard := _heard(event)) is not None]

    def _hear_told(self, told: _Heard) -> None:
        self._note.add("events", (told.reason, told.kind, told.namespace))
        if told.is_new and self._note.writer is not None and self._is_news(told):
            is_within = told.namespace and told.kind != "Node"
            name = f"{told.namespace}/{told.name}" if is_within else told.name
            self._note.tell(told.source, "event.told", f"{told.kind} {name}", told.reason, told.message)

    def _is_news(self, told: _Heard) -> bool:
        """Whether the same has not been told within the hour for which an event is kept."""
        key = told.kind, told.namespace, told.name, told.reason, told.message
        now = self._living.clock.now()
        before = self._heard.pop(key, None)
        self._heard[key] = now if before is None or now - before >= KEPT else before
        if len(self._heard) > _REMEMBERED:
            del self._heard[next(iter(self._heard))]
        return self._heard[key] == now

    def _workload_of(self, pod: str) -> str:
        """`namespace/Kind/name` of what a pod is made for, which itself goes by `namespace/name`."""
        namespace, _, name = pod.partition("/")
        store = self._client.store
        record = store.find(self._client.resource("", "Pod"), namespace, name)
        return pod if record is None else "/".join((namespace, *workload_of(store, record)))

    def _replicas(self, workload: str) -> int:
        """How many pods of a workload run."""
        parts = workload.split("/")
        return self.pods.running.get((parts[0], parts[-1]), 1)

    def _plan_of(self, pool: str) -> Plan | None:
        """Which decision a claim comes of that is now created of a pool."""
        return self.disruptions.name_of(pool) or self.plans.name_of(pool)

    def _planned(self, plan: ProvisionPlan | Command) -> None:
        self._plans.append(plan)
        self._bell.ring()

    def _bound(self, pod: Seen) -> None:
        if not pod.is_daemon:
            self.cloud.use(self.nodes.instances.get(pod.node, ""))

    def _ended(self, instance: Instance) -> None:
        """Pods whose containers still run on the instance are cut off."""
        table = self._client.store.table(self._client.resource("", "Pod"))
        cause = ENDED_BY.get(instance.reason, "failed")
        for pod in self.pods.ending(table.on_node(instance.private_dns)):
            self._note.add("podsCutOff", (*pod.labels, cause))
            self._note.tell("cloud", "pod.cutoff", pod.name, cause, f"Instance {instance.id} ended")

    def _look_at_processes(self) -> None:
        for name, process in self._living.processes.items():
            starts = self._starts.get(name, 0)
            was_up, self._starts[name] = self._up.get(name, False), process.starts
            is_another = process.starts > starts  # it may have ended and begun anew since
            if was_up and (is_another or not process.is_up):
                self._turn(name, is_up=False)
            if process.is_up and (is_another or not was_up):
                self._turn(name, is_up=True)

    def _turn(self, name: str, *, is_up: bool) -> None:
        """A controller came up or went down."""
        self._up[name] = is_up
        change = 1 if is_up else -1
        self._note.add("controllers.up", (name,), change)
        self._note.add("controllers.down", (name,), -change)
        if is_up:
            self._note.add("controllers.starts", (name,))
        self._note.tell("host", "controller.started" if is_up else "controller.stopped", f"Controller {name}")


def _heard(event: Event) -> _Heard | None:
    """What an object that somebody wrote tells; None where the ledger wrote it, or it cannot be read."""
    sections = event.record.body.sections
    if not isinstance(sections, bytes):
        return None
    try:
        told = _told(b"{%b}" % sections)
    except msgspec.ValidationError:
        return None
    about = told.involved_object if told.involved_object.kind else told.regarding
    source, is_new = told.source.component or told.reporting_component or "api", event.type == "ADDED"
    message = told.message or told.note
    return _Heard(event.version, is_new, told.reason, about.kind, about.namespace, about.name, source, message)


def _sorted(records: Mapping[str, Record]) -> list[Record]:
    return [records[key] for key in sorted(records)]
