"""The story of one pod or one node, told from a journal: what befell it, and what it waited for meanwhile."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from baseload.journal import disruptions
from baseload.journal.disruptions import GivenUp, Held
from baseload.journal.record import Entry

TO_NODE: Final = "to Node "
NODE: Final = "Node "
PLANNED: Final = "provisioning.planned"
_LAST: Final = ("nodeclaim.removed", "node.removed", "instance.gone")
_PLACE_PODS: Final = ("Controller karpenter", "Controller scheduler")
_SAME: Final = 20  # entries of a kind that are told


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision about a pod: the claim or node that it was to get, or why it got none."""

    entry: Entry
    node: str = ""  # one that was there
    claim: dict[str, object] = field(default_factory=dict)  # as it was planned
    nodeclaim: str = ""  # the NodeClaim that was created for it
    reason: str = ""
    message: str = ""
    rejections: tuple[str, ...] = ()  # what each target, or each kind of targets, said


@dataclass(frozen=True, slots=True)
class Wait:
    """What a pod waited for, between two moments; None where it still does."""

    what: str  # node | containers | end
    begins: int
    ends: int | None
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PodLife:
    """One life of a pod; pods of one name may have several."""

    pod: str
    entries: tuple[Entry, ...]
    choices: tuple[Choice, ...]
    node: str
    waits: tuple[Wait, ...]
    around: tuple[Entry, ...]  # what befell the claim, the node and the controllers that it waited for


@dataclass(frozen=True, slots=True)
class Guest:
    """A pod on a node, from a moment to another one or the end of the journal."""

    pod: str
    since: int
    until: int | None


@dataclass(frozen=True, slots=True)
class NodeLife:
    """A node with its claim and its instance."""

    node: str
    nodeclaim: str
    instance: str
    choice: Choice | None  # the decision that made it
    entries: tuple[Entry, ...]
    guests: tuple[Guest, ...]
    given_up: tuple[GivenUp, ...] = ()  # the commands of disruption that had it
    held: tuple[Held, ...] = ()  # what kept it, as it was told


def pod(entries: Sequence[Entry], name: str) -> tuple[PodLife, ...]:
    """The lives of a pod, by `namespace/name`; none where the journal does not know it."""
    object = f"Pod {name}"
    lives: list[list[Entry]] = []
    for entry in entries:
        if entry.object != object:
            continue
        if entry.event == "pod.created" or not lives:
            lives.append([])
        lives[-1].append(entry)
    if not lives:
        return ()
    begins = [life[0].seq for life in lives]
    ends = [*begins[1:], entries[-1].seq + 1]
    away = tuple(_absences(entries))
    return tuple(
        _pod_life(name, life, [one for one in entries if begin <= one.seq < end], away)
        for life, begin, end in zip(lives, begins, ends, strict=True)
    )


def node(entries: Sequence[Entry], name: str) -> NodeLife | None:
    """The life of a node by its name, or by that of its NodeClaim or instance; None where the journal knows none."""
    claim, instance, node_name = _names(entries, name)
    objects = {f"Node {node_name}", f"NodeClaim {claim}", f"Instance {instance}"}
    own = tuple(entry for entry in entries if entry.object in objects)
    if not own:
        return None
    created = next((entry for entry in own if entry.event == "nodeclaim.created"), None)
    choice = None if created is None else _made_by(entries, created)
    ends = next((entry.seq for entry in reversed(own) if entry.event in _LAST), entries[-1].seq)
    lived = [entry for entry in entries if own[0].seq <= entry.seq <= ends]
    pool = f"NodePool {choice.claim.get('nodePool')}" if choice is not None else ""
    return NodeLife(
        node_name,
        claim,
        instance,
        choice,
        own,
        tuple(_guests(entries, node_name)) if node_name else (),
        tuple(disruptions.given_up(entries, node_name)),
        tuple(disruptions.held(lived, (f"Node {node_name}", f"NodeClaim {claim}", pool))),
    )


def _absences(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry | None]]:
    """When those were away who place pods: the end of a process, and its next start if there is one."""
    gone: dict[str, Entry] = {}
    for entry in entries:
        if entry.object not in _PLACE_PODS:
            continue
        if entry.event == "controller.stopped":
            gone[entry.object] = entry
        elif entry.event == "controller.started" and entry.object in gone:
            yield gone.pop(entry.object), entry
    for entry in gone.values():
        yield entry, None


def _pod_life(name: str, own: list[Entry], during: list[Entry], away: Sequence[tuple[Entry, Entry | None]]) -> PodLife:
    bound = next((entry for entry in own if entry.event == "pod.bound"), None)
    node_name = bound.message.removeprefix(TO_NODE) if bound is not None else ""
    before = [entry for entry in during if bound is None or entry.seq < bound.seq]
    choices = tuple(_choices(before, name))
    wanted = {f"NodeClaim {choice.nodeclaim}" for choice in choices if choice.nodeclaim}
    wanted |= {f"Node {node_name}"} if node_name else set()
    around = [entry for entry in before if entry.object in wanted and entry.event != "event.told"]
    first, last = own[0].seq, bound.seq if bound is not None else during[-1].seq + 1
    for stopped, started in away:
        if stopped.seq < last and (started is None or started.seq > first):
            around += [stopped] if started is None or started.seq > last else [stopped, started]
    return PodLife(name, tuple(own), choices, node_name, tuple(_waits(own, choices)), tuple(around))


def _choices(entries: Iterable[Entry], pod: str) -> Iterable[Choice]:
    """The decisions about a pod, each with the NodeClaim that came of it."""
    found: list[Choice] = []
    for entry in entries:
        if entry.event == "nodeclaim.created" and entry.plan is not None:
            for at, choice in enumerate(found):
                if choice.claim and (choice.entry.object, choice.claim.get("name")) == _planned_as(entry):
                    nodeclaim = entry.object.removeprefix("NodeClaim ")
                    found[at] = Choice(choice.entry, claim=choice.claim, nodeclaim=nodeclaim)
        elif entry.event == PLANNED and (choice_ := choice_of(entry, pod)) is not None:
            found.append(choice_)
    return found


def choice_of(entry: Entry, pod: str) -> Choice | None:
    """What a plan says of a pod."""
    for claim in _list(entry, "nodeClaims"):
        if pod in cast(list[object], claim.get("pods", [])):
            return Choice(entry, claim=claim)
    for placed in _list(entry, "placements"):
        if placed.get("pod") == pod:
            return Choice(entry, node=str(placed.get("node", "")))
    for unplaced in _list(entry, "unschedulable"):
        if pod in cast(list[object], unplaced.get("pods", [])):
            told = _maps(unplaced.get("rejections"))
            why = tuple(f"{one.get('target', '')}: {one.get('message', '')}" for one in told)
            reason, message = str(unplaced.get("reason", "")), str(unplaced.get("message", ""))
            return Choice(entry, reason=reason, message=message, rejections=why)
    return None


def _made_by(entries: Sequence[Entry], created: Entry) -> Choice | None:
    plan, name = _planned_as(created)
    for entry in entries:
        if entry.event in (PLANNED, disruptions.DECIDED) and entry.object == plan:
            for claim in (*_list(entry, "nodeClaims"), *disruptions.replacements(entry)):
                if claim.get("name") == name:
                    return Choice(entry, claim=claim, nodeclaim=created.object.removeprefix("NodeClaim "))
    return None


def _planned_as(created: Entry) -> tuple[str, object]:
    plan = created.plan or {}
    return str(plan.get("of", "")), plan.get("name")


def _list(entry: Entry, name: str) -> list[dict[str, object]]:
    return _maps((entry.plan or {}).get(name))


def _maps(held: object) -> list[dict[str, object]]:
    return [one for one in held if isinstance(one, dict)] if isinstance(held, list) else []


def _waits(own: list[Entry], choices: tuple[Choice, ...]) -> Iterable[Wait]:
    begins = own[0].moment
    bound = next((entry for entry in own if entry.event == "pod.bound"), None)
    ended = next((entry for entry in own if entry.event in ("pod.removed", "pod.failed", "pod.succeeded")), None)
    until = bound or ended
    why = [entry.message for entry in own if entry.reason == "FailedScheduling" and _is_before(entry, bound)]
    why += [choice.message for choice in choices if choice.message]
    yield Wait("node", begins, None if until is None else until.moment, tuple(dict.fromkeys(why))[:_SAME])
    if bound is None:
        return
    ready = next((entry for entry in own if entry.event == "pod.ready"), None)
    until = ready or ended
    told = [
        entry for entry in own if entry.event == "event.told" and entry.seq > bound.seq and _is_before(entry, ready)
    ]
    trouble = [f"{entry.reason}: {entry.message}" for entry in told if entry.reason not in _USUAL]
    yield Wait(
        "containers", bound.moment, None if until is None else until.moment, tuple(dict.fromkeys(trouble))[:_SAME]
    )


_USUAL: Final = ("Scheduled", "Pulled", "Pulling", "Created", "Started")


def _is_before(entry: Entry, other: Entry | None) -> bool:
    return other is None or entry.seq < other.seq


def _names(entries: Sequence[Entry], name: str) -> tuple[str, str, str]:
    """NodeClaim, instance and Node, of which one has that name; "" for what there is none of."""
    claim = instance = node_name = ""
    for entry in entries:
        kind, _, own = entry.object.partition(" ")
        if kind == "NodeClaim" and entry.event == "nodeclaim.launched":
            id = entry.message.removeprefix("instance ").partition(",")[0]
            if name in (own, id):
                claim, instance = own, id
        elif kind == "NodeClaim" and entry.event == "nodeclaim.registered":
            if name in (own, entry.message.removeprefix(NODE)) or own == claim:
                claim, node_name = own, entry.message.removeprefix(NODE)
        elif own == name:
            claim = own if kind == "NodeClaim" else claim
            node_name = own if kind == "Node" else node_name
            instance = own if kind == "Instance" else instance
    if claim and not instance:
        launched = (one for one in entries if one.object == f"NodeClaim {claim}" and one.event == "nodeclaim.launched")
        instance = next((one.message.removeprefix("instance ").partition(",")[0] for one in launched), "")
    return claim, instance, node_name


def _guests(entries: Sequence[Entry], node_name: str) -> Iterable[Guest]:
    there: dict[str, int] = {}
    guests: list[Guest] = []
    for entry in entries:
        if entry.event == "pod.bound" and entry.message == f"{TO_NODE}{node_name}":
            there[entry.object] = entry.moment
        elif entry.object in there and entry.event in ("pod.removed", "pod.succeeded", "pod.failed"):
            guests.append(Guest(entry.object.removeprefix("Pod "), there.pop(entry.object), entry.moment))
    guests += [Guest(object.removeprefix("Pod "), since, None) for object, since in there.items()]
    return sorted(guests, key=lambda guest: (guest.since, guest.pod))
