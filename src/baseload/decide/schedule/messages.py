"""The sentence that says why no node took a pod, in kube-scheduler's words (cluster-actors 3.1-3.4)."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from baseload.decide.schedule.statuses import Status

NO_NODES: Final = "no nodes available to schedule pods"
GATED: Final = "Scheduling is blocked due to non-empty scheduling gates"
_LONGEST: Final = 1024  # bytes of an event's message (1.13)
_CUT: Final = " ..."


def unfit(nodes: int, statuses: Iterable[tuple[Status, int]], *, rejected: str = "", preemption: str = "") -> str:
    """`statuses` with how many nodes have each; `rejected` is the word of a plugin that refused before any node."""
    counts: Counter[str] = Counter()
    for status, count in statuses:
        for reason in status.reasons:
            counts[reason] += count
    # Sorted as texts: 10 of one thing stand before 2 of another.
    listed = rejected or ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    text = f"0/{nodes} nodes are available:{f' {listed}.' if listed else ''}"
    return f"{text} {preemption}" if preemption else text


def after_filter(text: str) -> str:
    """What preemption says. From 1.37 on nothing about resource claims stands before it (seen on a real server)."""
    return f"preemption: {text}" if text else ""


def note(message: str) -> str:
    """A message as an event carries it."""
    raw = message.encode()
    if len(raw) <= _LONGEST:
        return message
    return raw[: _LONGEST - len(_CUT)].decode(errors="ignore") + _CUT
