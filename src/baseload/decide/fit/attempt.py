"""One pass over a set-up: the trial of one pod after another, and the books of what was placed.

Candidates come as masks; the choice is the lowest bit, on planned claims within the emptiest that may take the pod
(provisioning spec 6.3). What limits, reservations and topology leave changes with each placement. Everything booked
on the set-up is undone by `roll_back`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.fit.base import Base
from baseload.decide.fit.books import Books
from baseload.decide.fit.candidates import NONE_FULL, Candidates, of_host
from baseload.decide.fit.nodes import Host
from baseload.decide.fit.planned import Claim, Claims, types_holding
from baseload.decide.fit.reservations import NOTHING_HELD, Held, Reservations
from baseload.decide.fit.shape import FitPod, Kind, Result, Size
from baseload.decide.fit.template import Template, lowered
from baseload.decide.fit.topology import GroupKind

_REFUSALS: Final = 4  # single looks at planned claims before all of them are screened at once


class ReservationsExhausted(Exception):
    """Reserved capacity goes with the pod but none is left: it neither falls back nor relaxes (17.4)."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Nodes, as a mask, that some pods, by their identity, are not placed on."""

    nodes: int = 0
    to: frozenset[int] = frozenset()


OPEN: Final = Closed()


class Pass:
    """The state of one solve."""

    def __init__(self, base: Base, number: int, closed: Closed = OPEN) -> None:
        self._base: Final = base
        self._sets: Final = base.sets
        self._nodes: Final = base.nodes
        self._groups: Final = base.groups
        self._number: Final = number
        self._closed: Final = closed
        self.claims: Final = Claims()
        self.on_nodes: Final[list[tuple[FitPod, int]]] = []
        self.books: Final = Books(base, number)
        self._candidates: Final = Candidates(base)
        self.epoch = (
            0  # rises when a refusal might not hold any more: a claim opened, a set changed, a reservation freed
        )
        self._sizes: Final[list[Size]] = []
        self._kinds: Final[list[Kind]] = []
        tables = dict.fromkeys(template.types for template in base.templates)
        self._reservations: Final = Reservations(tables, base.sets, strict=base.rules.strict_reservations)
        self._reserving: Final = base.rules.reserve and any(table.reserved for table in tables)
        self._varied: Final = any(base.sets.min_values(template.number) for template in base.templates)
        self.limits: Final = {pool: dict(left) for pool, left in base.limits.items()}
        self._first: Final[dict[tuple[int, int, int, int], int]] = {}  # types that hold the first pod of a claim

    def place(self, pod: FitPod, kind: Kind, size: Size) -> bool:
        """One trial of a pod as it is: existing nodes, planned claims, new claims. Raises ReservationsExhausted."""
        number = self._number
        if kind.solve != number or size.solve != number or kind.generation != self._groups.generation:
            self._enter(kind, size)
        ranked = kind.zones[0].ranked() if len(kind.zones) == 1 and not kind.hosts else None
        in_vain = (self.shape(pod, size), ranked) if ranked is not None else None
        if in_vain is not None and kind.vain.get(in_vain) == self.epoch:
            return False
        if self._nodes.all and self._on_node(pod, kind, size):
            return True
        if self._on_claim(pod, kind, size) or self._on_new_claim(pod, kind, size):
            return True
        if in_vain is not None:  # while these are the domains, and hosts only fill up, it is refused again
            kind.vain[in_vain] = self.epoch
        return False

    def closed_to(self, pod: FitPod) -> int:
        """The mask of the nodes that are closed to the pod."""
        return self._closed.nodes if self._closed.nodes and id(pod) in self._closed.to else 0

    def shape(self, pod: FitPod, size: Size) -> int:
        """A number for the pod's size, another one for those to whom nodes are closed."""
        return ~size.number if self.closed_to(pod) else size.number

    def give_back(self, host: Host) -> None:
        """A removed node no longer counts toward its pool's limits."""
        limits = self.limits.get(host.pool, {})
        for resource in limits:
            limits[resource] += host.capacity.get(resource, 0)

    def roll_back(self) -> None:
        """The set-up as it was before the pass."""
        self.books.roll_back()
        for size in self._sizes:
            size.full.clear()
            size.screened = 0
        for kind in self._kinds:
            kind.failures.clear()
            kind.vain.clear()
        self._nodes.roll_back()

    # What every trial needs

    def _enter(self, kind: Kind, size: Size) -> None:
        self._base.bind(kind)
        if size.solve != self._number:
            size.solve = self._number
            self._sizes.append(size)
        if kind.solve != self._number:
            kind.solve = self._number
            kind.forget_claims()
            self._kinds.append(kind)
            for group in kind.owned:
                group.awake = self._number

    # Existing nodes

    def _on_node(self, pod: FitPod, kind: Kind, size: Size) -> bool:
        nodes = self._nodes
        candidates = nodes.may_hold(size) & kind.host_nodes
        if self._closed.nodes:
            candidates &= ~self.closed_to(pod)
        if not candidates:
            return False
        if kind.hosts:
            candidates &= self._candidates.on_hosts(kind, 0)
        candidates, picks = self._candidates.picks(kind, candidates, claims=False, full=NONE_FULL)
        while candidates:
            low = candidates & -candidates
            node = low.bit_length() - 1
            if nodes.accepts(node, kind, size):
                hostname = nodes.hosts[node].hostname
                for result in of_host(picks, low):
                    if result.host is None or result.host.has(hostname):
                        self._book_node(pod, kind, size, node, result.number)
                        return True
            candidates ^= low
        return False

    def _book_node(self, pod: FitPod, kind: Kind, size: Size, node: int, number: int) -> None:
        self._nodes.book(node, kind, size)
        hosts = self._nodes.class_of[node]
        if number != hosts.number:
            self._nodes.move(node, self._base.node_class(hosts.taints, number))
            self.epoch += 1
        self.books.record(kind, number, hosts.taints, node, claim=False)
        self.on_nodes.append((pod, node))

    # Planned claims

    def _on_claim(self, pod: FitPod, kind: Kind, size: Size) -> bool:
        if not self.claims.all or not kind.on_claims:
            return False
        among = self._candidates.on_hosts(kind, 1) if kind.hosts else -1
        if size.screened:
            among &= ~size.screened
        sure = not self._reserving and not kind.constraints.ports and len(kind.options) == 1
        allowed, picks = self._candidates.picks(kind, among, claims=True, full=size.full if sure else NONE_FULL)
        if not allowed:
            return False
        refusals = 0
        for count in self.claims.counts:
            candidates = allowed & self.claims.by_count[count]
            while candidates:
                low = candidates & -candidates
                claim = self.claims.all[low.bit_length() - 1]
                results = of_host(picks, low)
                if self._join(pod, kind, size, claim, results):
                    return True
                if sure:
                    number = results[0].number
                    size.full[number] = size.full.get(number, 0) | low
                refusals += 1
                candidates ^= low
                if refusals == _REFUSALS:
                    self.claims.screen(size)
                    allowed &= ~size.screened
                    candidates &= allowed
        return False

    def _join(self, pod: FitPod, kind: Kind, size: Size, claim: Claim, results: Sequence[Result]) -> bool:
        template, index = claim.template, claim.template.types
        for result in results:
            number = result.number
            mask = claim.types if number == claim.hosts.number else claim.types & index.mask(number)
            types = types_holding(template, claim.loads, mask, size, kind.constraints.ports)
            if not types or (self._varied and index.short_of_variety(types, number)):
                continue
            held = self._reserved(template, types, number, claim.reservations) if self._reserving else NOTHING_HELD
            if held is None:
                continue
            self._book_claim(pod, kind, size, claim, number, types, held)
            return True
        return False

    def _book_claim(
        self, pod: FitPod, kind: Kind, size: Size, claim: Claim, number: int, types: int, held: Held
    ) -> None:
        if held != claim.reservations:
            self._reservations.swap(claim.reservations, held)
            claim.reservations = held
            self.epoch += 1
        if number != claim.hosts.number:
            claim.hosts.mask ^= claim.bit
            claim.hosts = self._candidates.class_of(claim.template, number)
            claim.hosts.mask |= claim.bit
            self.epoch += 1
        self.claims.join(claim, pod, size, types, kind.constraints.ports)
        self.books.record(kind, number, claim.hosts.taints, claim.place, claim=True)

    # New claims

    def _on_new_claim(self, pod: FitPod, kind: Kind, size: Size) -> bool:
        if not kind.on_claims or not self._may_start(kind):
            return False
        for template in self._base.templates:
            if self._base.tolerates(kind, template.taints) and self._open(pod, kind, size, template):
                return True
        return False

    def _may_start(self, kind: Kind) -> bool:
        """Whether the groups on the hostname allow a host that holds nothing yet."""
        for use in kind.hosts:
            group = use.group
            if group.kind is GroupKind.AFFINITY:
                if not (use.own and group.may_bootstrap(kind.host_strict, kind.host_reach)):
                    return False
            elif group.kind is GroupKind.SPREAD and use.own > group.max_skew:
                return False
        return True

    def _open(self, pod: FitPod, kind: Kind, size: Size, template: Template) -> bool:
        limits = self.limits.get(template.name)
        launchable = template.mask
        if limits:
            if limits.get("nodes") == 0:
                return False
            launchable = template.types.within(launchable, limits)
        if not launchable:
            return False
        results = kind.starts.get(template.place)
        if results is None:
            results = kind.starts[template.place] = self._candidates.results(kind, template.number, strict=False)
        waits = False
        for result in results:
            narrowed = self._candidates.narrow(kind, result, strict=False) if kind.zones else result
            if narrowed is None:
                waits = False
                continue
            number, mask, relaxed = self._first_types(kind, size, template, narrowed.number, launchable)
            held = self._reserved(template, mask, number, NOTHING_HELD) if mask else None
            if held is not None:
                self._book_new(pod, kind, size, template, number, mask, held, relaxed=relaxed)
                return True
            waits = bool(mask)
        if waits:  # the last failure counts
            raise ReservationsExhausted
        return False

    def _reserved(self, template: Template, types: int, number: int, held: Held) -> Held | None:
        """The reservations that a claim would hold; None where it has to wait for one."""
        if not self._reserving or not template.types.reserved:
            return NOTHING_HELD
        return self._reservations.wanted(template.types, types, number, held)

    def _first_types(
        self, kind: Kind, size: Size, template: Template, number: int, launchable: int
    ) -> tuple[int, int, bool]:
        """The set, types and whether minValues were lowered of a claim opened for one pod; no types: it can't be."""
        index = template.types
        key = (template.place, number, size.number, launchable)
        known = self._first.get(key)
        if known is None or kind.constraints.ports:
            fitting = launchable & template.carrying & index.mask(number)
            known = types_holding(template, template.loads, fitting, size, kind.constraints.ports)
            if not kind.constraints.ports:
                self._first[key] = known
        mask = known
        short = index.short_of_variety(mask, number) if mask and self._varied else ()
        if not short:
            return number, mask, False
        if not self._base.rules.best_effort_min_values:
            return number, 0, False
        return self._sets.number(lowered(self._sets[number], short)), mask, True

    def _book_new(
        self,
        pod: FitPod,
        kind: Kind,
        size: Size,
        template: Template,
        number: int,
        types: int,
        held: Held,
        *,
        relaxed: bool,
    ) -> None:
        claim = self.claims.open(template, self._candidates.class_of(template, number), types)
        claim.relaxed_values = claim.relaxed_values or relaxed
        self._book_claim(pod, kind, size, claim, number, types, held)
        self.epoch += 1
        limits = self.limits.get(template.name, {})
        for resource in limits:
            if resource != "nodes":  # QUIRK 18.4: the largest type is charged, nodes are not
                limits[resource] -= template.types.largest_capacity(types, resource)
