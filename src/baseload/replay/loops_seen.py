"""Whether disruption went in circles in a run: a series, lines of the journal, and notes of the report."""

from collections.abc import Callable, Iterator
from typing import Final

from baseload.decide.disrupt import loops
from baseload.plan.disrupt import Command, Loop, LoopKind
from baseload.plan.provision import ProvisionPlan
from baseload.replay.notebook import Notebook
from baseload.values import instant

_MOST: Final = 10
"""notes of circles"""


class LoopsSeen:
    """The circles of a run. `workload_of` names the workload of a pod, and `replicas` how many pods that has."""

    def __init__(self, notebook: Notebook, workload_of: Callable[[str], str], replicas: Callable[[str], int]) -> None:
        self._note, self._workload_of, self._replicas = notebook, workload_of, replicas
        self._history: Final = loops.History()
        self._found: Final[dict[tuple[LoopKind, str], tuple[Loop, int]]] = {}  # the last, and since when

    def launch(self, plan: ProvisionPlan) -> None:
        """Nodes are launched for pods that wait."""
        now = self._note.clock.now()
        for claim in plan.node_claims:
            self._history.launch(loops.launched(claim, now, self._workload_of))

    def give_up(self, command: Command) -> None:
        """A command is carried out."""
        now = self._note.clock.now()
        names = dict.fromkeys(self._workload_of(moved.pod) for moved in command.pods)
        replicas = {name: self._replicas(name) for name in names}
        done = loops.given_up(command, now, self._workload_of, replicas)
        loop = loops.seen_before(self._history, done)
        self._history.give_up(done)
        if loop is None:
            return
        key = loop.kind, loop.about
        since = self._found[key][1] if key in self._found else now - loop.period * (loop.times - 1)
        self._found[key] = loop, since
        self._note.add("disruptions.repeated", (str(loop.kind),))
        self._note.tell("karpenter", "disruption.repeated", str(loop.kind), message=loop.message)

    def notes(self) -> Iterator[str]:
        """A line for each circle, the most frequent first."""
        found = sorted(self._found.values(), key=lambda one: (-one[0].times, one[0].kind, one[0].about))
        for loop, since in found[:_MOST]:
            yield f"loop: {loop.message}, first at {instant.format(since)} ({loop.kind})"
        if len(found) > _MOST:
            yield f"loop: and {len(found) - _MOST} others"
