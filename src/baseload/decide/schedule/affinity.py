"""InterPodAffinity: which nodes pods near them open or bar, and how far they draw (cluster-actors 3.8, 4.11)."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.demands import Near
from baseload.decide.schedule.kinds import Carried, Kind
from baseload.decide.schedule.standing import FITS
from baseload.decide.schedule.tallies import Mask, Meant, Numbers, Tally
from baseload.values.selector import NOTHING, Selector

BEST: Final = 100
_Carried = tuple[Carried, ...]


class Neighbours:
    """The terms that running pods carry, and which of them mean a kind."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster: Final = cluster
        self._known: Final[dict[Kind, tuple[int, _Carried, _Carried]]] = {}

    def of(self, kind: Kind) -> tuple[_Carried, _Carried]:
        """Those that keep it off, and those that draw it or do not want it."""
        tallies = self._cluster.tallies
        if not tallies.carried:
            return (), ()
        known = self._known.get(kind)
        if known is None or known[0] != tallies.version:
            met = [held for held in tallies.carried if held.term.matches(kind.namespace, kind.labels)]
            shunning, drawing = [held for held in met if not held.weight], [held for held in met if held.weight]
            known = self._known[kind] = tallies.version, tuple(shunning), tuple(drawing)
        return known[1], known[2]

    def is_shunned(self, kind: Kind) -> bool:
        """Whether pods that run, or ran, keep others off by a term that means the kind."""
        return bool(self.of(kind)[0])

    def forget(self) -> None:
        self._known.clear()

    def bar(self, codes: Numbers, kind: Kind, not_near: int, too_near: int, shunned: int) -> Numbers:
        """The codes with the nodes that are barred, under the three numbers given."""
        demands, cluster = kind.demands, self._cluster
        shunning = self.of(kind)[0]
        if not (demands.affinity or demands.anti_affinity or shunning):
            return codes
        codes = codes.copy()
        if demands.affinity:
            codes[(codes == FITS) & ~self._is_near(kind)] = not_near
        for term in demands.anti_affinity:
            _shut(codes, cluster, term.key, _near(cluster, term), too_near)
        for held in shunning:
            _shut(codes, cluster, held.term.key, cluster.tallies.carried[held], shunned)
        return codes

    def scores(self, kind: Kind, slots: Numbers) -> Numbers | None:
        """The scores of the feasible nodes; None where no term has a say."""
        demands, raw = kind.demands, None
        if not (demands.preferred_affinity or demands.preferred_anti_affinity or self.of(kind)[1]):
            return None
        cluster = self._cluster
        for weight, key, tally in self._drawing(kind):
            found = _sums(cluster, key, tally, weight)[cluster.axis(key).domain[slots]]
            raw = found if raw is None else raw + found
        if raw is None:
            return None
        least, most = int(raw.min()), int(raw.max())
        if least == most:
            return np.zeros(len(slots), np.int64)
        # As upstream: a share in double precision, cut to a whole number.
        shares: Numbers = (float(BEST) * ((raw - least).astype(np.float64) / float(most - least))).astype(np.int64)
        return shares

    def _drawing(self, kind: Kind) -> Iterator[tuple[int, str, Tally]]:
        """(weight, topology key, pods) of everything that draws a pod or keeps it off softly."""
        cluster = self._cluster
        for weight, term in kind.demands.preferred_affinity:
            yield weight, term.key, _near(cluster, term)
        for weight, term in kind.demands.preferred_anti_affinity:
            yield -weight, term.key, _near(cluster, term)
        for held in self.of(kind)[1]:
            yield held.weight, held.term.key, cluster.tallies.carried[held]

    def _is_near(self, kind: Kind) -> Mask:
        """The nodes in whose domains pods run that match every required term; or any, where the first may begin."""
        cluster, terms = self._cluster, kind.demands.affinity
        tally = cluster.tallies.tally(_all_of(terms))
        has_keys = near = np.ones(cluster.tallies.slots, np.bool_)
        found = False
        for term in terms:
            axis, sums = cluster.axis(term.key), _sums(cluster, term.key, tally)
            has_keys = has_keys & (axis.domain >= 0)
            found = found or bool(sums.any())
            near = near & (sums > 0)[axis.domain]
        may_begin = not found and all(term.matches(kind.namespace, kind.labels) for term in terms)
        return has_keys if may_begin else has_keys & near


def _near(cluster: Cluster, term: Near) -> Tally:
    return cluster.tallies.tally(Meant(term.namespaces, term.selector))


def _sums(cluster: Cluster, key: str, tally: Tally, weight: int = 1) -> Numbers:
    """What each domain holds; nothing in the last entry, which stands for nodes without one."""
    sums = tally.by(key, cluster.facts, cluster.axis(key)).sums
    return sums if weight == 1 else sums * weight


def _shut(codes: Numbers, cluster: Cluster, key: str, tally: Tally, code: int) -> None:
    """Bars the nodes in whose domains such pods run."""
    if tally.total:
        held = (_sums(cluster, key, tally) > 0)[cluster.axis(key).domain]
        codes[(codes == FITS) & held] = code


def _all_of(terms: Iterable[Near]) -> Meant:
    """The pods that match all terms at once."""
    held = tuple(terms)
    namespaces = frozenset.intersection(*(term.namespaces for term in held))
    if any(term.selector.nothing for term in held):
        return Meant(namespaces, NOTHING)
    merged = Selector(tuple(sorted({one for term in held for one in term.selector.terms})))
    return Meant(namespaces, merged)
