"""What the pods of a workload use together, as a scenario says it: equal shares for those that run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from baseload.embedded.api.usage import Amounts, Usage
from baseload.embedded.store.record import Record
from baseload.values.clock import Clock

Curve = tuple[tuple[int, int], ...]
"""(moment after the begin, amount in nano-units), by rising moments; straight lines between them"""
Workload = tuple[str, str]
_RESOURCES: Final = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class Load:
    """From a moment on."""

    since: int
    curves: Mapping[str, Curve]  # by resource


class Loads:
    """The loads of a cluster; `of` tells which workload a pod is of, `running` its pods that run now."""

    def __init__(
        self,
        clock: Clock,
        usual: Usage,
        of: Callable[[Record], Workload],
        running: Callable[[Workload], int],
    ) -> None:
        self._clock, self._usual, self._of, self._running = clock, usual, of, running
        self._loads: dict[Workload, Load] = {}

    def set(self, workload: Workload, curves: Mapping[str, Curve]) -> None:
        """The load of a workload from now on, in place of what it was."""
        self._loads[workload] = Load(self._clock.now(), curves)

    def usage(self, pod: Record) -> Mapping[str, Amounts]:
        """What the containers of a pod use now."""
        usual = self._usual(pod)
        load = self._loads.get(self._of(pod)) if self._loads else None
        if load is None or not usual:
            return usual
        sharers = max(self._running(self._of(pod)), 1) * len(usual)
        age = self._clock.now() - load.since
        said = {name: at(curve, age) // sharers for name, curve in load.curves.items()}
        return {container: {**amounts, **said} for container, amounts in usual.items()}


def at(curve: Curve, age: int) -> int:
    """The amount of a curve at an age; before its first point and after its last it stays."""
    before = curve[0]
    if age <= before[0]:
        return before[1]
    for point in curve[1:]:
        if age < point[0]:
            return before[1] + (point[1] - before[1]) * (age - before[0]) // (point[0] - before[0])
        before = point
    return before[1]
