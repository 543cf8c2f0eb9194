"""The existing nodes that a pass may use, and what pods placed in the pass leave of them (provisioning spec 10).

Nodes stand in a fixed order and are bits of a mask. What a pass books is undone by `roll_back`, so that one set-up
serves any number of simulations.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from baseload.decide.fit.ladder import Ladders
from baseload.decide.fit.ports import HostPort, clash
from baseload.decide.fit.shape import Attachments, HostClass, Kind, Size
from baseload.values.taint import Taint


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """An existing node as a pass sees it at its start."""

    name: str
    hostname: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    remaining: Mapping[str, int]  # allocatable less running pods and expected daemons; below 0: overdrawn
    pool: str = ""
    capacity: Mapping[str, int] = field(default_factory=dict)  # counts toward the pool's limits
    ports: tuple[HostPort, ...] = ()
    attached: Attachments = field(default_factory=dict)
    attach_limits: Mapping[str, int] = field(default_factory=dict)  # CSI driver -> volumes

    @property
    def closed(self) -> bool:
        """A node with less than nothing left of anything, or with too many volumes, takes no pod at all (7.2, 14.8)."""
        if any(amount < 0 for amount in self.remaining.values()):
            return True
        return any(len(self.attached.get(driver, ())) > limit for driver, limit in self.attach_limits.items())


def places_by_hostname(hostnames: Iterable[str]) -> Mapping[str, tuple[int, ...]]:
    """hostname -> the places of the nodes that bear it; those that share a label are one topology domain."""
    found: dict[str, list[int]] = {}
    for place, hostname in enumerate(hostnames):
        found.setdefault(hostname, []).append(place)
    return {hostname: tuple(places) for hostname, places in found.items()}


class Nodes:
    """The state of the existing nodes in a pass."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self.hosts: Final = hosts
        self.remaining: Final[list[Mapping[str, int]]] = [host.remaining for host in hosts]
        self.classes: Final[list[HostClass]] = []
        self.class_of: Final[list[HostClass]] = []
        self.all: Final = (1 << len(hosts)) - 1
        self.open: Final = self.all & ~sum(1 << i for i, host in enumerate(hosts) if host.closed)
        self.active = self.open
        self._ports: dict[int, tuple[HostPort, ...]] = {}
        self._attached: dict[int, dict[str, frozenset[str]]] = {}
        self._moved: dict[int, HostClass] = {}  # node -> the class it had before the pass
        self._booked: set[int] = set()
        self._sizes: list[Size] = []
        resources = {resource for host in hosts for resource in host.remaining}
        columns = {r: tuple(host.remaining.get(r, 0) for host in hosts) for r in sorted(resources)}
        self._room: Final = Ladders(columns, len(hosts))

    def may_hold(self, size: Size) -> int:
        """The nodes that may hold a size: a superset, from what they had at the start less those that refused since."""
        if size.nodes is None:
            if size.nodes_at_start is None:
                size.nodes_at_start = self._with_room(size)
            size.nodes = size.nodes_at_start
            self._sizes.append(size)
        return size.nodes & self.active

    def accepts(self, node: int, kind: Kind, size: Size) -> bool:
        """The exact look at one node: volumes, host ports, room. A lack of room is remembered on the size."""
        if kind.attachments and self._over_attached(node, kind.attachments):
            return False
        if kind.constraints.ports and clash(kind.constraints.ports, self.ports(node)):
            return False
        remaining = self.remaining[node]
        for resource, amount in size.load:
            if remaining.get(resource, 0) < amount:
                assert size.nodes is not None
                size.nodes &= ~(1 << node)
                return False
        return True

    def book(self, node: int, kind: Kind, size: Size) -> None:
        if node not in self._booked:
            self._booked.add(node)
            self.remaining[node] = dict(self.remaining[node])
        remaining = self.remaining[node]
        assert isinstance(remaining, dict)
        for resource, amount in size.load:
            remaining[resource] = remaining.get(resource, 0) - amount
        if kind.constraints.ports:
            self._ports[node] = (*self.ports(node), *kind.constraints.ports)
        if kind.attachments:
            held = self._attached.setdefault(node, dict(self.hosts[node].attached))
            for driver, claims in kind.attachments.items():
                held[driver] = held.get(driver, frozenset()) | claims

    def move(self, node: int, hosts: HostClass) -> None:
        """A node whose requirement set narrowed belongs to another class."""
        before = self.class_of[node]
        self._moved.setdefault(node, before)
        before.mask &= ~(1 << node)
        hosts.mask |= 1 << node
        self.class_of[node] = hosts

    def ports(self, node: int) -> tuple[HostPort, ...]:
        return self._ports.get(node) or self.hosts[node].ports

    def attached(self, node: int) -> Attachments:
        return self._attached.get(node) or self.hosts[node].attached

    def roll_back(self) -> None:
        """Every node as it was at the start."""
        for node in self._booked:
            self.remaining[node] = self.hosts[node].remaining
        for node, hosts in self._moved.items():
            self.class_of[node].mask &= ~(1 << node)
            hosts.mask |= 1 << node
            self.class_of[node] = hosts
        for size in self._sizes:
            size.nodes = None
        self._booked.clear()
        self._moved.clear()
        self._ports.clear()
        self._attached.clear()
        self._sizes.clear()
        self.active = self.open

    def _over_attached(self, node: int, wanted: Attachments) -> bool:
        limits = self.hosts[node].attach_limits
        if not limits:
            return False
        held = self.attached(node)
        drivers = {*held, *wanted} & limits.keys()
        return any(len(held.get(d, frozenset()) | wanted.get(d, frozenset())) > limits[d] for d in drivers)

    def _with_room(self, size: Size) -> int:
        mask = self.all
        for resource, amount in size.load:
            mask &= self._room[resource].at_least(amount)
        return mask
