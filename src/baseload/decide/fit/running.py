"""The pods that run, node by node, and how many of each label set there are on each node.

It may be kept from one pass on a cluster to the next (`keep`), which then counts only the nodes whose pods changed; an
engine that was set up before is not to be used any more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.fit.shape import FitPod, projected
from baseload.decide.fit.topology import GroupKey

Labels = tuple[tuple[str, str], ...]
"""the labels that some selector reads"""


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A pod that runs on a node; topology counts it unless it is terminating."""

    pod: FitPod
    node: str
    counts: bool


class Running:
    """All that run. Iteration gives them node by node."""

    def __init__(self, bounds: Iterable[Bound] = ()) -> None:
        self._on: dict[str, Sequence[Bound]] = {}
        self._owners: dict[str, tuple[Bound, ...]] = {}  # of required anti-affinity
        self._keys: tuple[str, ...] = ()
        self._by_labels: Final[dict[tuple[str, Labels], dict[str, int]]] = {}
        self._by_namespace: Final[dict[str, dict[str, int]]] = {}
        self._with_pair: Final[dict[tuple[str, str, str], dict[Labels, None]]] = {}
        on: dict[str, list[Bound]] = {}
        for bound in bounds:
            on.setdefault(bound.node, []).append(bound)
        self.keep(on)

    def __iter__(self) -> Iterator[Bound]:
        return (bound for bounds in self._on.values() for bound in bounds)

    def keep(self, on: Mapping[str, Sequence[Bound]]) -> None:
        """These are all, by node; where nothing changed it is the very sequence of before."""
        for node, before in self._on.items():
            if node not in on:
                self._put(node, before, ())
        for node, bounds in on.items():
            before = self._on.get(node, ())
            if bounds is not before:
                self._put(node, before, bounds)
        self._on = dict(on)

    def owners(self) -> Iterator[Bound]:
        """Those that keep others away by required anti-affinity."""
        return (bound for bounds in self._owners.values() for bound in bounds)

    def look_at(self, keys: Sequence[str]) -> None:
        """Tells pods apart by the labels of these keys."""
        if not {*keys} - {*self._keys}:
            return
        self._keys = tuple(sorted({*keys, *self._keys}))
        self._by_labels.clear()
        self._by_namespace.clear()
        self._with_pair.clear()
        for bound in self:
            self._count(bound, 1)

    def counts(self, group: GroupKey) -> dict[str, int]:
        """Pods a node that a group counts; without a selector, every pod of its namespaces."""
        found: dict[str, int] = {}
        selector = group.selector
        if selector is None:
            for namespace in group.namespaces:
                _add(found, self._by_namespace.get(namespace, {}))
            return found
        pair = selector.index_pair()
        if pair is not None:
            places = [(n, labels) for n in group.namespaces for labels in self._with_pair.get((n, *pair), ())]
        else:
            places = [(n, labels) for n, labels in self._by_labels if n in group.namespaces]
        for namespace, labels in places:
            if selector.matches(dict(labels)):
                _add(found, self._by_labels[namespace, labels])
        return found

    def _put(self, node: str, before: Sequence[Bound], after: Sequence[Bound]) -> None:
        held, came = {id(bound) for bound in before}, {id(bound) for bound in after}
        for bound in before:
            if id(bound) not in came:
                self._count(bound, -1)
        for bound in after:
            if id(bound) not in held:
                self._count(bound, 1)
        self._owners.pop(node, None)
        if owners := tuple(bound for bound in after if bound.pod.constraints.anti_affinity):
            self._owners[node] = owners

    def _count(self, bound: Bound, by: int) -> None:
        if not bound.counts:
            return
        namespace, labels = bound.pod.namespace, projected(bound.pod.labels, self._keys)
        on = self._by_labels.get((namespace, labels))
        if on is None:
            on = self._by_labels[namespace, labels] = {}
            for key, value in labels:
                self._with_pair.setdefault((namespace, key, value), {})[labels] = None
        if not _note(on, bound.node, by):
            del self._by_labels[namespace, labels]
            for key, value in labels:
                del self._with_pair[namespace, key, value][labels]
        _note(self._by_namespace.setdefault(namespace, {}), bound.node, by)


def _note(on: dict[str, int], node: str, by: int) -> bool:
    """Counts on a node; False where nothing is left anywhere."""
    count = on.get(node, 0) + by
    if count:
        on[node] = count
    else:
        del on[node]
    return bool(on)


def _add(into: dict[str, int], more: Mapping[str, int]) -> None:
    for node, count in more.items():
        into[node] = into.get(node, 0) + count
