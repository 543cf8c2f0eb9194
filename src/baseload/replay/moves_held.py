"""Whether moves by choice leave alone whom do-not-disrupt protects, and whoever is moved finds a place again."""

from dataclasses import dataclass
from typing import Final

from baseload.embedded.actors import pods
from baseload.embedded.store.record import Record
from baseload.plan.disrupt import DRIFTED, Command
from baseload.replay.claims_held import Claim, Faults
from baseload.replay.evictions_held import Pods
from baseload.values import duration, instant
from baseload.values.duration import HOUR, MINUTE, SECOND

DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
STRANDED: Final = 15 * MINUTE
"""So long a pod that was made for one that was moved may be without a node"""
HEARD: Final = 10 * SECOND
"""What happened within so long before a decision may have come too late for it: the API server may be slow"""
OPEN: Final = 2 * HOUR
"""So long after a decision others may take the room that it meant"""
MADE: Final = 1 * MINUTE
"""Within so long a workload makes a pod for one that was evicted"""


def is_protected(pod: Record, now: int) -> bool:
    """Whether do-not-disrupt is in force: for good, or for a time from the pod's start on."""
    told = pod.shared.annotations.get(DO_NOT_DISRUPT)
    if told is None or told == "true":
        return told is not None
    try:
        length = duration.parse(told)
    except ValueError:
        return False
    started = pods.status(pod).start_time
    return length > 0 and (not started or now < instant.parse(started) + length)


@dataclass(slots=True, eq=False)
class _Given:
    """A node that a command gives up."""

    claim: str
    node: str
    reason: str
    protected: tuple[str, ...]  # the pods there that it had to know of
    since: int
    meant: frozenset[str]  # nodes that are to take its pods
    there: frozenset[str]  # nodes with pods; others have come since
    is_crowded: bool = False
    """Another pod took room that was meant for the pods that move"""


class MovesHeld:
    """Follows the commands of disruption, and the pods that they move."""

    def __init__(self, held: Pods, faults: Faults) -> None:
        self._held, self._faults, self._clock = held, faults, held.clock
        self._given: dict[str, _Given] = {}  # claim -> what is given up with it
        self._recent: list[_Given] = []  # those whose pods may be without a place yet
        self._leaving: dict[str, _Given] = {}  # node -> what a command deleted
        self._owed: dict[str, list[tuple[int, _Given]]] = {}  # uid of a controller -> the pods that it is to make
        self._waiting: dict[str, tuple[int, str, _Given]] = {}  # uid of a pod without a place -> since when, its name

    def decide(self, command: Command) -> None:
        """A command begins."""
        now, there = self._clock.now(), self._held.nodes()
        meant = frozenset(moved.to for moved in command.pods)
        for one in command.candidates:
            bound = [(self._held.of_uid(uid), since) for uid, since in self._held.on_node(one.node)]
            protected = tuple(
                f"{pod.namespace}/{pod.name}"
                for pod, since in bound
                if pod is not None and pod.deletion is None and not pods.is_over(pod)
                if is_protected(pod, now) and now - since > HEARD
            )
            given = _Given(one.node_claim, one.node, command.reason, protected, now, meant, there)
            self._given[one.node_claim] = given
            self._recent.append(given)

    def end(self, name: str, claim: Claim | None) -> None:
        """A command has deleted a claim."""
        given = self._given.pop(name, None)
        if given is None:
            return
        self._leaving[given.node] = given
        is_waived = given.reason == DRIFTED and claim is not None and claim.has_deadline
        if given.protected and not is_waived:
            told = f"with {', '.join(given.protected)}, which do-not-disrupt protects"
            self._faults.add(f"NodeClaim {name} was deleted as {given.reason} {told}")

    def evict(self, pod: Record) -> None:
        """A pod is evicted."""
        given = self._leaving.get(pod.node)
        if given is None:
            return
        if is_protected(pod, self._clock.now()):
            told = f"which do-not-disrupt protects, was evicted from NodeClaim {given.claim}"
            self._faults.add(f"Pod {pod.namespace}/{pod.name}, {told}")
        if owner := _controller(pod):
            self._owed.setdefault(owner, []).append((self._clock.now(), given))

    def come(self, pod: Record) -> None:
        """A pod is made; perhaps for one that was moved."""
        owner = _controller(pod)
        if not self._owed or owner not in self._owed:
            return
        now = self._clock.now()
        owed = [one for one in self._owed.pop(owner) if now - one[0] <= MADE]
        if owed:
            self._waiting[pod.uid] = now, f"{pod.namespace}/{pod.name}", owed.pop(0)[1]
        if owed:
            self._owed[owner] = owed

    def bind(self, pod: Record) -> None:
        """A pod got a node."""
        own = None
        if pod.uid in self._waiting:
            self._judge(pod.uid)
            own = self._waiting.pop(pod.uid)[2]
        if not self._recent or _is_daemon(pod):
            return
        now = self._clock.now()
        self._recent = [given for given in self._recent if now - given.since <= OPEN]
        for given in self._recent:
            if given is not own:
                given.is_crowded |= pod.node in given.meant or pod.node not in given.there

    def leave(self, pod: Record) -> None:
        """A pod is gone."""
        self._waiting.pop(pod.uid, None)

    def look(self) -> None:
        """Whoever has waited too long."""
        now = self._clock.now()
        for uid in [uid for uid, (since, _, _) in self._waiting.items() if now - since > STRANDED]:
            self._judge(uid)
            del self._waiting[uid]

    def _judge(self, uid: str) -> None:
        since, name, given = self._waiting[uid]
        if self._clock.now() - since > STRANDED and not given.is_crowded:
            waited = duration.format(STRANDED)
            self._faults.add(f"Pod {name} was made for one that a command moved, and had no node for {waited}")


def _is_daemon(pod: Record) -> bool:
    return any(one.kind == "DaemonSet" for one in pod.shared.owners)


def _controller(pod: Record) -> str:
    return next((one.uid for one in pod.shared.owners if one.controller and one.kind != "DaemonSet"), "")
