"""The Nodes and NodeClaims of a run: how many there are in which state, and what becomes of each."""

from typing import Final

import msgspec

from baseload.embedded.actors import nodes
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record, section
from baseload.journal.record import Plan
from baseload.replay.notebook import NOTHING, Facts, Notebook
from baseload.replay.series import Labels
from baseload.values import quantity
from baseload.values.label import CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL, ZONE

_MILLI: Final = quantity.UNIT // 1000
_PLACES: Final = (NODEPOOL, INSTANCE_TYPE, CAPACITY_TYPE, ZONE)
_STEPS: Final = ("Launched", "Registered", "Initialized")


def labels_of(held: dict[str, str]) -> Labels:
    """What nodes are narrowed down by."""
    return tuple(held.get(key, "") for key in _PLACES)


class NodesSeen:
    """What the series and the journal are told of Nodes."""

    def __init__(self, notebook: Notebook) -> None:
        self._note = notebook
        self._facts: dict[str, Facts] = {}  # by uid
        self._ready: dict[str, bool] = {}
        self.instances: dict[str, str] = {}  # Node -> the id of its instance

    def hear(self, event: Event) -> None:
        if event.type == "DELETED":
            self._remove(event.record)
        else:
            self.look(event.record)

    def look(self, record: Record) -> None:
        """A Node as it is now."""
        labels, told, spec = labels_of(record.shared.labels), nodes.status(record), nodes.spec(record)
        ready = told.condition("Ready")
        is_ready = ready is not None and ready.status == "True"
        facts: dict[tuple[str, Labels], int] = {("nodes.total", labels): 1}
        facts["nodes.ready" if is_ready else "nodes.notReady", labels] = 1
        if spec.unschedulable:
            facts["nodes.cordoned", labels] = 1
        if (cores := quantity.parse(told.capacity.get("cpu", "0")) // _MILLI) > 0:
            facts["nodes.cpu", labels] = cores
        before = self._facts.get(record.uid)
        if before is None:
            self._note.tell("kubelet", "node.registered", f"Node {record.name}", message=_described(labels))
        self._note.become(before or NOTHING, facts)
        self._facts[record.uid] = facts
        self.instances[record.name] = spec.provider_id.rpartition("/")[2]
        was_ready = self._ready.get(record.uid, False)
        if is_ready != was_ready:
            self._ready[record.uid] = is_ready
            if was_ready:
                self._note.add("nodes.flaps", labels)
            reason, message = ("", "") if ready is None else (ready.reason, ready.message)
            event = "node.ready" if is_ready else "node.notready"
            self._note.tell("kubelet", event, f"Node {record.name}", reason, message)

    def _remove(self, record: Record) -> None:
        self._note.become(self._facts.pop(record.uid, NOTHING), NOTHING)
        self._ready.pop(record.uid, None)
        self.instances.pop(record.name, None)
        self._note.tell("api", "node.removed", f"Node {record.name}")


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Status(msgspec.Struct, rename="camel"):
    node_name: str = ""
    provider_id: str = msgspec.field(name="providerID", default="")
    conditions: list[_Condition] = []


_decode: Final = msgspec.json.Decoder(_Status).decode


class ClaimsSeen:
    """What the series and the journal are told of NodeClaims."""

    def __init__(self, notebook: Notebook) -> None:
        self._note = notebook
        self._facts: dict[str, Facts] = {}
        self._steps: dict[str, dict[str, None]] = {}  # uid -> what it has come to

    def hear(self, event: Event, planned: Plan | None = None) -> None:
        if event.type == "DELETED":
            self._remove(event.record)
        else:
            self.look(event.record, planned)

    def look(self, record: Record, planned: Plan | None = None) -> None:
        """A NodeClaim as it is now; `planned` says which plan made it under which name, where it is new."""
        labels = labels_of(record.shared.labels)
        told = _status(record)
        held = {one.type: one for one in told.conditions}
        facts: dict[tuple[str, Labels], int] = {("nodeClaims.total", labels): 1}
        if (one := held.get("Initialized")) is not None and one.status == "True":
            facts["nodeClaims.initialized", labels] = 1
        if record.deletion is not None:
            facts["nodeClaims.deleting", labels] = 1
        before = self._facts.get(record.uid)
        name = f"NodeClaim {record.name}"
        steps = self._steps.setdefault(record.uid, {})
        if before is None:
            said = [f"of NodePool {labels[0]}"] if labels[0] else []
            said += [f"planned as {planned['name']} of {planned['of']}"] if planned else []
            source = "karpenter" if planned else "api"
            self._note.tell(source, "nodeclaim.created", name, message=", ".join(said), plan=planned)
        self._note.become(before or NOTHING, facts)
        self._facts[record.uid] = facts
        for step in _STEPS:
            if step not in steps and (one := held.get(step)) is not None and one.status == "True":
                steps[step] = None
                self._note.tell("karpenter", f"nodeclaim.{step.lower()}", name, message=_came_to(step, told, labels))
        if record.deletion is not None and "deleted" not in steps:
            steps["deleted"] = None
            why = next((held[step] for step in _STEPS if step in held and held[step].status != "True"), None)
            self._note.tell("api", "nodeclaim.deleted", name, why.reason if why else "", why.message if why else "")

    def _remove(self, record: Record) -> None:
        self._note.become(self._facts.pop(record.uid, NOTHING), NOTHING)
        self._steps.pop(record.uid, None)
        self._note.tell("karpenter", "nodeclaim.removed", f"NodeClaim {record.name}")


def _status(record: Record) -> _Status:
    try:
        return _decode(section(record.status) or b"{}")
    except msgspec.ValidationError:
        return _Status()


def _came_to(step: str, told: _Status, labels: Labels) -> str:
    if step == "Launched":
        return f"instance {told.provider_id.rpartition('/')[2]}, {_described(labels)}"
    return f"Node {told.node_name}" if told.node_name else ""


def _described(labels: Labels) -> str:
    pool, instance_type, capacity_type, zone = labels
    said = [part for part in (instance_type, capacity_type, zone) if part]
    return ", ".join([*said, *([f"NodePool {pool}"] if pool else [])])
