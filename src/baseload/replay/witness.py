"""Who sees a run: one task that comes last at every moment, takes what happened since, and notes it in a fixed order.

It hears of objects by class of change, of instances and plans by being called, and only takes a note there. What
happened at one moment is noted in the order plans, instances, objects by their version; so two runs of one scenario
note the same.
"""

from collections import deque
from collections.abc import Mapping
from operator import attrgetter
from typing import Final

import msgspec

from baseload.cloud.port import Instance
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.recorder import KEPT
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.embedded.store.subscription import Subscription
from baseload.plan.provision import ProvisionPlan
from baseload.replay.cloud_seen import CloudSeen
from baseload.replay.nodes_seen import ClaimsSeen, NodesSeen
from baseload.replay.notebook import Notebook
from baseload.replay.plans_seen import PlansSeen
from baseload.replay.pods_seen import CLASSES, PodsSeen, Seen
from baseload.replay.series import ENDED_BY
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


class Witness:
    """Sees one living cluster."""

    def __init__(self, living: Living, notebook: Notebook) -> None:
        self._living, self._note = living, notebook
        self._bell = living.clock.bell()
        client = ActorClient(living.cluster, "baseload")
        self._client = client
        ring = self._bell.ring
        self._pods = client.subscribe("", "Pod", CLASSES, ring)
        self._nodes = client.subscribe("", "Node", _ALL, ring)
        self._claims = client.subscribe("karpenter.sh", "NodeClaim", _ALL, ring)
        self._events: Subscription | None = None
        if notebook.writer is not None or notebook.book.asks_for("events"):
            self._events = client.subscribe("", "Event", ("added", "spec"), ring)
        self._plans: deque[ProvisionPlan] = deque()
        self.plans = PlansSeen(notebook)
        self.nodes = NodesSeen(notebook)
        self.claims = ClaimsSeen(notebook)
        self.pods = PodsSeen(notebook, client.store, self._bound)
        self.cloud = CloudSeen(notebook, living.cloud.region, ring, self._ended)
        self._up: dict[str, bool] = {}
        self._heard: dict[tuple[str, ...], int] = {}  # what events say -> when it was told
        living.planned = self._planned
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
            self.plans.hear(self._plans.popleft())
        self.cloud.drain()
        events = self._pods.take()
        others = [*self._nodes.take(), *self._claims.take(), *(self._events.take() if self._events else ())]
        if others:
            events = sorted([*events, *others], key=_version)
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
            self.claims.look(record)
        for record in _sorted(self._client.records("", "Node")):
            self.nodes.look(record)
        for record in _sorted(self._client.records("", "Pod")):
            self.pods.meet(record)

    def _hear(self, event: Event) -> None:
        match event.record.resource.kind:
            case "Pod":
                self.pods.hear(event)
            case "Node":
                self.nodes.hear(event)
            case "NodeClaim":
                pool = event.record.shared.labels.get(NODEPOOL, "")
                self.claims.hear(event, self.plans.name_of(pool) if event.type == "ADDED" else None)
            case _:
                self._hear_told(event)

    def _hear_told(self, event: Event) -> None:
        try:
            told = _told(b"{%b}" % event.record.body.raw)
        except msgspec.ValidationError:
            return
        about = told.involved_object if told.involved_object.kind else told.regarding
        self._note.add("events", (told.reason, about.kind, about.namespace))
        if event.type == "ADDED" and self._note.writer is not None and self._is_news(told, about):
            name = f"{about.namespace}/{about.name}" if about.namespace and about.kind != "Node" else about.name
            source = told.source.component or told.reporting_component or "api"
            message = told.message or told.note
            self._note.tell(source, "event.told", f"{about.kind} {name}", told.reason, message)

    def _is_news(self, told: _Told, about: _About) -> bool:
        """Whether the same has not been told within the hour for which an event is kept."""
        key = about.kind, about.namespace, about.name, told.reason, told.message or told.note
        now = self._living.clock.now()
        before = self._heard.pop(key, None)
        self._heard[key] = now if before is None or now - before >= KEPT else before
        if len(self._heard) > _REMEMBERED:
            del self._heard[next(iter(self._heard))]
        return self._heard[key] == now

    def _planned(self, plan: ProvisionPlan) -> None:
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
            if process.is_up != self._up.get(name, False):
                self._up[name] = process.is_up
                change = 1 if process.is_up else -1
                self._note.add("controllers.up", (name,), change)
                self._note.add("controllers.down", (name,), -change)
                if process.is_up:
                    self._note.add("controllers.starts", (name,))
                event = "controller.started" if process.is_up else "controller.stopped"
                self._note.tell("host", event, f"Controller {name}")


def _sorted(records: Mapping[str, Record]) -> list[Record]:
    return [records[key] for key in sorted(records)]
