"""PodTopologySpread: which nodes hard constraints bar, and how far soft ones draw a pod (cluster-actors 3.7, 4.8).

A domain's count is that of nodes that pass the constraint's inclusion policies. The weight of a constraint is a
logarithm, taken in decimal arithmetic: it is the same on every machine.
"""

from dataclasses import dataclass
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
NOBODY: Final[Numbers] = np.zeros(0, np.int64)
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


def scores(cluster: Cluster, kind: Kind, standing: Standing, slots: Numbers, *, lenient: bool) -> Numbers:
    """The scores of the feasible nodes by soft constraints, of which there are some.

    `lenient` is for the system's own constraints, under which a node without a zone is scored by its name alone.
    """
    constraints = kind.demands.soft_spread
    asked = None if lenient and kind.demands.is_spread_by_default else constraints
    with_all = None if asked is None else _with_all(cluster, constraints)[slots]
    scored = None if with_all is None or with_all.all() else with_all
    feasible = slots if scored is None else slots[scored]
    raw: Shares | None = None
    for spread in constraints:
        found = _raw(cluster, kind, standing, spread, slots, feasible, asked)
        raw = found if raw is None else raw + found
    assert raw is not None
    return _normalised(np.floor(raw + 0.5).astype(np.int64), scored)


@dataclass(frozen=True, slots=True)
class Part:
    """One soft constraint, as a table of scores counts by it."""

    base: float
    """What every node has"""
    tally: Tally
    domain: Numbers | None
    """The domain of each node; None where each is one by itself"""
    domains: Domains | None


def parts(cluster: Cluster, kind: Kind, standing: Standing, *, lenient: bool) -> tuple[Part, Part] | None:
    """The soft constraints where a table will do: two at most, and no node without their keys.

    They stay right as long as nodes are what they are (`Cluster.facts`).
    """
    constraints = kind.demands.soft_spread
    if not 0 < len(constraints) <= 2 or any(cluster.lacks(spread.key) for spread in constraints):
        return None
    asked = None if lenient and kind.demands.is_spread_by_default else constraints
    found = []
    for spread in constraints:
        tally, is_by_node = cluster.tallies.of_spread(spread, kind.namespace), spread.key == HOSTNAME
        domains = None if is_by_node else _domains(cluster, kind, standing, spread, asked)
        domain = None if is_by_node else cluster.axis(spread.key).domain
        found.append(Part(float(spread.max_skew - 1), tally, domain, domains))
    if len(found) == 1:
        found.append(Part(0.0, Tally(NOBODY, with_terminating=False), None, None))
    return found[0], found[1]


def by_table(two: tuple[Part, Part], slots: Numbers) -> Numbers | None:
    """The scores of the feasible nodes by a table of what nodes may have: so many pods of the kind, in that zone.

    That is little for all but the largest workloads; None where it is not.
    """
    one, other = two
    size, more = _levels(one), _levels(other)
    if size * more > _TABLE:
        return None
    levels: Numbers | None = None
    if size > 1:
        levels = (one.tally.counts if one.domain is None else one.domain)[slots]
    if more > 1:
        further = (other.tally.counts if other.domain is None else other.domain)[slots]
        levels = further if levels is None else levels + further * size
    present = [0] if levels is None else np.bincount(levels).nonzero()[0].tolist()
    first = _values(one, len({level % size for level in present}), len(slots))
    second = _values(other, len({level // size for level in present}), len(slots))
    rounded = [int(first[level % size] + second[level // size] + 0.5) for level in present]
    highest = max(rounded)
    both = highest + min(rounded)
    scores = [BEST * (both - value) // highest for value in rounded] if highest else [BEST] * len(present)
    if levels is None:
        return np.full(len(slots), scores[0], np.int64)
    table: Numbers = np.zeros(size * more, np.int64)
    table[present] = scores
    return table[levels]


def _levels(part: Part) -> int:
    """How many different numbers of pods, or domains, there are to tell apart."""
    if not part.tally.total:
        return 1
    return part.tally.most + 1 if part.domains is None else len(part.domains.sums)


def _values(part: Part, present: int, nodes: int) -> list[float]:
    """What a constraint adds at each level, where so many domains have a feasible node."""
    base = part.base
    if not part.tally.total:
        return [base]
    if part.domains is None:
        factor = weight(nodes)
        return [count * factor + base for count in range(part.tally.most + 1)]
    factor = weight(present)
    return [count * factor + base for count in part.domains.sums.tolist()]


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
