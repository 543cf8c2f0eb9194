"""Tells of disruption that goes in circles before it takes another turn, and where that is asked for leaves it undone.

What is held is proposed again at each pass, and held until the circle lies so long back that it is one no more. Only
consolidation is ever held: drift ends nodes for reasons that do not pass, and an empty node that stays keeps nobody
from launching the next one.
"""

from typing import Final

from baseload.control.means import Means
from baseload.decide.disrupt import loops
from baseload.model.view import View
from baseload.plan.disrupt import UNDERUTILIZED, Command
from baseload.plan.lifecycle import Told
from baseload.plan.provision import ProvisionPlan
from baseload.values.duration import MINUTE

REPEATED: Final = "DisruptionRepeated"
_QUIET: Final = 15 * MINUTE


class Circles:
    """What was launched and given up, and what came round."""

    def __init__(self, means: Means) -> None:
        self._observed, self._events, self._clock = means.observed, means.events, means.clock
        self._holds: Final = means.settings.options.hold_repeated_disruption
        self.history: Final = loops.History()

    def launch(self, plan: ProvisionPlan) -> None:
        """Nodes are launched for pods that wait."""
        if not plan.node_claims:
            return
        of, _ = loops.workloads_of(self._observed.informer.view.pods)
        now = self._clock.now()
        for claim in plan.node_claims:
            self.history.launch(loops.launched(claim, now, lambda pod: of.get(pod, pod)))

    def lets_go(self, command: Command, view: View) -> bool:
        """Notes a command that is about to be carried out, and tells if it came round; False where it is held."""
        of, replicas = loops.workloads_of(view.pods)
        done = loops.given_up(command, self._clock.now(), lambda pod: of.get(pod, pod), replicas)
        loop = loops.seen_before(self.history, done)
        is_held = loop is not None and self._holds and command.reason == UNDERUTILIZED
        if loop is not None:
            self._tell(command, f"{loop.message}{'; held' if is_held else ''}")
        if not is_held:
            self.history.give_up(done)
        return not is_held

    def _tell(self, command: Command, message: str) -> None:
        for candidate in command.candidates:
            about = self._observed.node(candidate.node), self._observed.claim(candidate.node_claim)
            for one in about:
                if one is not None:
                    self._events.tell(one, Told(REPEATED, message, type="Warning", quiet=_QUIET))
