"""The optimal mode beside the compatible one: the same pass with another consolidation, and how both compare.

Emptiness and drift are Karpenter's own in both modes; so are budgets, windows and the order of the methods. Pass upon
pass, the optimal mode plays twice: from the start, and from the compatible mode's end on. The better end counts, so it
is never worse than Karpenter's.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from baseload.decide.disrupt.decide import METHODS, Methods, disrupt
from baseload.decide.disrupt.optimal.bound import bound
from baseload.decide.disrupt.optimal.search import LEAST, sets
from baseload.decide.disrupt.situation import Situation
from baseload.decide.disrupt.step import step
from baseload.decide.disrupt.until_stable import Run, Tables
from baseload.decide.provision.options import Options
from baseload.model.view import View
from baseload.plan.disrupt import Compared, Comparison, DisruptPasses, DisruptPlan, Method, Outlay

_CONSOLIDATIONS: Final = (Method.MULTI_NODE, Method.SINGLE_NODE)
OPTIMAL: Final[Methods] = {
    **{method: way for method, way in METHODS.items() if method not in _CONSOLIDATIONS},
    Method.MULTI_NODE: sets,
}
"""the methods of the optimal mode, in the order in which they are tried"""


def once(view: View, tables: Tables, options: Options) -> Compared[DisruptPlan]:
    """What one pass would start in each mode."""
    plans = [disrupt(view, tables, options, methods=methods) for methods in (METHODS, OPTIMAL)]
    before, stepped = Run(view, tables, options).price(), step(view, tables, options)
    ends = []
    for plan in plans:
        run = Run(stepped.view, tables, options)
        run.carry_out(plan)
        ends.append(_outlay(run, (plan,)))
    comparison = Comparison(before, ends[0], ends[1], _bound(view, tables, options))
    return Compared(plans[0], plans[1], comparison)


def until_stable(view: View, tables: Tables, options: Options) -> Compared[DisruptPasses]:
    """Passes until nothing is left to do, in each mode."""
    run = Run(view, tables, options)
    before = run.price()
    run.play()
    compatible = best = _Ended.of(run)
    if run.is_stable:
        run.play(OPTIMAL)
        best = min(best, _Ended.of(run), key=_Ended.rank)
    run = Run(view, tables, options)
    run.play(OPTIMAL)
    best = min(best, _Ended.of(run), key=_Ended.rank)
    comparison = Comparison(before, compatible.outlay, best.outlay, _bound(view, tables, options))
    return Compared(compatible.passes, best.passes, comparison)


@dataclass(frozen=True, slots=True)
class _Ended:
    passes: DisruptPasses
    outlay: Outlay
    waiting: int  # pods without a node

    @staticmethod
    def of(run: Run) -> "_Ended":
        waiting = sum(not pod.spec.node_name for pod in run.view.pods)
        return _Ended(run.passes(), _outlay(run, run.plans), waiting)

    def rank(self) -> tuple[int, int, int]:
        """The smaller, the better: pods that wait, the price, the pods that moved."""
        return self.waiting, round(self.outlay.price_per_hour / LEAST), self.outlay.moves


def _outlay(run: Run, plans: Iterable[DisruptPlan]) -> Outlay:
    moves = sum(len(command.pods) for plan in plans for command in plan.commands)
    return Outlay(run.price(), len(run.view.nodes), moves)


def _bound(view: View, tables: Tables, options: Options) -> float:
    return bound(Situation(step(view, tables, options).view, tables, options))
