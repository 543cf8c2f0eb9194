"""Topology's books in a pass: what each placement counts on which group, and how all of it is taken back.

A group that no pod of the pass carries is asleep and needs no counting; one that a relaxation wakes counts from then
on.
"""

from collections.abc import Sequence
from typing import Final

from baseload.decide.fit.base import Base
from baseload.decide.fit.groups import CountedNode
from baseload.decide.fit.shape import Kind, RecordPlan
from baseload.decide.fit.topology import Group, GroupKind, HostGroup, ZoneGroup
from baseload.values.label import HOSTNAME
from baseload.values.requirement import Requirement


class Books:
    """The counts of one solve."""

    def __init__(self, base: Base, number: int) -> None:
        self._base: Final = base
        self._sets: Final = base.sets
        self._number: Final = number  # of the solve
        self._zone_journal: Final[list[tuple[ZoneGroup, str, int]]] = []
        self._host_journal: Final[list[tuple[HostGroup, int, int]]] = []
        self._claim_groups: Final[dict[HostGroup, None]] = {}

    def record(self, kind: Kind, number: int, taints: int, host: int, *, claim: bool) -> None:
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

    def withdraw(self, group: Group, node: CountedNode) -> None:
        """Takes a running pod that is to be placed anew off a group's count, until `roll_back`."""
        if isinstance(group, ZoneGroup) and (domain := self._base.groups.domain(group, node)) is not None:
            group.forget(domain, pods=1)
            self._zone_journal.append((group, domain, -1))
        elif isinstance(group, HostGroup) and group.filter.matches(node.taints, node.requirements):
            for place in node.places:
                group.record_node(place, -1)
                self._host_journal.append((group, place, -1))

    def roll_back(self) -> None:
        """Every group as it was before the pass."""
        for group, domain, by in reversed(self._zone_journal):
            if by > 0:
                group.forget(domain, pods=by)
            else:
                group.count(domain, -by)
        for host_group, node, by in self._host_journal:
            host_group.record_node(node, -by)
        for host_group in self._claim_groups:
            host_group.forget_claims()

    def _count_host(self, group: HostGroup, host: int, *, claim: bool) -> None:
        if claim:
            group.record_claim(host)
            self._claim_groups[group] = None
        else:
            for place in self._base.same_hostname.get(host, (host,)):
                group.record_node(place)
                self._host_journal.append((group, place, 1))

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
        name = f"claim {host}" if claim else self._base.nodes.hosts[host].hostname
        requirements = self._sets[number].add(Requirement.of(HOSTNAME, "In", (name,)))
        if not group.filter.matches(self._base.taint_lists[taints], requirements):
            return
        if isinstance(group, HostGroup):
            self._count_host(group, host, claim=claim)
        elif isinstance(group, ZoneGroup):
            for domain in self._domains(group, number):
                group.count(domain)
                self._zone_journal.append((group, domain, 1))
