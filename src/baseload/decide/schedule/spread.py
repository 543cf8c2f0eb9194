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
from baseload.decide.schedule.standing import FITS, Standing
from baseload.decide.schedule.tallies import Domains, Mask, Numbers, Tally
from baseload.values.label import HOSTNAME
from baseload.values.selector import Selector

BEST: Final = 100
Shares = npt.NDArray[np.floating[Any]]
_TABLE: Final = 1 << 12  # entries at most
_DIGITS: Final = Context(prec=40)


@lru_cache(maxsize=8192)
def weight(size: int) -> float:
    """How much one pod counts where there are so many domains: ln(size + 2), correctly rounded."""
    return float(Decimal(size + 2).ln(_DIGITS))


def bar(codes: Numbers, cluster: Cluster, kind: Kind, standing: Standing, skewed: int, no_domain: int) -> Numbers:
    """The codes with the nodes that hard constraints bar, under the two numbers given."""
    constraints = kind.demands.hard_spread
    codes = codes.copy()
    for spread in constraints:
        axis, held = cluster.axis(spread.key), _domains(cluster, kind, standing, spread, constraints)
        least = held.least(max(spread.min_domains or 1, 1))
        own = int(_selector(spread).matches(kind.labels))
        most = spread.max_skew - own + least
        # What each domain says; the last entry is that of nodes without the key, whatever the sums count.
        said = np.where(held.sums > most, skewed, FITS)
        said[-1] = no_domain
        fits = codes == FITS
        codes[fits] = said[axis.domain[fits]]
    return codes


def scores(cluster: Cluster, kind: Kind, standing: Standing, slots: Numbers, *, lenient: bool) -> Numbers | None:
    """The scores of the feasible nodes; None where no constraint is soft.

    `lenient` is for the system's own constraints, under which a node without a zone is scored by its name alone.
    """
    constraints = kind.demands.soft_spread
    if not constraints:
        return None
    asked = None if lenient and kind.demands.is_spread_by_default else constraints
    by_table = _by_table(cluster, kind, standing, slots, asked)
    if by_table is not None:
        return by_table
    with_all = None if asked is None else _with_all(cluster, constraints)[slots]
    scored = None if with_all is None or with_all.all() else with_all
    feasible = slots if scored is None else slots[scored]
    raw: Shares | None = None
    for spread in constraints:
        found = _raw(cluster, kind, standing, spread, slots, feasible, asked)
        raw = found if raw is None else raw + found
    assert raw is not None
    return _normalised(np.floor(raw + 0.5).astype(np.int64), scored)


def _by_table(
    cluster: Cluster, kind: Kind, standing: Standing, slots: Numbers, asked: tuple[Spread, ...] | None
) -> Numbers | None:
    """The scores by a table of what nodes may have: so many pods of the kind, in that zone.

    That is little for all but the largest workloads. None where it is not, or where nodes lack a key.
    """
    parts: list[tuple[Spread, Tally, int, int]] = []
    levels: Numbers | None = None
    whole = 1
    for spread in kind.demands.soft_spread:
        if cluster.lacks(spread.key):
            return None
        tally, size = cluster.tallies.of_spread(spread, kind.namespace), 1
        if tally.total:
            axis = cluster.axis(spread.key)
            size = tally.most + 1 if spread.key == HOSTNAME else len(axis.numbers)
            level = (tally.counts if spread.key == HOSTNAME else axis.domain)[slots]
            levels = level if levels is None else levels + level * whole
        parts.append((spread, tally, whole, size))
        whole *= size
        if whole > _TABLE:
            return None
    if levels is None:
        return np.full(len(slots), BEST, np.int64)
    present = np.bincount(levels).nonzero()[0].tolist()
    raw = [0.0] * len(present)
    for spread, tally, stride, size in parts:
        base = float(spread.max_skew - 1)
        if not tally.total:
            raw = [held + base for held in raw]
            continue
        own = [level // stride % size for level in present]
        if spread.key == HOSTNAME:
            factor = weight(len(slots))
            raw = [held + (count * factor + base) for held, count in zip(raw, own)]  # noqa: B905  # as long as each other
        else:
            sums, factor = _domains(cluster, kind, standing, spread, asked).sums.tolist(), weight(len(set(own)))
            raw = [held + (sums[domain] * factor + base) for held, domain in zip(raw, own)]  # noqa: B905
    rounded = [int(held + 0.5) for held in raw]
    highest = max(rounded)
    both = highest + min(rounded)
    table: Numbers = np.zeros(whole, np.int64)
    table[present] = [BEST * (both - value) // highest for value in rounded] if highest else BEST
    return table[levels]


def _raw(
    cluster: Cluster,
    kind: Kind,
    standing: Standing,
    spread: Spread,
    slots: Numbers,
    feasible: Numbers,
    asked: tuple[Spread, ...] | None,
) -> Shares:
    """What one constraint adds for each node."""
    axis = cluster.axis(spread.key)
    domain = axis.domain[slots]
    base = float(spread.max_skew - 1)
    tally = cluster.tallies.of_spread(spread, kind.namespace)
    if not tally.total:
        return np.where(domain < 0, 0.0, base)
    if spread.key == HOSTNAME:
        found = tally.counts[slots] * weight(len(feasible)) + base
        if domain.min() < 0:
            found[domain < 0] = 0.0
        return found
    among = domain if feasible is slots else axis.domain[feasible]
    size = int(np.count_nonzero(np.bincount(among + 1)))
    held = _domains(cluster, kind, standing, spread, asked)
    each = held.sums * weight(size) + base
    each[-1] = 0.0  # of nodes without the key
    shares: Shares = each[domain]
    return shares


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


def _domains(
    cluster: Cluster, kind: Kind, standing: Standing, spread: Spread, asked: tuple[Spread, ...] | None
) -> Domains:
    """What the domains of a constraint hold of the pods that it counts.

    The nodes that count have the keys of all that is `asked` and pass the inclusion policies.
    """
    tally = cluster.tallies.of_spread(spread, kind.namespace)
    keys = None if asked is None else tuple(one.key for one in asked)

    def among() -> Mask:
        found = standing.codes >= FITS if asked is None else _with_all(cluster, asked)
        if spread.honor_affinity:
            found = found & standing.matches
        if spread.honor_taints:
            found = found & standing.tolerated
        return found

    place = spread.key, standing, keys, spread.honor_affinity, spread.honor_taints
    return tally.by(place, cluster.facts, cluster.axis(spread.key), among)
