"""InterPodAffinity: which nodes pods near them open or bar, and how far they draw (cluster-actors 3.8, 4.11)."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.demands import Near
from baseload.decide.schedule.kinds import Carried, Kind
from baseload.decide.schedule.standing import FITS, Mask
from baseload.decide.schedule.tallies import Meant, Numbers
from baseload.values.selector import NOTHING, Selector

BEST: Final = 100


class Neighbours:
    """The terms that running pods carry, and which of them mean a kind."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster: Final = cluster
        self._known: Final[dict[int, tuple[int, Kind, tuple[Carried, ...]]]] = {}

    def of(self, kind: Kind) -> tuple[Carried, ...]:
        tallies = self._cluster.tallies
        known = self._known.get(id(kind))
        if known is None or known[0] != tallies.version:
            met = tuple(held for held in tallies.carried if held.term.matches(kind.namespace, kind.labels))
            known = self._known[id(kind)] = tallies.version, kind, met
        return known[2]

    def forget(self) -> None:
        self._known.clear()

    def bar(self, codes: Numbers, kind: Kind, not_near: int, too_near: int, shunned: int) -> Numbers:
        """The codes with the nodes that are barred, under the three numbers given."""
        demands, cluster = kind.demands, self._cluster
        shunning = [held for held in self.of(kind) if held.weight == 0]
        if not (demands.affinity or demands.anti_affinity or shunning):
            return codes
        codes = codes.copy()
        if demands.affinity:
            codes[(codes == FITS) & ~self._is_near(kind)] = not_near
        for term in demands.anti_affinity:
            codes[(codes == FITS) & (_sums(cluster, term.key, _near(cluster, term)) > 0)] = too_near
        for held in shunning:
            carriers = cluster.tallies.carried[held]
            codes[(codes == FITS) & (_sums(cluster, held.term.key, carriers) > 0)] = shunned
        return codes

    def scores(self, kind: Kind, slots: Numbers) -> Numbers | None:
        """The scores of the feasible nodes; None where no term has a say."""
        cluster, raw = self._cluster, None
        for weight, key, counts in self._drawing(kind):
            found = weight * _sums(cluster, key, counts)[slots]
            raw = found if raw is None else raw + found
        if raw is None:
            return None
        least, most = int(raw.min()), int(raw.max())
        if least == most:
            return np.zeros(len(slots), np.int64)
        # As upstream: a share in double precision, cut to a whole number.
        shares: Numbers = (float(BEST) * ((raw - least).astype(np.float64) / float(most - least))).astype(np.int64)
        return shares

    def _drawing(self, kind: Kind) -> Iterator[tuple[int, str, Numbers]]:
        """(weight, topology key, pods on each node) of everything that draws a pod or keeps it off softly."""
        cluster = self._cluster
        for weight, term in kind.demands.preferred_affinity:
            yield weight, term.key, _near(cluster, term)
        for weight, term in kind.demands.preferred_anti_affinity:
            yield -weight, term.key, _near(cluster, term)
        for held in self.of(kind):
            if held.weight:
                yield held.weight, held.term.key, cluster.tallies.carried[held]

    def _is_near(self, kind: Kind) -> Mask:
        """The nodes in whose domains pods run that match every required term; or any, where the first may begin."""
        cluster, terms = self._cluster, kind.demands.affinity
        counts = cluster.tallies.counts(_all_of(terms))
        has_keys = near = np.ones(cluster.tallies.slots, np.bool_)
        found = False
        for term in terms:
            axis = cluster.axis(term.key)
            has_keys = has_keys & (axis.domain >= 0)
            found = found or bool(counts[axis.domain >= 0].any())
            near = near & (axis.at(axis.sums(counts)) > 0)
        may_begin = not found and all(term.matches(kind.namespace, kind.labels) for term in terms)
        return has_keys if may_begin else has_keys & near


def _near(cluster: Cluster, term: Near) -> Numbers:
    return cluster.tallies.counts(Meant(term.namespaces, term.selector, with_terminating=True))


def _sums(cluster: Cluster, key: str, counts: Numbers) -> Numbers:
    """What each node's domain holds."""
    axis = cluster.axis(key)
    return axis.at(axis.sums(counts))


def _all_of(terms: Iterable[Near]) -> Meant:
    """The pods that match all terms at once."""
    held = tuple(terms)
    namespaces = frozenset.intersection(*(term.namespaces for term in held))
    if any(term.selector.nothing for term in held):
        return Meant(namespaces, NOTHING, with_terminating=True)
    merged = Selector(tuple(sorted({one for term in held for one in term.selector.terms})))
    return Meant(namespaces, merged, with_terminating=True)
