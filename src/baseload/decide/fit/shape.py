"""Equal pods are one shape: a `Kind` (all that decides but the size) and a `Size` (the request).

Work is done per shape, not per pod. Of a pod's labels only the keys that some selector reads belong to the kind, so
that a hash or an index among the labels does not multiply kinds. A relaxed pod is another kind, made once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from baseload.decide.fit.constraints import Constraints
from baseload.decide.fit.topology import Group, GroupKind, HostGroup, ZoneGroup
from baseload.values.label import HOSTNAME
from baseload.values.requirement import EMPTY, Requirement, Requirements

NO_VOLUMES: Final[tuple[Requirements, ...]] = ()
Attachments = Mapping[str, frozenset[str]]
"""CSI driver -> the claims (namespace/name) that it has to attach"""
NOTHING_ATTACHED: Final[Attachments] = {}
UNKNOWN_HOST: Final = "a claim's hostname is not known before launch"


class FitPod(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A pod as fitting sees it. Equal pods share `constraints`, `requests` and `volumes` by identity.

    There are many of them, and a Struct is made in a fraction of the time that a dataclass takes.
    """

    name: str  # namespace/name
    namespace: str
    labels: Mapping[str, str]
    constraints: Constraints
    requests: Mapping[str, int]  # nano-units
    volumes: tuple[Requirements, ...] = NO_VOLUMES  # alternatives that its volumes allow, in order; none: no demand
    attachments: Attachments = msgspec.field(default_factory=lambda: NOTHING_ATTACHED)
    created: str = ""
    uid: str = ""


class Size:
    """A request by resource, and what is known of the hosts that cannot hold it."""

    __slots__ = ("full", "load", "nodes", "nodes_at_start", "number", "order", "screened", "solve")

    def __init__(self, number: int, load: tuple[tuple[str, int], ...]) -> None:
        self.number = number
        self.load = load  # (resource, nano-units), amounts above 0 only
        asked = dict(load)
        self.order = (-asked.get("cpu", 0), -asked.get("memory", 0))  # the larger is tried first (6.1)
        self.solve = -1  # the last that used it
        self.full: dict[int, int] = {}  # resulting set -> planned claims that cannot take one more
        self.screened = 0  # planned claims that are too full whatever their set
        self.nodes_at_start: int | None = None  # existing nodes that have room for it; None until asked
        self.nodes: int | None = None  # those of them that have not refused it in this solve


class ZoneUse:
    """A zone-like group that binds a kind: the pod's strict demand on the key, and whether it counts itself."""

    __slots__ = ("_bounded", "_ceiling", "_version", "group", "own", "reach")

    def __init__(self, group: ZoneGroup, reach: Requirement | None, own: int) -> None:
        self.group = group
        self.reach = reach
        self.own = own
        self._bounded = group.kind is GroupKind.SPREAD or (group.kind is not GroupKind.AFFINITY and reach is None)
        self._ceiling = 0  # what a bounded group counts at most where one more may go
        self._version = -1

    def allows(self, domain: str) -> bool:
        """Whether a host whose domain is decided may take the pod."""
        group = self.group
        if not self._bounded:
            return group.allows(domain, self.reach, self.own)
        if self._version != group.version and group.kind is GroupKind.SPREAD:
            self._ceiling, self._version = group.ceiling(self.reach, self.own), group.version
        count = group.counts.get(domain)
        return count is not None and count <= self._ceiling

    def ranked(self) -> tuple[str, ...] | None:
        """The domains that may take the pod, the least filled first; None where these do not tell all."""
        if self.group.kind is not GroupKind.SPREAD:
            return None
        self.allows("")  # brings the ceiling up to date
        ceiling = self._ceiling
        found = [(count, domain) for domain, count in self.group.counts.items() if count <= ceiling]
        found.sort()
        return tuple([domain for _, domain in found])

    def allowed(self) -> list[str]:
        """The domains that may take the pod."""
        if not self._bounded:
            return [domain for domain in self.group.counts if self.allows(domain)]
        self.allows("")  # brings the ceiling up to date
        ceiling = self._ceiling
        return [domain for domain, count in self.group.counts.items() if count <= ceiling]


@dataclass(slots=True)
class HostUse:
    group: HostGroup
    own: int


class Kind:
    """Pods that are alike in everything but size, and what has been worked out for them."""

    __slots__ = (
        "attachments",
        "binding",
        "by_domain",
        "claim_entries",
        "constraints",
        "failures",
        "full",
        "generation",
        "host",
        "host_nodes",
        "host_reach",
        "host_strict",
        "hosts",
        "inverse",
        "labels",
        "namespace",
        "next",
        "node_entries",
        "number",
        "on_claims",
        "options",
        "owned",
        "plans",
        "relaxed",
        "seen_claim_classes",
        "seen_node_classes",
        "selected",
        "solve",
        "starts",
        "strict",
        "taints",
        "undecided",
        "vain",
        "volumes",
        "zones",
    )

    def __init__(
        self,
        number: int,
        namespace: str,
        labels: Mapping[str, str],
        constraints: Constraints,
        volumes: tuple[Requirements, ...],
        attachments: Attachments,
        *,
        respect_preferences: bool,
    ) -> None:
        self.number = number
        self.namespace = namespace
        self.labels = labels  # those that some selector reads
        self.constraints = constraints
        self.volumes = volumes
        self.attachments = attachments
        full = constraints.full if respect_preferences else constraints.strict
        self.host: Requirement | None = full.get(HOSTNAME)
        self.host_strict: Requirement | None = constraints.strict.get(HOSTNAME)
        self.host_nodes = -1  # mask of the nodes whose hostname the pod allows
        self.host_reach = -1  # the same without its preferences
        self.on_claims = self.host is None or self.host.has(UNKNOWN_HOST)
        self.full = without_hostname(full)
        self.strict = without_hostname(constraints.strict)
        self.options: tuple[Option, ...] = tuple(
            Option(without_hostname(v), v.get(HOSTNAME)) for v in volumes or (EMPTY,)
        )
        self.owned: tuple[Group, ...] = ()
        self.inverse: tuple[Group, ...] = ()  # groups by which this pod keeps others away
        self.selected: tuple[Group, ...] = ()  # groups that count this pod, inverse ones apart
        self.binding: tuple[Group, ...] = ()  # groups that bind it, by zone and by host below
        self.zones: tuple[ZoneUse, ...] = ()
        self.hosts: tuple[HostUse, ...] = ()
        self.generation = -1  # of the groups that the above were made from
        self.solve = -1  # in which the claim entries were made
        self.node_entries: list[Entry] = []
        self.claim_entries: list[Entry] = []
        self.by_domain: dict[str, list[Entry]] = {}  # of those, the ones decided in the first of `zones`
        self.undecided: list[Entry] = []  # and the others
        self.seen_node_classes = 0
        self.seen_claim_classes = 0
        self.starts: dict[int, tuple[Result, ...]] = {}  # template -> what a new claim of it would be
        self.plans: dict[tuple[int, int], RecordPlan] = {}
        self.taints: dict[int, bool] = {}  # taint list -> tolerated
        self.failures: dict[int, tuple[int, int]] = {}  # size -> (epoch, group versions) when it found no place
        self.vain: dict[tuple[int, tuple[str, ...]], int] = {}  # (size, domains that might have taken it) -> epoch
        self.next: Kind | None = None
        self.relaxed = False  # whether `next` has been worked out

    def forget_claims(self) -> None:
        """A new solve starts without planned claims."""
        self.claim_entries.clear()
        self.by_domain.clear()
        self.undecided.clear()
        self.seen_claim_classes = 0


@dataclass(frozen=True, slots=True)
class Option:
    """One alternative of a pod's volumes."""

    requirements: Requirements
    host: Requirement | None


class HostClass:
    """Hosts of one range that are alike but for what they hold: same taints, same requirement set, same origin."""

    __slots__ = ("mask", "number", "taints")

    def __init__(self, number: int, taints: int) -> None:
        self.number = number  # requirement set
        self.taints = taints  # taint list
        self.mask = 0


@dataclass(slots=True)
class Entry:
    """What a class of hosts becomes when a kind joins it, before topology: one result for each option that may."""

    hosts: HostClass
    results: tuple["Result", ...]


@dataclass(slots=True)
class Result:
    number: int  # the resulting set
    decided: tuple[str | None, ...]  # the host's one domain for each of the kind's zones; None: open between several
    open: bool  # whether some domain is
    host: Requirement | None  # the option's demand on the hostname


@dataclass(slots=True)
class RecordPlan:
    """The counters that a placement raises."""

    zones: tuple[tuple[ZoneGroup, str], ...]
    hosts: tuple[HostGroup, ...]
    by_host: tuple[Group, ...]  # groups whose filter reads the hostname: judged host by host
    inverse_zones: tuple[tuple[ZoneGroup, str], ...]
    inverse_hosts: tuple[HostGroup, ...]


def without_hostname(requirements: Requirements) -> Requirements:
    if HOSTNAME not in requirements:
        return requirements
    return Requirements({key: r for key, r in requirements.items() if key != HOSTNAME})


def projected(labels: Mapping[str, str], keys: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The labels that some selector reads, in the order of `keys`."""
    return tuple((key, labels[key]) for key in keys if key in labels)
