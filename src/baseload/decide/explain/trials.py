"""Planning again with something changed, remembered, and no more often than the input's size allows.

A trial is a whole provisioning pass on an edited view. One trial answers for every pod without a place, so a change
of a pool is tried once however many pods wait. For big inputs a pod is tried alone with what runs already: other
pending pods are left out, which the explanation then says.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.explain.edits import Edit, Impossible, Objects
from baseload.decide.provision.decide import provision
from baseload.decide.provision.options import Options
from baseload.model.view import View, name_of
from baseload.plan.provision import ProvisionPlan
from baseload.values.errors import BadInput

Tables = Mapping[str, InstanceTypes]
Retabled = Callable[[View], Tables]
"""the types of each pool after a NodeClass was changed"""

_WORK: Final = 24_000  # pods placed again in all trials together, each trial's fixed price counted as some
_FIXED: Final = 40
_LEAST: Final = 20  # trials that even a large input gets
BIG: Final = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a trial came to for the pods that had no place, and for those that had."""

    placed: frozenset[str]  # of those without a place before
    lost: tuple[str, ...]  # placed before, and now without a place


_NOTHING: Final = Outcome(frozenset(), ())


class Trials:
    """The trials of one explanation. `exhausted`: some trial was not run, since there was no work left for it."""

    def __init__(
        self,
        objects: Objects,
        tables: Tables,
        options: Options,
        plan: ProvisionPlan,
        retabled: Retabled | None = None,
        *,
        effort: int = 1,
        full: bool = False,
    ) -> None:
        self._objects: Final = objects
        self._tables: Final = tables
        self._options: Final = options
        self._placed: Final = frozenset(p.pod for p in plan.placements)
        self._failed: Final = frozenset(u.pod for u in plan.unschedulable)
        self._retabled: Final = retabled
        self._known: Final[dict[tuple[object, ...], Outcome]] = {}
        self.may_change_classes: Final = retabled is not None
        self.big: Final = plan.pods > BIG and not full
        self.exhausted = False
        running = sum(1 for pod in objects.view.pods if pod.spec.node_name)
        self._price: Final = _FIXED + (running if self.big else plan.pods + running // 10)
        self._work = max(_WORK * effort, _LEAST * self._price)

    def places(self, edits: Sequence[Edit], pods: Collection[str]) -> bool:
        """Whether with these edits the pods find a place; no edit: in a big input, alone."""
        if not self.big:
            return self.outcome(edits).placed.issuperset(pods)
        return all(pod in self.outcome(edits, alone=pod).placed for pod in pods)

    def lost(self, edits: Sequence[Edit]) -> tuple[str, ...]:
        """Pods that had a place and would have none; not known of big inputs."""
        return () if self.big else self.outcome(edits).lost

    def outcome(self, edits: Sequence[Edit], *, alone: str | None = None) -> Outcome:
        key = (alone, *(edit.key for edit in edits))
        known = self._known.get(key)
        if known is not None:
            return known
        if self._work < self._price:
            self.exhausted = True
            return _NOTHING
        self._work -= self._price
        outcome = self._known[key] = self._tried(edits, alone)
        return outcome

    def _tried(self, edits: Sequence[Edit], alone: str | None) -> Outcome:
        try:
            view = self._objects.edited(edits)
            of_class = self._retabled is not None and any("NodeClass" in edit.object for edit in edits)
            tables = self._retabled(view) if of_class and self._retabled is not None else self._tables
            if alone is not None:
                view = replace(view, pods=tuple(p for p in view.pods if p.spec.node_name or name_of(p) == alone))
            plan = provision(view, tables, self._options, most_reasons=None)
        except (Impossible, BadInput):
            return _NOTHING
        found = frozenset(p.pod for p in plan.placements)
        lost = () if alone is not None else tuple(sorted(self._placed - found))
        return Outcome(self._failed & found, lost)
