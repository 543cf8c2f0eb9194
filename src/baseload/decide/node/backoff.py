"""CrashLoopBackOff: when a container that ended is started again (cluster-actors spec 21.2)."""

from dataclasses import dataclass
from typing import Final

from baseload.values.instant import SECOND

FIRST: Final = 10 * SECOND
LONGEST: Final = 300 * SECOND
"""The kubelet's maxContainerRestartPeriod"""


@dataclass(frozen=True, slots=True)
class Backoff:
    """What the kubelet remembers of a container's restarts."""

    delay: int  # before the next restart, in nanoseconds
    updated: int  # when it was last restarted


def restart(held: Backoff | None, finished: int, longest: int = LONGEST) -> tuple[int, Backoff]:
    """When a container that ended at a moment starts again, and what is remembered from then on.

    The first restart is immediate. One that comes more than twice the longest delay after the last counts as a first.
    """
    if held is None or finished - held.updated > 2 * longest:
        return finished, Backoff(min(FIRST, longest), finished)
    at = finished + held.delay
    return at, Backoff(min(2 * held.delay, longest), at)
