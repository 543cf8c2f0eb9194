"""Which hosts of a range a pod of some kind may join, and what their requirement set would become.

Candidates are masks, worked out by class: the class's hosts, less those that a topology group bars, less those known
to be too full. What a class becomes when a kind joins it is worked out once; only what topology makes of it is asked
each time.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from baseload.decide.fit.base import Base
from baseload.decide.fit.sets import NONE
from baseload.decide.fit.shape import UNKNOWN_HOST, Entry, HostClass, Kind, Result
from baseload.decide.fit.template import Template
from baseload.decide.fit.topology import GroupKind
from baseload.values.requirement import Requirement

NONE_FULL: Final[Mapping[int, int]] = {}

Pick = tuple[int, tuple[Result, ...]]
"""hosts -> what they become, in the order in which the pod's volume alternatives are tried"""


class Candidates:
    """The classes of hosts of one solve: those of existing nodes, and those that its planned claims make."""

    def __init__(self, base: Base) -> None:
        self._base: Final = base
        self._sets: Final = base.sets
        self._nodes: Final = base.nodes
        self._claim_classes: Final[list[HostClass]] = []
        self._claim_class: Final[dict[tuple[int, int], HostClass]] = {}
        self._narrowed: Final[dict[tuple[int | Requirement, ...], int]] = {}

    def picks(self, kind: Kind, among: int, *, claims: bool, full: Mapping[int, int]) -> tuple[int, list[Pick]]:
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
            mask = entry.hosts.mask
            if among != -1:
                mask &= among
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
            allowed = allowed | mask if allowed else mask
        return allowed

    def _pick_settled(self, kind: Kind, among: int, full: Mapping[int, int], picks: list[Pick]) -> int:
        """The classes of claims that are decided in the kind's one zone-like group, by the domains that it allows."""
        allowed = 0
        for domain in kind.zones[0].allowed():
            for entry in kind.by_domain.get(domain, ()):
                mask = entry.hosts.mask
                if among != -1:
                    mask &= among
                if full and entry.results[0].number in full:
                    mask &= ~full[entry.results[0].number]
                if mask:
                    picks.append((mask, entry.results))
                    allowed = allowed | mask if allowed else mask
        return allowed

    def on_hosts(self, kind: Kind, claims: int) -> int:
        """The mask of hosts that groups on the hostname leave."""
        mask = -1
        for use in kind.hosts:
            group = use.group
            if group.kind is not GroupKind.AFFINITY:
                mask &= ~group.blocked(claims, use.own)
            elif not (use.own and group.may_bootstrap(kind.host_strict, kind.host_reach)):
                mask &= group.levels[claims][1]
        return mask

    def _look_at(self, kind: Kind, classes: Sequence[HostClass], *, claims: bool) -> None:
        """Works out what classes of hosts that are new become when the kind joins them."""
        entries = kind.claim_entries if claims else kind.node_entries
        for hosts in classes:
            if self._base.tolerates(kind, hosts.taints):
                results = self.results(kind, hosts.number, strict=not claims)
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

    def results(self, kind: Kind, number: int, *, strict: bool) -> tuple[Result, ...]:
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

    def narrow(self, kind: Kind, result: Result, *, strict: bool) -> Result | None:
        """A result after topology: open domains narrowed to what the groups answer; None where one bars the host."""
        for use, domain in zip(kind.zones, result.decided, strict=True):
            if domain is not None and not use.allows(domain):
                return None
        return self._answered(kind, result, strict=strict) if result.open else result

    def _all_narrowed(self, kind: Kind, results: tuple[Result, ...], *, strict: bool) -> tuple[Result, ...]:
        if len(results) > 1:
            narrowed = (self.narrow(kind, result, strict=strict) for result in results)
            return tuple(result for result in narrowed if result is not None)
        only = self.narrow(kind, results[0], strict=strict)
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

    def class_of(self, template: Template, number: int) -> HostClass:
        key = (id(template), number)
        found = self._claim_class.get(key)
        if found is None:
            found = self._claim_class[key] = HostClass(number, template.taints)
            self._claim_classes.append(found)
        return found


def of_host(picks: Sequence[Pick], bit: int) -> tuple[Result, ...]:
    """What the host of a bit becomes."""
    for mask, results in picks:
        if mask & bit:
            return results
    return ()
