"""What could take a pod once a plan is carried out: pools with types and daemons, nodes with what is left of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.fit.nodes import Host
from baseload.decide.fit.shape import FitPod
from baseload.decide.fit.taints import PREFER_NO_SCHEDULE, TOLERATES_SOFT, Toleration
from baseload.decide.fit.template import DaemonGroup, PoolOffer, daemon_groups
from baseload.decide.provision import hosts, pools
from baseload.decide.provision.daemons import daemons
from baseload.decide.provision.default_spread import DefaultSpread
from baseload.decide.provision.options import Options
from baseload.decide.provision.readings import Readings
from baseload.decide.provision.setup import sets_for, types_of
from baseload.decide.provision.volumes import Volumes
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodePool
from baseload.model.requests import add
from baseload.model.view import View
from baseload.plan.provision import ProvisionPlan


@dataclass(frozen=True, eq=False)
class Offer:
    """A pool that may launch nodes."""

    pool: NodePool
    offer: PoolOffer
    groups: tuple[DaemonGroup, ...]

    @property
    def name(self) -> str:
        return self.offer.name

    @cached_property
    def place_of_type(self) -> Mapping[str, int]:
        return {name: at for at, name in enumerate(self.offer.types.table.names)}

    @cached_property
    def types(self) -> int:
        """The types that the pool may launch, whatever the pod."""
        index, requirements = self.offer.types, self.offer.requirements
        return index.agreeing(requirements) & index.offered(requirements) & index.usable

    def holding(self, requests: Mapping[str, int]) -> int:
        """The types that hold a load and their daemons."""
        mask = 0
        for group in self.groups:
            total = {r: requests.get(r, 0) + group.overhead.get(r, 0) for r in (*requests, *group.overhead)}
            mask |= self.offer.types.holding(group.types, total)
        return mask

    def domains(self, key: str) -> set[str]:
        """The values that nodes of the pool may have under a label key."""
        own = pools.own_requirements(self.pool).get(key)
        column = self.offer.types.table.labels.get(key)
        mask = self.offer.types.agreeing(self.offer.requirements)
        found: set[str] = set()
        for held, types in column.groups if column else ():
            if types & mask and not held.complement:
                found |= held.values
        if own is None:
            return found
        return {value for value in (found or own.values) if own.has(value)}


class Supply:
    """The supply side of a view and its plan, read when first asked for."""

    def __init__(
        self,
        view: View,
        tables: Mapping[str, InstanceTypes],
        options: Options,
        plan: ProvisionPlan,
        pods: Mapping[str, Pod],
    ) -> None:
        self._view: Final = view
        self._options: Final = options
        self._plan: Final = plan
        self._pods: Final = pods
        self.pools: Final = pools.dynamic_pools(view)
        self._tables: Final = {name: laid.types for name, laid in types_of(view, tables, options).items()}
        self.sets: Final = sets_for(self._tables)
        self._daemons: Final = daemons(view, ignore_dra=options.ignore_dra_requests)
        self._limits_left: Final[dict[str, Mapping[str, int]]] = {}
        self.readings: Final = Readings(view, Volumes(view), DefaultSpread(view, options.default_spread))

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        found = pools.offers(self.pools, self._tables, self.sets)
        return tuple(Offer(pool, offer, daemon_groups(offer, self._daemons, self.sets)) for pool, offer in found)

    def tolerations(self, reading: FitPod) -> tuple[Toleration, ...]:
        """A pod's tolerations; where some pool has a soft taint, the last relaxation tolerates all of those."""
        soft = any(taint.effect == PREFER_NO_SCHEDULE for offer in self.offers for taint in offer.offer.taints)
        return (*reading.constraints.tolerations, TOLERATES_SOFT) if soft else reading.constraints.tolerations

    @cached_property
    def hosts(self) -> tuple[Host, ...]:
        """The nodes, less what the plan puts on them."""
        on = hosts.occupied(self._view, self.readings)
        found = hosts.hosts(hosts.offered(self._view), self._view, self.readings, self._daemons, on)
        taken: dict[str, dict[str, int]] = {}
        for placement in self._plan.placements:
            if placement.node is not None:
                add(taken.setdefault(placement.node, {}), self.readings.requests(self._pods[placement.pod]))
        return tuple(
            replace(host, remaining={r: left - taken[host.name].get(r, 0) for r, left in host.remaining.items()})
            if host.name in taken
            else host
            for host in found
        )

    def reading(self, pod: Pod) -> FitPod:
        return self.readings.to_place(pod)

    def limits_left(self, offer: Offer) -> Mapping[str, int]:
        """What running and planned nodes leave of a pool's limits; each planned one is charged as its largest type."""
        known = self._limits_left.get(offer.name)
        if known is None:
            left = dict(offer.offer.limits)
            for taken in (*self._running(offer), *self._planned(offer, tuple(left))):
                left = {resource: amount - taken.get(resource, 0) for resource, amount in left.items()}
            known = self._limits_left[offer.name] = left
        return known

    def _running(self, offer: Offer) -> Iterator[Mapping[str, int]]:
        return (host.capacity for host in self.hosts if host.pool == offer.name)

    def _planned(self, offer: Offer, resources: tuple[str, ...]) -> Iterator[Mapping[str, int]]:
        capacity, place = offer.offer.types.table.capacity, offer.place_of_type
        charged: dict[int, Mapping[str, int]] = {}  # by the identity of a list of types, which many claims share
        for claim in self._plan.node_claims:
            if claim.node_pool != offer.name:
                continue
            types = claim.instance_types
            if id(types) not in charged:
                columns = [(r, capacity[r]) for r in resources if r in capacity]
                charged[id(types)] = {r: max((column[place[t]] for t in types), default=0) for r, column in columns}
            yield charged[id(types)]

    def largest(self, pool: str, resource: str) -> int:
        """The capacity of the largest type of a pool (`NodePool NAME`)."""
        for offer in self.offers:
            if pool == f"NodePool {offer.name}" and resource in offer.offer.types.table.capacity and offer.types:
                return offer.offer.types.largest_capacity(offer.types, resource)
        return 0

    def room(self, resource: str) -> Iterator[int]:
        """How much of a resource single nodes have for pods: every type of every pool, and every existing node."""
        for offer in self.offers:
            amounts = offer.offer.types.table.allocatable.get(resource, ())
            for group in offer.groups:
                kept = group.overhead.get(resource, 0)
                yield from (amount - kept for at, amount in enumerate(amounts) if group.types >> at & 1)
        yield from (host.remaining.get(resource, 0) for host in self.hosts)
