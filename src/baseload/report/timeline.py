"""A run as a reader follows it: what happened when, a line each, out of the thousands that a journal has.

Only what tells the story is kept: what a user or fate did, pods that come, wait, run and go, decisions and why, and
each step of NodeClaims and Nodes. What happens to many alike in one go is one line with their number: a line goes on
as long as its like comes at most `PAUSE` later and nobody intervenes. It stands at the moment of its first, and says
when the last was where that differs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol, cast

from baseload.report import amounts
from baseload.report.table import counted, fold
from baseload.values import duration
from baseload.values.duration import MILLISECOND, SECOND

PAUSE: Final = 10 * SECOND
_TENTH: Final = 100 * MILLISECOND
_NAMED: Final = 3  # names that are said, rather than their number


_Tree = Mapping[str, object]


class Entry(Protocol):
    """A line of a journal."""

    @property
    def moment(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def event(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def plan(self) -> _Tree | None: ...
    @property
    def object(self) -> str: ...


@dataclass(slots=True)
class _Told:
    """One line under way: what happened to how many, and details, each with how often it came."""

    first: int
    last: int
    say: Callable[[list[str]], str]
    names: dict[str, None] = field(default_factory=dict)
    details: Counter[str] = field(default_factory=Counter)


def lines(entries: Iterable[Entry], start: int) -> list[str]:
    """The timeline of a journal that begins at an instant."""
    teller = _Teller(start)
    for entry in entries:
        teller.hear(entry)
    teller.begin()
    moments = [_moment(told.first - start) for told in teller.told]
    width = max(map(len, moments), default=0)
    found: list[str] = []
    for moment, told in zip(moments, teller.told, strict=True):
        first, *more = _texts(told, start)
        found.append(f"{moment.rjust(width)}  {first}")
        found += [f"{' ' * width}    {text}" for text in more]
    return found


def _texts(told: _Told, start: int) -> list[str]:
    """What is said of one; where there are several details, each on a line of its own."""
    text = told.say(list(told.names))
    ranked = sorted(told.details.items(), key=lambda it: (-it[1], it[0]))
    if len(ranked) == 1:
        text += f": {ranked[0][0]}"
    first, last = _moment(told.first - start), _moment(told.last - start)
    if first != last:
        text += f", the last at {last}"
    return [text] if len(ranked) < 2 else [text, *(f"{count} x {detail}" for detail, count in ranked)]


def _moment(nanoseconds: int) -> str:
    """To a tenth of a second, as nobody needs more."""
    return duration.format((nanoseconds + _TENTH // 2) // _TENTH * _TENTH)


class _Teller:
    """Hears entries in their order."""

    def __init__(self, start: int) -> None:
        self.told: list[_Told] = []
        self._start = start
        self._there: Counter[str] = Counter()  # what is there from the start
        self._open: dict[tuple[str, str], _Told] = {}  # (event, of what) -> the line that goes on
        self._workloads: dict[str, str] = {}  # Pod namespace/name -> its workload
        self._waiting: set[str] = set()  # pods of which it was told that they wait
        self._ending: set[str] = set()  # pods that are deleted; their end is no news
        self._elder: set[str] = set()  # pods from before the start

    def hear(self, entry: Entry) -> None:
        kind = entry.event.partition(".")[0]
        if kind == "pod":
            self._pod(entry)
        elif kind == "event":
            self._event(entry)
        elif kind == "provisioning":
            self._plan(entry)
        elif kind == "disruption":
            self._command(entry)
        else:
            self._step(entry)

    def begin(self) -> None:
        """Says first what was there."""
        there = [counted(self._there[kind], kind) for kind in ("Node", "pod") if self._there[kind]]
        if there:
            text = f"there {'are' if sum(self._there.values()) > 1 else 'is'} {' and '.join(there)}"
            self.told.insert(0, _Told(self._start, self._start, lambda _: text))

    def _add(self, entry: Entry, of: str, say: Callable[[list[str]], str], detail: str = "", name: str = "") -> None:
        """Lengthens the line of its like, or begins one."""
        key = entry.event, of
        told = self._open.get(key)
        if told is None or entry.moment - told.last > PAUSE:
            told = self._open[key] = _Told(entry.moment, entry.moment, say)
            self.told.append(told)
        told.last = entry.moment
        told.names[name or entry.object] = None
        if detail:
            told.details[detail] += 1

    def _alone(self, entry: Entry, text: str) -> None:
        """A line of its own, after which nothing before it goes on."""
        self._open.clear()
        self.told.append(_Told(entry.moment, entry.moment, lambda _: text))

    # -- pods

    def _pod(self, entry: Entry) -> None:
        what, pod = entry.event.partition(".")[2], entry.object
        if what == "created":
            self._workloads[pod] = entry.message.removeprefix("of ")
            if entry.moment == self._start:
                self._elder.add(pod)
                self._there["pod"] += 1
        if what in _POD_STEPS and not self._is_no_news(entry, what):
            of, said = self._workloads.get(pod, ""), _POD_STEPS[what]
            detail = entry.reason if what in _WITH_REASON else ""
            self._add(entry, of, lambda names: f"{_pods(names, of)} {said}", detail)
        if what in ("deleted", "evicted"):
            self._ending.add(pod)
        elif what in ("bound", "removed"):
            self._waiting.discard(pod)

    def _is_no_news(self, entry: Entry, what: str) -> bool:
        """Kubelets look at what is there first; and what is deleted ends."""
        is_first_look = entry.object in self._elder and entry.moment - self._start <= PAUSE
        return is_first_look or (entry.object in self._ending and what in ("unready", "failed", "succeeded"))

    def _event(self, entry: Entry) -> None:
        """What the scenario had happen, and of API events that a pod finds no node."""
        if entry.source == "scenario":
            what = entry.event.partition(".")[2]
            self._alone(entry, f"> {what}{': ' if what == 'refused' else ' '}{entry.message}".rstrip())
        elif entry.reason == "FailedScheduling" and entry.object not in self._waiting:
            self._waiting.add(entry.object)
            of = self._workloads.get(entry.object, "")
            why = entry.message.partition(". ")[0]
            self._add(entry, of, lambda names: f"{_pods(names, of)} {_verb(names, 'waits', 'wait')} for a node", why)

    # -- decisions

    def _plan(self, entry: Entry) -> None:
        plan = entry.plan or {}
        claims = [cast(_Tree, one) for one in cast("list[object]", plan.get("nodeClaims", []))]
        placed = sum(len(cast("list[object]", claim["pods"])) for claim in claims)
        if claims:
            said = f"planned {counted(len(claims), 'NodeClaim')} for {counted(placed, 'pod')}"
            self.told.append(_Told(entry.moment, entry.moment, lambda _: said, details=Counter(map(_offer, claims))))
        for one in cast("list[object]", plan.get("unschedulable", [])):
            self._unplaced(entry, cast(_Tree, one))

    def _unplaced(self, entry: Entry, refused: _Tree) -> None:
        """Told once of a workload and a reason, whatever other pods of it are the ones that later plans leave out."""
        why = _why(refused)
        for pod in cast("list[str]", refused["pods"]):
            of = self._workloads.get(f"Pod {pod}", "")
            told = self._open.get((entry.event, f"{of} {why}"))
            if told is None or told.first == entry.moment:
                self._add(entry, f"{of} {why}", partial(_no_node, of=of, why=why), name=f"Pod {pod}")

    def _command(self, entry: Entry) -> None:
        """What is given up by choice."""
        plan = entry.plan or {}
        saves = plan.get("savingsPerHour")
        detail = f"saves {amounts.price(float(saves))} an hour" if isinstance(saves, int | float) and saves > 0 else ""
        said = f"{entry.reason}: {entry.message}"
        details = Counter([detail] if detail else [])
        self.told.append(_Told(entry.moment, entry.moment, lambda _: said, details=details))

    # -- nodes

    def _step(self, entry: Entry) -> None:
        said = _STEPS.get(entry.event)
        if said is None:
            return
        if entry.moment == self._start and entry.event in ("node.ready", "controller.started"):
            self._there["Node"] += entry.event == "node.ready"
            return
        detail = ""
        if entry.event == "nodeclaim.launched":
            detail = entry.message.partition(", ")[2]  # without the id of the instance
        elif entry.event in _SAY_WHY:
            detail = entry.reason
        self._add(entry, "", lambda names: f"{_things(names)} {said}", detail)


_POD_STEPS: Final = {
    "created": "created",
    "ready": "ready",
    "unready": "not ready any more",
    "evicted": "evicted",
    "deleted": "deleted",
    "cutoff": "cut off by the end of their machine",
    "failed": "failed",
    "succeeded": "succeeded",
    "restarted": "restarted",
}
_WITH_REASON: Final = ("evicted", "failed", "restarted", "cutoff")
_STEPS: Final = {
    "nodeclaim.created": "created",
    "nodeclaim.launched": "launched",
    "nodeclaim.registered": "registered",
    "nodeclaim.initialized": "initialized",
    "nodeclaim.deleted": "deleted",
    "nodeclaim.removed": "gone",
    "node.ready": "Ready",
    "node.notready": "NotReady",
    "node.removed": "gone",
    "instance.interrupted": "told of an interruption",
    "instance.ending": "ending",
    "controller.started": "started",
    "controller.stopped": "stopped",
    "controller.killed": "killed",
}
_SAY_WHY: Final = ("node.notready", "nodeclaim.deleted", "instance.ending", "instance.interrupted")


def _pods(names: list[str], of: str) -> str:
    return f"{counted(len(names), 'pod')} of {of}" if of else fold(names)


def _no_node(names: list[str], *, of: str, why: str) -> str:
    return f"no node is launched for {_pods(names, of)}: {why}"


def _verb(names: list[str], one: str, many: str) -> str:
    return one if len(names) == 1 else many


def _things(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    kind = names[0].partition(" ")[0]
    named = f" ({', '.join(name.partition(' ')[2] for name in names)})" if len(names) <= _NAMED else ""
    return f"{len(names)} {kind}s{named}"


def _offer(claim: _Tree) -> str:
    price = claim.get("pricePerHour")
    dollars = amounts.price(float(price)) if isinstance(price, int | float) else "an unknown price"
    pods = counted(len(cast("list[object]", claim["pods"])), "pod")
    return f"{claim['instanceType']} {claim['capacityType']} in {claim['zone']} at {dollars}, for {pods}"


def _why(refused: _Tree) -> str:
    """Why a pod gets no node: what the NodePools say, where that was asked."""
    rejections = cast("list[_Tree]", refused.get("rejections") or [])
    pools = [one for one in rejections if str(one["target"]).startswith("nodePool/")]
    if not pools:
        return str(refused["message"])
    return "; ".join(f"NodePool {str(one['target']).partition('/')[2]}: {one['message']}" for one in pools)
