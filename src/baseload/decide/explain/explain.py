"""Explanations of a plan's unschedulable pods: a true conflict, the nearest target, one field to change.

A demand belongs to the conflict when its absence alone gives the pod a place: that is tried, demand by demand, by
planning again. So each member of a conflict is an obstacle by itself and together they are what clashes; where
several faults are independent of each other, no demand is one, and the message lists what would have to go at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

import msgspec

from baseload.catalog.columns import InstanceTypes
from baseload.decide.explain import demands as demanded
from baseload.decide.explain import unsought, wording
from baseload.decide.explain.demands import Case, without
from baseload.decide.explain.edits import Objects, Places
from baseload.decide.explain.fixes import Search
from baseload.decide.explain.nearest import nearest
from baseload.decide.explain.notes import notes
from baseload.decide.explain.supply import Supply
from baseload.decide.explain.trials import Retabled, Trials
from baseload.decide.fit.shape import FitPod
from baseload.decide.provision.options import Options
from baseload.model.view import View
from baseload.plan.provision import Demand, Fix, Nearest, ProvisionPlan, Unschedulable
from baseload.plan.reason import Reason

_MOST_SHAPES: Final = 20
_MOST_SHAPES_OF_BIG: Final = 3
_MOST_OF_CONFLICT: Final = 12


def explain(
    view: View,
    tables: Mapping[str, InstanceTypes],
    options: Options,
    plan: ProvisionPlan,
    *,
    place_of: Places | None = None,
    retabled: Retabled | None = None,
    effort: int = 1,
) -> ProvisionPlan:
    """The plan with its unschedulable pods explained and with notes on what is odd about it.

    `place_of` says where the fields of pods are written that were made for a workload; `retabled` gives the pools'
    types after a change of a NodeClass, without it NodeClasses are taken as given; `effort` multiplies the work
    allowed.
    """
    said = (*plan.notes, *notes(view, tables, options, plan))
    if not plan.unschedulable:
        return replace(plan, notes=said)
    explaining = _Explaining(view, tables, options, plan, place_of or {}, retabled, effort)
    return replace(plan, unschedulable=tuple(explaining.all()), notes=said)


def explain_pod(
    pod: str,
    view: View,
    tables: Mapping[str, InstanceTypes],
    options: Options,
    plan: ProvisionPlan,
    *,
    place_of: Places | None = None,
    retabled: Retabled | None = None,
) -> Unschedulable | None:
    """One pod's explanation, worked out in full however big the input; None for a pod that is not unschedulable."""
    failed = next((u for u in plan.unschedulable if u.pod == pod), None)
    if failed is None:
        return None
    return _Explaining(view, tables, options, plan, place_of or {}, retabled, effort=4, full=True).one(failed, (pod,))


class _Explaining:
    """The explanations of one plan."""

    def __init__(
        self,
        view: View,
        tables: Mapping[str, InstanceTypes],
        options: Options,
        plan: ProvisionPlan,
        place_of: Places,
        retabled: Retabled | None,
        effort: int,
        *,
        full: bool = False,
    ) -> None:
        self.view: Final = view
        self.plan: Final = plan
        self.objects: Final = Objects(view, place_of)
        self.trials: Final = Trials(self.objects, tables, options, plan, retabled, effort=effort, full=full)
        self.supply: Final = Supply(view, tables, options, plan, self.objects.pods)

    def all(self) -> Iterator[Unschedulable]:
        """Every unschedulable pod; of many shapes the first are explained in full."""
        shapes: dict[tuple[object, ...], list[str]] = {}
        key_of = {failed.pod: self._shape(failed) for failed in self.plan.unschedulable}
        for failed in self.plan.unschedulable:
            shapes.setdefault(key_of[failed.pod], []).append(failed.pod)
        most = _MOST_SHAPES_OF_BIG if self.trials.big else _MOST_SHAPES
        full = set(list(shapes)[:most])
        known: dict[tuple[object, ...], Unschedulable] = {}
        for failed in self.plan.unschedulable:
            key = key_of[failed.pod]
            if key not in full:
                yield replace(failed, message=wording.more(failed))
                continue
            first = known.get(key)
            told = self.one(failed, shapes[key]) if first is None else self.like(failed, first, shapes[key])
            known.setdefault(key, told)
            yield told

    def one(self, failed: Unschedulable, alike: Sequence[str]) -> Unschedulable:
        """One pod's explanation from the beginning."""
        case = Case.of(failed, self.objects)
        self.trials.exhausted = False
        if self.trials.big and self.trials.places((), (failed.pod,)):
            found = self._nearest(case, self.supply.reading(case.pod))
            return replace(failed, message=wording.crowded_out(failed), nearest=found)
        return self._told(case, self._conflict(case), alike)

    def like(self, failed: Unschedulable, first: Unschedulable, alike: Sequence[str]) -> Unschedulable:
        """The explanation of a pod whose like was explained: the same demands, in its own fields, proved anew."""
        case, other = Case.of(failed, self.objects), Case.of(first, self.objects)
        self.trials.exhausted = False
        moved = [replace(d, object=case.ref) if d.object == other.ref else d for d in first.conflict]
        if self.trials.big and not first.conflict:
            return replace(failed, message=wording.more(failed), nearest=first.nearest)
        if self.trials.big:
            fix = _moved(first.fix, other, case)
            message = f"{failed.message}; it is explained as {first.pod} is, whose like it is"
            return replace(failed, message=message, conflict=tuple(moved), nearest=first.nearest, fix=fix)
        conflict = [d for d in moved if self.trials.places((without(d),), (failed.pod,))]
        if not conflict and moved:
            conflict = self._conflict(case)
        return self._told(case, conflict, alike, like=replace(first, fix=_moved(first.fix, other, case)))

    def _told(
        self, case: Case, conflict: Sequence[Demand], alike: Sequence[str], like: Unschedulable | None = None
    ) -> Unschedulable:
        """What is said of a pod; of its `like` all is known already."""
        sought = case.failed.reason not in unsought.UNSOUGHT
        reading = self.supply.reading(case.pod)
        search = Search(case, reading, alike, conflict, self.objects, self.supply, self.trials)
        found = search.proved(like.fix if like else None) or (search.fix() if sought else self._mended(case, search))
        told = wording.Told(
            case,
            conflict=tuple(conflict[:_MOST_OF_CONFLICT]),
            together=() if conflict or found or case.failed.reason in unsought.SETTLED else tuple(self._together(case)),
            nearest=like.nearest if like else self._nearest(case, reading) if sought else None,
            fix=found[0] if found else None,
            lost=found[1] if found else (),
        )
        return wording.unschedulable(told, self.view, self.supply, self.plan, self.trials)

    def _nearest(self, case: Case, reading: FitPod) -> Nearest | None:
        return nearest(reading, case.failed, self.supply, self.plan)

    def _mended(self, case: Case, search: Search) -> tuple[Fix, tuple[str, ...]] | None:
        """The change that brings a pod into the pass for which no place is sought."""
        return search.first(unsought.fixes(case, self.view))

    def _shape(self, failed: Unschedulable) -> tuple[object, ...]:
        pod = self.objects.pods[failed.pod]
        labels = tuple(sorted(pod.metadata.labels.items()))
        by_pools = tuple(r.reason for r in failed.rejections if r.target.startswith("nodePool/"))
        return failed.reason, pod.metadata.namespace, labels, msgspec.json.encode(pod.spec), by_pools

    # The conflict

    def _conflict(self, case: Case) -> list[Demand]:
        if case.failed.reason in unsought.UNSOUGHT:
            return self._single(case, unsought.demands(case, self.view))
        fine = self._single(case, self._demands(case))
        return fine or self._single(case, demanded.coarse(case, self.supply.pools))

    def _single(self, case: Case, candidates: Iterator[Demand]) -> list[Demand]:
        """The demands of which each is the only obstacle."""
        return [d for d in candidates if self.trials.places((without(d),), (case.name,))]

    def _demands(self, case: Case) -> Iterator[Demand]:
        yield from demanded.of_pod(case)
        yield from demanded.of_volumes(case, self.view)
        for pool in self.supply.pools:
            yield from demanded.of_pool(pool)
        if self.trials.may_change_classes:
            names = {pool.spec.template.spec.node_class_ref.name for pool in self.supply.pools}
            for node_class in self.view.node_classes:
                if node_class.metadata.name in names:
                    yield from demanded.of_class(node_class)
        if any(r.reason == Reason.TOPOLOGY for r in case.failed.rejections):
            yield from islice(demanded.of_others(case, self.objects), _MOST_OF_CONFLICT)

    def _together(self, case: Case) -> list[Demand]:
        """A smallest set of demands that would have to go at once: all of them, less each that can stay."""
        own = [*unsought.demands(case, self.view), *demanded.whole(case), *demanded.of_volumes(case, self.view)]
        others = list(demanded.of_others(case, self.objects))
        tried = (own, [*own, *others], *([*own, *others, *demanded.whole_of(pool)] for pool in self.supply.pools))
        candidates = next((found for found in tried if self._place_without(case, found)), [])
        for demand in tuple(candidates):
            fewer = [d for d in candidates if d is not demand]
            if self._place_without(case, fewer):
                candidates = fewer
        return candidates

    def _place_without(self, case: Case, dropped: Sequence[Demand]) -> bool:
        edits = [without(d) for d in reversed(dropped)]  # later list entries first, so that indexes stay true
        return bool(edits) and self.trials.places(edits, (case.name,))


def _moved(fix: Fix | None, first: Case, other: Case) -> Fix | None:
    """A fix of one pod's field as that of its like."""
    return replace(fix, object=other.ref) if fix is not None and fix.object == first.ref else fix
