"""When a node that stopped renewing its lease is found out, without a step for each renewal.

A kubelet renews its lease every 10 s, the lifecycle controller looks at all nodes every 5 s. The controller's deadline
runs from the look that first saw the last renewal, by its own clock (cluster-actors spec 17.1, 17.2, 17.11). So a node
that falls silent can be told the moment at which it will be Unknown, and a healthy one needs no event at all.
"""

from dataclasses import dataclass
from typing import Final

from baseload.values.instant import SECOND

RENEWAL: Final = 10 * SECOND  # a quarter of leaseDurationSeconds
LEASE_SECONDS: Final = 40  # leaseDurationSeconds
MONITOR: Final = 5 * SECOND  # between two looks of the controller
GRACE: Final = 50 * SECOND  # without a renewal until a node is Unknown
START_UP_GRACE: Final = 60 * SECOND  # the same for a node that never posted a status


@dataclass(frozen=True, slots=True)
class Looks:
    """The moments at which the controller looks: since it began, and every period."""

    began: int
    period: int = MONITOR

    def at_or_after(self, moment: int) -> int:
        """The first look that sees what happened at a moment."""
        return self.began + max(-(-(moment - self.began) // self.period), 0) * self.period


@dataclass(frozen=True, slots=True)
class Renewals:
    """The renewals of one kubelet: from a moment on, every period, the last one before it fell silent."""

    began: int
    silent: int | None = None  # None while it goes on
    period: int = RENEWAL

    def last(self, now: int) -> int:
        """The last renewal up to now."""
        until = now if self.silent is None else min(now, self.silent)
        return self.began + max(until - self.began, 0) // self.period * self.period


def unknown_at(last_renewal: int, looks: Looks, grace: int = GRACE) -> int:
    """The look at which a node is found Unknown, if it does not renew again."""
    seen = looks.at_or_after(last_renewal)
    return looks.at_or_after(seen + grace + 1)


def known_at(renewal: int, looks: Looks) -> int:
    """The look at which a node that renews again is found alive."""
    return looks.at_or_after(renewal)
