"""PodTopologySpread: which nodes hard constraints bar, and how far soft ones draw a pod (cluster-actors 3.7, 4.8).

A domain's count is that of nodes that pass the constraint's inclusion policies. The weight of a constraint is a
logarithm, taken in decimal arithmetic: it is the same on every machine.
"""

from decimal import Context, Decimal
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from baseload.decide.fit.constraints import Spread
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.kinds import Kind
from baseload.decide.schedule.standing import FITS, Mask, Standing
from baseload.decide.schedule.tallies import Numbers
from baseload.values.label import HOSTNAME
from baseload.values.selector import Selector

BEST: Final = 100
Shares = npt.NDArray[np.floating[Any]]
_DIGITS: Final = Context(prec=40)


@lru_cache(maxsize=8192)
def weight(size: int) -> float:
    """How much one pod counts where there are so many domains: ln(size + 2), correctly rounded."""
    return float(Decimal(size + 2).ln(_DIGITS))


def counted(cluster: Cluster, kind: Kind, spread: Spread) -> Numbers:
    """The pods on each node that a constraint counts; QUIRK: the selector that means everything counts none."""
    if not _selector(spread).terms:
        return np.zeros(cluster.tallies.slots, np.int64)
    return cluster.tallies.of_spread(spread, kind.namespace).counts


def bar(codes: Numbers, cluster: Cluster, kind: Kind, standing: Standing, skewed: int, no_domain: int) -> Numbers:
    """The codes with the nodes that hard constraints bar, under the two numbers given."""
    constraints = kind.demands.hard_spread
    axes = [cluster.axis(spread.key) for spread in constraints]
    with_all = _with_all(cluster, constraints)
    codes = codes.copy()
    for spread, axis in zip(constraints, axes, strict=True):
        counts = counted(cluster, kind, spread)
        among = _included(standing, spread, with_all)
        sums = axis.sums(counts, among)
        present = np.bincount(axis.domain[among], minlength=1) > 0
        domains = int(present.sum())
        least = int(sums[: len(present)][present].min()) if domains >= max(spread.min_domains or 1, 1) else 0
        own = int(_selector(spread).matches(kind.labels))
        fits = codes == FITS
        codes[fits & (axis.domain < 0)] = no_domain
        codes[fits & (axis.domain >= 0) & (axis.at(sums) + (own - least) > spread.max_skew)] = skewed
    return codes


def scores(cluster: Cluster, kind: Kind, standing: Standing, slots: Numbers, *, lenient: bool) -> Numbers | None:
    """The scores of the feasible nodes; None where no constraint is soft.

    `lenient` is for the system's own constraints, under which a node without a zone is scored by its name alone.
    """
    constraints = kind.demands.soft_spread
    if not constraints:
        return None
    with_all = None if lenient and kind.demands.is_spread_by_default else _with_all(cluster, constraints)
    scored = None if with_all is None else with_all[slots]
    feasible = slots if scored is None else slots[scored]
    raw = np.zeros(len(slots), np.float64)
    for spread in constraints:
        raw += _raw(cluster, kind, standing, spread, slots, feasible, with_all)
    return _normalised(np.floor(raw + 0.5).astype(np.int64), scored)


def _raw(
    cluster: Cluster,
    kind: Kind,
    standing: Standing,
    spread: Spread,
    slots: Numbers,
    feasible: Numbers,
    with_all: Mask | None,
) -> Shares:
    """What one constraint adds for each node."""
    axis = cluster.axis(spread.key)
    domain = axis.domain[slots]
    if not _selector(spread).terms or not cluster.tallies.of_spread(spread, kind.namespace).total:
        return np.where(domain < 0, 0.0, float(spread.max_skew - 1))
    counts = counted(cluster, kind, spread)
    if spread.key == HOSTNAME:
        size, held = len(feasible), counts[slots]
    else:
        size = int(np.count_nonzero(np.bincount(axis.domain[feasible] + 1)))
        held = axis.sums(counts, _included(standing, spread, with_all))[domain]
    found = held * weight(size) + float(spread.max_skew - 1)
    found[domain < 0] = 0.0
    return found


def _normalised(raw: Numbers, scored: Mask | None) -> Numbers:
    """Fewer pods are better; nodes that are not scored get nothing."""
    among = raw if scored is None else raw[scored]
    if not len(among):
        return np.zeros(len(raw), np.int64)
    most, least = int(among.max()), int(among.min())
    found = np.full(len(raw), BEST, np.int64) if not most else BEST * (most + least - raw) // most
    if scored is not None:
        found[~scored] = 0
    return found


def _selector(spread: Spread) -> Selector:
    assert spread.selector is not None
    return spread.selector


def _with_all(cluster: Cluster, constraints: tuple[Spread, ...]) -> Mask:
    """The nodes that have every constraint's key."""
    found = cluster.axis(constraints[0].key).domain >= 0
    for spread in constraints[1:]:
        found = found & (cluster.axis(spread.key).domain >= 0)
    return found


def _included(standing: Standing, spread: Spread, with_all: Mask | None) -> Mask:
    """The nodes whose pods count."""
    found = standing.codes >= FITS if with_all is None else with_all
    if spread.honor_affinity:
        found = found & standing.matches
    if spread.honor_taints:
        found = found & standing.tolerated
    return found
