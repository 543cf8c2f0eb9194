"""One pass over a set-up: the trial of one pod after another, and the books of what was placed.

Candidates are masks. For each class of hosts that goes with the pod's kind: the class's hosts, less those that a
topology group bars, less those known to be too full. The choice is the lowest bit, on claims within the emptiest that
may take the pod (provisioning spec 6.3). Everything booked on the set-up is undone by `roll_back`.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from baseload.decide.fit.base import Base
from baseload.decide.fit.nodes import Host
from baseload.decide.fit.planned import Claim, Claims, types_holding
from baseload.decide.fit.reservations import NOTHING_HELD, Held, Reservations
from baseload.decide.fit.sets import NONE
from baseload.decide.fit.shape import UNKNOWN_HOST, Entry, FitPod, HostClass, Kind, RecordPlan, Result, Size
from baseload.decide.fit.template import Template, lowered
from baseload.decide.fit.topology import Group, GroupKind, HostGroup, ZoneGroup
from baseload.values.label import HOSTNAME
from baseload.values.requirement import Requirement

_REFUSALS: Final = 4  # single looks at planned claims before all of them are screened at once

_NONE_FULL: Final[Mapping[int, int]] = {}

Pick = tuple[int, tuple[Result, ...]]
"""hosts -> what they become, in the order in which the pod's volume alternatives are tried"""


class ReservationsExhausted(Exception):
    """Reserved capacity goes with the pod but none is left: it neither falls back nor relaxes (17.4)."""


class Pass:
    """The state of one solve."""

    def __init__(self, base: Base, number: int) -> None:
        self._base: Final = base
        self._sets: Final = base.sets
        self._nodes: Final = base.nodes
        self._groups: Final = base.groups
        self._number: Final = number
        self.claims: Final = Claims()
        self.on_nodes: Final[list[tuple[FitPod, int]]] = []
        self.epoch = (
            0  # rises when a refusal might no longer hold: a new claim, a host's set changed, a reservation freed
        )
        self._claim_classes: Final[list[HostClass]] = []
        self._claim_class: Final[dict[tuple[int, int], HostClass]] = {}
        self._zone_journal: Final[list[tuple[ZoneGroup, str, int]]] = []
        self._host_journal: Final[list[tuple[HostGroup, int, int]]] = []
        self._claim_groups: Final[dict[HostGroup, None]] = {}
        self._sizes: Final[list[Size]] = []
        self._kinds: Final[list[Kind]] = []
        tables = dict.fromkeys(template.types for template in base.templates)
        self._reservations: Final = Reservations(tables, base.sets, strict=base.rules.strict_reservations)
        self._reserving: Final = base.rules.reserve and any(table.reserved for table in tables)
        self._varied: Final = any(base.sets.min_values(template.number) for template in base.templates)
        self.limits: Final = {pool: dict(left) for pool, left in base.limits.items()}
        self._first: Final[dict[tuple[int, int, int, int], int]] = {}  # types that hold the first pod of a claim
        self._narrowed: Final[dict[tuple[int | Requirement, ...], int]] = {}

    def place(self, pod: FitPod, kind: Kind, size: Size) -> bool:
        """One trial of a pod as it is: existing nodes, planned claims, new claims. Raises ReservationsExhausted."""
        number = self._number
        if kind.solve != number or size.solve != number or kind.generation != self._groups.generation:
            self._enter(kind, size)
        if self._nodes.all and self._on_node(pod, kind, size):
            return True
        return self._on_claim(pod, kind, size) or self._on_new_claim(pod, kind, size)

    def give_back(self, host: Host) -> None:
        """A removed node no longer counts toward its pool's limits."""
        limits = self.limits.get(host.pool, {})
        for resource in limits:
            limits[resource] += host.capacity.get(resource, 0)

    def withdraw(self, group: Group, where: str | int) -> None:
        """Takes a running pod that is to be placed anew off a group's count, until `roll_back`."""
        if isinstance(group, ZoneGroup) and isinstance(where, str):
            group.forget(where, pods=1)
            self._zone_journal.append((group, where, -1))
        elif isinstance(group, HostGroup) and isinstance(where, int):
            group.record_node(where, -1)
            self._host_journal.append((group, where, -1))

    def roll_back(self) -> None:
        """The set-up as it was before the pass."""
        for group, domain, by in reversed(self._zone_journal):
            if by > 0:
                group.forget(domain, pods=by)
            else:
                group.count(domain, -by)
        for host_group, node, by in self._host_journal:
            host_group.record_node(node, -by)
        for host_group in self._claim_groups:
            host_group.forget_claims()
        for size in self._sizes:
            size.full.clear()
            size.screened = 0
        for kind in self._kinds:
            kind.failures.clear()
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

    def _look_at(self, kind: Kind, classes: Sequence[HostClass], *, claims: bool) -> None:
        """Works out what classes of hosts that are new become when the kind joins them."""
        entries = kind.claim_entries if claims else kind.node_entries
        for hosts in classes:
            if self._base.tolerates(kind, hosts.taints):
                results = self._results(kind, hosts.number, strict=not claims)
                if results:
                    entry = Entry(hosts, results)
                    entries.append(entry)
                    if claims and kind.zones:
                        self._file(kind, entry)
        if claims:
            kind.seen_claim_classes += len(classes)
        else:
            kind.seen_node_classes += len(classes)

    def _file(self, kind: Kind, entry: Entry) -> None:
        """Files a class of claims under its domain for the kind's first zone-like group."""
        domain = entry.results[0].decided[0] if len(entry.results) == 1 else None
        if domain is None:
            kind.undecided.append(entry)
        else:
            kind.by_domain.setdefault(domain, []).append(entry)

    def _results(self, kind: Kind, number: int, *, strict: bool) -> tuple[Result, ...]:
        """What a set becomes when the kind joins it, for each volume alternative that goes with it; before topology."""
        sets, results = self._sets, []
        own = sets.join(number, sets.number(kind.full), strict=strict)
        if own == NONE:
            return ()
        for option in kind.options:
            joined = sets.join(own, sets.number(option.requirements), strict=strict)
            if joined != NONE and (strict or option.host is None or option.host.has(UNKNOWN_HOST)):
                decided = tuple(sets.single(joined, use.group.key) for use in kind.zones)
                results.append(Result(joined, decided, None in decided, option.host))
        return tuple(results)

    def _narrow(self, kind: Kind, result: Result, *, strict: bool) -> Result | None:
        """A result after topology: open domains narrowed to what the groups answer; None where one bars the host."""
        for use, domain in zip(kind.zones, result.decided, strict=True):
            if domain is not None and not use.allows(domain):
                return None
        return self._answered(kind, result, strict=strict) if result.open else result

    def _all_narrowed(self, kind: Kind, results: tuple[Result, ...], *, strict: bool) -> tuple[Result, ...]:
        if len(results) > 1:
            narrowed = (self._narrow(kind, result, strict=strict) for result in results)
            return tuple(result for result in narrowed if result is not None)
        only = self._narrow(kind, results[0], strict=strict)
        return () if only is None else results if only is results[0] else (only,)

    def _answered(self, kind: Kind, result: Result, *, strict: bool) -> Result | None:
        """Groups do not see each other's answers; where these have nothing in common the host is refused (13.8)."""
        answers: list[Requirement] = []
        for use, domain in zip(kind.zones, result.decided, strict=True):
            if domain is None:
                held = self._sets.requirement(result.number, use.group.key)
                answer = use.group.answer(held, use.reach, use.own)
                if answer is None:
                    return None
                answers.append(answer)
        key: tuple[int | Requirement, ...] = (result.number, strict, *answers)
        number = self._narrowed.get(key)
        if number is None:
            demanded = self._sets.number(self._sets[result.number].add(*answers))
            number = self._narrowed[key] = self._sets.join(result.number, demanded, strict=strict)
        return None if number == NONE else Result(number, (), False, result.host)

    def _picks(self, kind: Kind, among: int, *, claims: bool, full: Mapping[int, int]) -> tuple[int, list[Pick]]:
        """Of some hosts of one range those that a kind may join, and what each class of them becomes.

        `full`: resulting set -> hosts that are known to have no room; what else they have is not looked at.
        """
        if claims:
            entries, seen, classes = kind.claim_entries, kind.seen_claim_classes, self._claim_classes
        else:
            entries, seen, classes = kind.node_entries, kind.seen_node_classes, self._nodes.classes
        if seen < len(classes):
            self._look_at(kind, classes[seen:], claims=claims)
        picks: list[Pick] = []
        if claims and len(kind.zones) == 1:
            allowed = self._pick_settled(kind, among, full, picks)
            return allowed | self._pick(kind, kind.undecided, among, full, picks, strict=False), picks
        return self._pick(kind, entries, among, full, picks, strict=not claims), picks

    def _pick(
        self,
        kind: Kind,
        entries: Sequence[Entry],
        among: int,
        full: Mapping[int, int],
        picks: list[Pick],
        *,
        strict: bool,
    ) -> int:
        """Looks at each class, with what topology makes of it."""
        allowed = 0
        for entry in entries:
            mask = entry.hosts.mask & among
            if not mask:
                continue
            results = entry.results
            if kind.zones:
                results = self._all_narrowed(kind, results, strict=strict)
                if not results:
                    continue
            if full and results[0].number in full:
                mask &= ~full[results[0].number]
            picks.append((mask, results))
            allowed |= mask
        return allowed

    def _pick_settled(self, kind: Kind, among: int, full: Mapping[int, int], picks: list[Pick]) -> int:
        """The classes of claims that are decided in the kind's one zone-like group, by the domains that it allows."""
        allowed = 0
        for domain in kind.zones[0].allowed():
            for entry in kind.by_domain.get(domain, ()):
                mask = entry.hosts.mask & among
                if full and entry.results[0].number in full:
                    mask &= ~full[entry.results[0].number]
                if mask:
                    picks.append((mask, entry.results))
                    allowed |= mask
        return allowed

    def _on_hosts(self, kind: Kind, claims: int) -> int:
        """The mask of hosts that groups on the hostname leave."""
        mask = -1
        for use in kind.hosts:
            group = use.group
            if group.kind is not GroupKind.AFFINITY:
                mask &= ~group.blocked(claims, use.own)
            elif not (use.own and group.may_bootstrap(kind.host_strict, kind.host_nodes)):
                mask &= group.levels[claims][1]
        return mask

    # Existing nodes

    def _on_node(self, pod: FitPod, kind: Kind, size: Size) -> bool:
        nodes = self._nodes
        candidates = nodes.may_hold(size) & kind.host_nodes
        if not candidates:
            return False
        if kind.hosts:
            candidates &= self._on_hosts(kind, 0)
        candidates, picks = self._picks(kind, candidates, claims=False, full=_NONE_FULL)
        while candidates:
            low = candidates & -candidates
            node = low.bit_length() - 1
            if nodes.accepts(node, kind, size):
                hostname = nodes.hosts[node].hostname
                for result in _of(picks, low):
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
        self._record(kind, number, hosts.taints, node, claim=False)
        self.on_nodes.append((pod, node))

    # Planned claims

    def _on_claim(self, pod: FitPod, kind: Kind, size: Size) -> bool:
        if not self.claims.all or not kind.on_claims:
            return False
        among = self._on_hosts(kind, 1) if kind.hosts else -1
        if size.screened:
            among &= ~size.screened
        sure = not self._reserving and not kind.constraints.ports and len(kind.options) == 1
        allowed, picks = self._picks(kind, among, claims=True, full=size.full if sure else _NONE_FULL)
        if not allowed:
            return False
        refusals = 0
        for count in self.claims.counts:
            candidates = allowed & self.claims.by_count[count]
            while candidates:
                low = candidates & -candidates
                claim = self.claims.all[low.bit_length() - 1]
                results = _of(picks, low)
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
            bit = 1 << claim.place
            claim.hosts.mask &= ~bit
            claim.hosts = self._class_of(claim.template, number)
            claim.hosts.mask |= bit
            self.epoch += 1
        self.claims.join(claim, pod, size, types, kind.constraints.ports)
        self._record(kind, number, claim.hosts.taints, claim.place, claim=True)

    def _class_of(self, template: Template, number: int) -> HostClass:
        key = (id(template), number)
        found = self._claim_class.get(key)
        if found is None:
            found = self._claim_class[key] = HostClass(number, template.taints)
            self._claim_classes.append(found)
        return found

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
                if not (use.own and group.may_bootstrap(kind.host_strict, kind.host_nodes)):
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
            results = kind.starts[template.place] = self._results(kind, template.number, strict=False)
        waits = False
        for result in results:
            narrowed = self._narrow(kind, result, strict=False) if kind.zones else result
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
        claim = self.claims.open(template, self._class_of(template, number), types)
        claim.relaxed_values = claim.relaxed_values or relaxed
        self._book_claim(pod, kind, size, claim, number, types, held)
        self.epoch += 1
        limits = self.limits.get(template.name, {})
        for resource in limits:
            if resource != "nodes":  # QUIRK 18.4: the largest type is charged, nodes are not
                limits[resource] -= template.types.largest_capacity(types, resource)

    # Topology's books

    def _record(self, kind: Kind, number: int, taints: int, host: int, *, claim: bool) -> None:
        """Counts a placed pod on every group that selects it, and on those by which it keeps others away (13.13)."""
        plan = kind.plans.get((number, taints))
        if plan is None:
            plan = kind.plans[number, taints] = self._plan(kind, number, taints)
        awake, journal = self._number, self._zone_journal
        for zone_group, domain in plan.zones:
            if zone_group.awake == awake:
                zone_group.count(domain)
                journal.append((zone_group, domain, 1))
        for host_group in plan.hosts:
            if host_group.awake == awake:
                self._count_host(host_group, host, claim=claim)
        for group in plan.by_host:
            if group.awake == awake:
                self._record_by_host(group, number, taints, host, claim=claim)
        for zone_group, domain in plan.inverse_zones:
            zone_group.count(domain)
            journal.append((zone_group, domain, 1))
        for host_group in plan.inverse_hosts:
            self._count_host(host_group, host, claim=claim)

    def _count_host(self, group: HostGroup, host: int, *, claim: bool) -> None:
        if claim:
            group.record_claim(host)
            self._claim_groups[group] = None
        else:
            group.record_node(host)
            self._host_journal.append((group, host, 1))

    def _plan(self, kind: Kind, number: int, taints: int) -> RecordPlan:
        requirements, listed = self._sets[number], self._base.taint_lists[taints]
        by_host = tuple(g for g in kind.selected if g.filter.reads(HOSTNAME))
        counted = [g for g in kind.selected if g not in by_host and g.filter.matches(listed, requirements)]
        return RecordPlan(
            zones=tuple((g, d) for g in counted if isinstance(g, ZoneGroup) for d in self._domains(g, number)),
            hosts=tuple(g for g in counted if isinstance(g, HostGroup)),
            by_host=by_host,
            inverse_zones=tuple(
                (g, d) for g in kind.inverse if isinstance(g, ZoneGroup) for d in self._domains(g, number)
            ),
            inverse_hosts=tuple(g for g in kind.inverse if isinstance(g, HostGroup)),
        )

    def _domains(self, group: ZoneGroup, number: int) -> Sequence[str]:
        """The domains in which a pod counts: for anti-affinity every one still open, else the one that is decided."""
        held = self._sets[number].get(group.key)
        if held is None:
            return ()
        if group.kind in (GroupKind.ANTI_AFFINITY, GroupKind.INVERSE):
            return sorted(held.values)
        one = self._sets.single(number, group.key)
        return () if one is None else (one,)

    def _record_by_host(self, group: Group, number: int, taints: int, host: int, *, claim: bool) -> None:
        """A group whose node filter names hosts: judged with the host's own name, which no planned claim has yet."""
        name = f"claim {host}" if claim else self._nodes.hosts[host].hostname
        requirements = self._sets[number].add(Requirement.of(HOSTNAME, "In", (name,)))
        if not group.filter.matches(self._base.taint_lists[taints], requirements):
            return
        if isinstance(group, HostGroup):
            self._count_host(group, host, claim=claim)
        elif isinstance(group, ZoneGroup):
            for domain in self._domains(group, number):
                group.count(domain)
                self._zone_journal.append((group, domain, 1))


def _of(picks: Sequence[Pick], bit: int) -> tuple[Result, ...]:
    """What the host of a bit becomes."""
    for mask, results in picks:
        if mask & bit:
            return results
    return ()
