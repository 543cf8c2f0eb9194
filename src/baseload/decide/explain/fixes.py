"""The one field to change: for each demand of a conflict its softer forms, the mildest of all of them first.

A change can mend what its demand's absence would mend, so only demands of the conflict are softened: a toleration for a
taint, a value for a requirement, what fits for a request, what is needed for a limit. To drop a demand altogether comes
last, requests and volumes at the very end. Every change is proved by planning again; one that takes no other pod's
place goes before one that does.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from baseload.decide.explain import amounts, softer
from baseload.decide.explain.demands import Case, is_request, without
from baseload.decide.explain.edits import Edit, Objects
from baseload.decide.explain.softer import Softening
from baseload.decide.explain.supply import Supply
from baseload.decide.explain.trials import Trials
from baseload.decide.fit.shape import FitPod
from baseload.plan.provision import Demand, Field, Fix

Found = tuple[Fix, tuple[str, ...]]
"""a change that places the pod, and the pods that it leaves without the place they had"""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A search for the change that gives one pod a place. `alike`: the pods of its shape that wait too."""

    case: Case
    reading: FitPod
    alike: Collection[str]
    conflict: Sequence[Demand]
    objects: Objects
    supply: Supply
    trials: Trials

    def fix(self) -> Found | None:
        """The mildest change that works."""
        return self.first(self._softened()) or self.first(self._dropped())

    def proved(self, hint: Fix | None) -> Found | None:
        """A change that was found for a like pod, if it serves this one."""
        if hint is None:
            return None
        found = self.first((Edit(hint.object, hint.path, hint.to),))
        return found if found is not None and not found[1] else None

    def first(self, edits: Iterable[Edit]) -> Found | None:
        """The first change that places the pod and takes no other's place, else the first that places it."""
        second: Found | None = None
        for edit in edits:
            if self.trials.places((edit,), (self.case.name,)):
                lost = self.trials.lost((edit,))
                found = Fix(edit.object, edit.path, self._held(edit), edit.value), lost
                if not lost:
                    return found
                second = second or found
        return second

    def _held(self, edit: Edit) -> Field:
        held = self.objects.value(edit.object, edit.path)
        return 1 if held is None and edit.path.endswith(".maxSkew") else held  # readings leave the usual value out

    def _softened(self) -> Iterator[Edit]:
        """All softer forms by rank; amounts, which take a search, are worked out when their turn comes."""
        softening = Softening(self.case, self.reading, self.objects, self.supply)
        ranked = [found for demand in self.conflict for found in softening.of(demand)]
        ranked += softening.additions(classes=self.trials.may_change_classes)
        ranked.sort(key=lambda found: found[0])
        yield from (edit for rank, edit in ranked if rank < softer.AFTER_AMOUNTS)
        yield from self._amounts(share=2)
        yield from (edit for rank, edit in ranked if rank >= softer.AFTER_AMOUNTS)
        yield from self._amounts(share=1000)

    def _amounts(self, *, share: int) -> Iterator[Edit]:
        """Requests lowered to what fits, to no less than one part in `share`; limits raised to what is needed."""
        for demand in self.conflict:
            if demand.operator == "Gte" and is_request(demand):
                yield from amounts.lowered(demand, self.reading, self.supply, self._works, share=share)
            elif demand.operator == "Lte" and demand.object.startswith("NodePool "):
                everyone = self.trials.places((without(demand),), self.alike)
                works, pods = (self._works_for_all, len(self.alike)) if everyone else (self._works, 1)
                largest = self.supply.largest(demand.object, demand.key)
                yield from amounts.raised(demand, works, largest=largest, pods=pods)

    def _works(self, edit: Edit) -> bool:
        return self.trials.places((edit,), (self.case.name,))

    def _works_for_all(self, edit: Edit) -> bool:
        return self.trials.places((edit,), self.alike)

    def _dropped(self) -> Iterator[Edit]:
        for costly in (False, True):
            yield from (without(demand) for demand in self.conflict if _is_costly(demand) is costly)


def _is_costly(demand: Demand) -> bool:
    """Whether to drop the demand would take from the pod what it lives on."""
    of_volume = demand.object.partition(" ")[0] in ("PersistentVolume", "StorageClass")
    return of_volume or is_request(demand)
