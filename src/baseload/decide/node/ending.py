"""How a container is stopped: preStop within the grace, SIGTERM, and SIGKILL at its end (cluster-actors spec 21.6)."""

from dataclasses import dataclass
from typing import Final

from baseload.values.instant import SECOND

EXTRA: Final = 2 * SECOND
"""What a container gets once after its grace, where its preStop hook used all of that"""
TERMINATED: Final = 143  # 128 + SIGTERM
KILLED: Final = 137  # 128 + SIGKILL


@dataclass(frozen=True, slots=True)
class Ending:
    """The moments of a stop, in nanoseconds since it began."""

    term: int  # when SIGTERM comes
    end: int
    is_killed: bool  # it did not end by itself

    def exit_code(self, own: int) -> int:
        """Its exit code, where it ends with `own` by itself."""
        return KILLED if self.is_killed else own


def ending(grace: int, pre_stop: int, stops_after: int) -> Ending:
    """The stop of a container whose preStop hook takes so long, and that ends so long after SIGTERM."""
    term = min(pre_stop, grace)
    last = grace if pre_stop < grace or not pre_stop else grace + EXTRA
    end = term + stops_after
    return Ending(term, end, is_killed=False) if end <= last else Ending(term, last, is_killed=True)
