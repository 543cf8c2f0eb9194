"""Why a node was given up, or what kept it and since when, told from a journal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.journal.record import Entry, Plan

DECIDED: Final = "disruption.decided"
KEEPING: Final = (
    *("DisruptionBlocked", "Unconsolidatable", "ConsolidationRejected", "NodeRepairBlocked"),
    *("FailedDraining", "TerminationGracePeriodExpiring"),
)
"""API events that say what keeps a node, or holds up its end"""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A command that took the node. Of one that was rolled back there is another one later."""

    entry: Entry
    method: str
    nodes: tuple[str, ...]  # all that went together
    replacements: tuple[Plan, ...]
    pods: tuple[tuple[str, str], ...]  # pod, where it was to go
    savings_per_hour: float


@dataclass(frozen=True, slots=True)
class Held:
    """What kept the node, as its events say it; `object` is the Node, its NodeClaim or its NodePool."""

    entry: Entry

    @property
    def object(self) -> str:
        return self.entry.object


def given_up(entries: Sequence[Entry], node: str) -> Iterator[GivenUp]:
    """The commands that had the node, in their order."""
    for entry in entries:
        if entry.event == DECIDED and node and (found := _command(entry)) is not None and node in found.nodes:
            yield found


def held(entries: Sequence[Entry], objects: Sequence[str]) -> Iterator[Held]:
    """What was told of these objects that keeps a node: each in its words once, when it was told first."""
    wanted, known = frozenset(objects), set()
    for entry in entries:
        if entry.event == "event.told" and entry.reason in KEEPING and entry.object in wanted:
            words = entry.reason, entry.message
            if words not in known:
                known.add(words)
                yield Held(entry)


def replacements(entry: Entry) -> tuple[Plan, ...]:
    """The claims that a command launches."""
    return tuple(one for one in _list(entry, "replacements") if isinstance(one, dict))


def _command(entry: Entry) -> GivenUp | None:
    if entry.plan is None:
        return None
    candidates = [one for one in _list(entry, "candidates") if isinstance(one, dict)]
    pods = [one for one in _list(entry, "pods") if isinstance(one, dict)]
    saves = entry.plan.get("savingsPerHour")
    return GivenUp(
        entry,
        str(entry.plan.get("method", "")),
        tuple(str(one.get("node", "")) for one in candidates),
        replacements(entry),
        tuple((str(one.get("pod", "")), str(one.get("to", ""))) for one in pods),
        float(saves) if isinstance(saves, int | float) else 0.0,
    )


def _list(entry: Entry, name: str) -> list[object]:
    found = (entry.plan or {}).get(name)
    return found if isinstance(found, list) else []
