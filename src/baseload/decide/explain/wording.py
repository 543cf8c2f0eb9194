"""Messages: decide's own words, then what the explanation adds to them in the user's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from baseload.decide.explain.demands import Case
from baseload.decide.explain.domains import blocked
from baseload.decide.explain.supply import Supply
from baseload.decide.explain.trials import Trials
from baseload.decide.explain.unsought import SETTLED
from baseload.model.view import View
from baseload.plan.provision import Demand, Fix, Nearest, ProvisionPlan, Unschedulable
from baseload.plan.reason import Reason


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What was found about a pod."""

    case: Case
    conflict: tuple[Demand, ...]
    together: Sequence[Demand]  # where no demand alone is the obstacle: those that would have to go at once
    nearest: Nearest | None
    fix: Fix | None
    lost: tuple[str, ...]  # pods that the fix leaves without their place


def unschedulable(told: Told, view: View, supply: Supply, plan: ProvisionPlan, trials: Trials) -> Unschedulable:
    """The explanation as plans hold it."""
    said = [told.case.failed.message, *_additions(told, view, supply, plan), *_of_fix(told, trials)]
    return replace(
        told.case.failed,
        message="; ".join(text for text in said if text),
        conflict=told.conflict,
        nearest=told.nearest,
        fix=told.fix,
    )


def more(failed: Unschedulable) -> str:
    """The message of a pod that is not explained in full."""
    return f"{failed.message}; `baseload explain pod {failed.pod}` tells more"


def crowded_out(failed: Unschedulable) -> str:
    """The message of a pod of a big input that would have a place if it were alone."""
    return (
        f"{failed.message}; alone it would have a place, which other pending pods take first; "
        f"`baseload explain pod {failed.pod}` works out what would make room"
    )


def _additions(told: Told, view: View, supply: Supply, plan: ProvisionPlan) -> Iterator[str]:
    yield from _of_volumes(told)
    if any(r.reason == Reason.TOPOLOGY for r in told.case.failed.rejections):
        yield from blocked(told.case, view, supply, plan)
    yield from _of_slots(told, supply)


def _of_volumes(told: Told) -> Iterator[str]:
    for demand in told.conflict:
        kind = demand.object.partition(" ")[0]
        if kind in ("PersistentVolume", "StorageClass"):
            where = f" {demand.operator} [{' '.join(demand.values)}]" if demand.values else ""
            verb = "lies" if kind == "PersistentVolume" else "is made"
            yield f"{demand.key}{where} comes from {demand.object} ({demand.path}), where its volume {verb}"


def _of_slots(told: Told, supply: Supply) -> Iterator[str]:
    """Where pod slots bind, not CPU or memory, that is said, and who has taken them."""
    if told.nearest is None or "pods" not in told.nearest.lacking:
        return
    kind, _, name = told.nearest.target.partition("/")
    daemons = ""
    for offer in supply.offers:
        if kind == "nodePool" and offer.name == name:
            taken = max((len(group.daemons) for group in offer.groups), default=0)
            daemons = f": {taken} DaemonSet pods take their share on every node" if taken else ""
    yield f"the binding resource is pods, the slots of a node{daemons}"


def _of_fix(told: Told, trials: Trials) -> Iterator[str]:
    if told.lost:
        listed = ", ".join(told.lost[:3]) + (f" and {len(told.lost) - 3} others" if len(told.lost) > 3 else "")
        yield f"with the change {listed} would have no place instead"
    if told.fix is not None:
        if trials.big:
            yield "the change is checked for this pod alone, without the other pending pods"
        return
    settled = SETTLED.get(told.case.failed.reason)
    if settled is not None:
        yield f"no single field is to be changed for it: {settled}"
        return
    if trials.exhausted:
        yield f"no single field was found that mends it; `baseload explain pod {told.case.name}` looks further"
    elif told.together:
        fields = ", ".join(f"{d.object} {d.path}" for d in told.together)
        several = "several things are wrong at once and no single field mends them"
        yield f"{several}; without all of these it has a place: {fields}"
    elif told.case.failed.reason == Reason.VOLUME:
        yield "no single field mends it: what its volumes need has to be made, or given with the input"
    else:
        yield "no single field of the pod or of a NodePool mends it"
