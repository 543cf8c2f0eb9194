"""What a NodePool would launch: its requirement set, its types, and the daemons that every node of it has to carry.

Types that carry the same daemons form a group with one overhead (provisioning spec 9): while types are filtered, the
load is the pods' sum plus the overhead of the group. A template is made once for an engine; the limits left are the
solve's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from baseload.decide.fit.constraints import Constraints
from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.taints import TOLERATES_SOFT, tolerated
from baseload.decide.fit.types import TypeIndex
from baseload.values.requirement import Requirements
from baseload.values.taint import Taint


@dataclass(frozen=True, slots=True, eq=False)
class Daemon:
    """A DaemonSet's pod, as every node gets it."""

    name: str  # namespace/name of the DaemonSet
    constraints: Constraints
    requests: Mapping[str, int]

    def alternatives(self) -> tuple[Requirements, ...]:
        """Its strict set once for each required term."""
        demands = self.constraints
        return tuple(demands.selector.add(term) for term in demands.required) or (demands.selector,)


@dataclass(frozen=True, slots=True, eq=False)
class PoolOffer:
    """A NodePool as fitting sees it: what it offers, and what it may still launch."""

    name: str
    requirements: Requirements
    taints: tuple[Taint, ...]
    types: TypeIndex
    limits: Mapping[str, int]  # resource, or `nodes`, -> limit in nano-units; what runs is not yet taken off


@dataclass(frozen=True, slots=True, eq=False)
class DaemonGroup:
    """Types with equal daemons."""

    types: int
    overhead: Mapping[str, int]
    ports: tuple[HostPort, ...]
    daemons: tuple[str, ...]


class Load:
    """What the types of one daemon group have to hold on a claim: daemons, and pods once it has some."""

    __slots__ = ("amounts", "ports", "types")

    def __init__(self, types: int, amounts: dict[str, int], ports: tuple[HostPort, ...]) -> None:
        self.types = types
        self.amounts = amounts
        self.ports = ports


class Template:
    """A pool ready to launch from. `relaxed_values`: minValues that BestEffort lowered while filtering the types."""

    def __init__(self, offer: PoolOffer, daemons: Iterable[Daemon], sets: Sets, *, best_effort: bool) -> None:
        self.offer: Final = offer
        self.name: Final = offer.name
        self.types: Final = offer.types
        self.groups: Final = daemon_groups(offer, daemons, sets)
        self.loads: Final = tuple(Load(g.types, dict(g.overhead), g.ports) for g in self.groups)  # of an empty claim
        self.carrying: Final = sum(self.types.holding(g.types, g.overhead) for g in self.groups)  # its daemons at least
        self.place = 0  # among the templates, given by the set-up
        self.taints = 0  # the number of its taint list, given by the set-up
        number = sets.number(offer.requirements)
        mask = offer.types.mask(number) & offer.types.usable
        short = offer.types.short_of_variety(mask, number)
        self.relaxed_values: Final = bool(short) and best_effort
        if self.relaxed_values:
            number = sets.number(lowered(offer.requirements, short))
        self.number: Final = number
        self.short: Final = () if best_effort else short
        self.mask: Final = 0 if self.short else mask

    def overhead(self, mask: int) -> dict[str, int]:
        """What the daemons of the types of a mask ask at least, resource by resource (9.6).

        QUIRK: a resource that one group lacks vanishes, so a group without daemons makes all of it vanish.
        """
        least: dict[str, int] | None = None
        for group in self.groups:
            if group.types & mask:
                if least is None:
                    least = dict(group.overhead)
                else:
                    least = {r: min(a, group.overhead[r]) for r, a in least.items() if r in group.overhead}
        return least or {}


def lowered(requirements: Requirements, short: Iterable[tuple[str, int]]) -> Requirements:
    """The requirements with the minValues of some keys lowered to what is reached."""
    changed = dict(requirements)
    for key, reached in short:
        changed[key] = replace(changed[key], min_values=reached)
    return Requirements(changed)


def daemon_groups(offer: PoolOffer, daemons: Iterable[Daemon], sets: Sets) -> tuple[DaemonGroup, ...]:
    """The types of a pool split by the daemons that run on them."""
    parts: list[tuple[int, list[Daemon]]] = [(offer.types.all, [])]
    for daemon in daemons:
        mask = _types_with(offer, daemon, sets)
        if not mask:
            continue
        split: list[tuple[int, list[Daemon]]] = []
        for types, held in parts:
            if types & mask:
                split.append((types & mask, [*held, daemon]))
            if types & ~mask:
                split.append((types & ~mask, held))
        parts = split
    return tuple(_group(types, held) for types, held in parts)


def _group(types: int, daemons: list[Daemon]) -> DaemonGroup:
    overhead: dict[str, int] = {}
    for daemon in daemons:
        for resource, amount in daemon.requests.items():
            overhead[resource] = overhead.get(resource, 0) + amount
    ports = tuple(port for daemon in daemons for port in daemon.constraints.ports)
    return DaemonGroup(types, overhead, ports, tuple(daemon.name for daemon in daemons))


def _types_with(offer: PoolOffer, daemon: Daemon, sets: Sets) -> int:
    """The types of a pool on which a daemon runs; its preferences are ignored, soft taints taken as tolerated."""
    if not tolerated(offer.taints, (*daemon.constraints.tolerations, TOLERATES_SOFT)):
        return 0
    mask = 0
    for wanted in daemon.alternatives():
        if offer.requirements.compatible(wanted, sets.well_known):
            mask |= offer.types.agreeing(wanted)
    return mask
