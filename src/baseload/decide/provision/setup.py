"""From a view to an engine that is ready to fit: for one provisioning pass, or for any number of simulations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.fit.attempt import OPEN, Closed
from baseload.decide.fit.base import Bound, Cluster, Rules
from baseload.decide.fit.engine import Fit, Fitted
from baseload.decide.fit.nodes import places_by_hostname
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.shape import FitPod
from baseload.decide.provision import buffers, hosts, overlays, pools
from baseload.decide.provision.daemons import daemons
from baseload.decide.provision.default_spread import DefaultSpread
from baseload.decide.provision.memory import Memory
from baseload.decide.provision.options import Options
from baseload.decide.provision.overlays import Overlaid
from baseload.decide.provision.pods import Moves, Sought, sought
from baseload.decide.provision.readings import Readings
from baseload.decide.provision.universe import LentDomains
from baseload.decide.provision.volumes import Volumes
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodePool
from baseload.model.view import View
from baseload.values.label import CORE_WELL_KNOWN

RESERVED_DOMAINS: Final = ("karpenter.k8s.aws", "karpenter.kwok.sh")
"""label domains that the providers keep for themselves, their well-known keys apart"""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What a pass is made from, worked out from the view."""

    view: View
    options: Options
    pools: tuple[NodePool, ...]
    types: Mapping[str, Overlaid]
    sought: Sought
    moves: Moves
    readings: Readings
    buffers: tuple[buffers.VirtualPods, ...]
    memory: Memory


def types_of(view: View, tables: Mapping[str, InstanceTypes], options: Options) -> Mapping[str, Overlaid]:
    """NodePool -> its types, with the overlays that are in force."""
    gated = view.node_overlays if options.gate("NodeOverlay") else ()
    return overlays.overlaid(gated, filter(pools.is_supported, view.node_pools), tables)


def sets_for(tables: Mapping[str, InstanceTypes]) -> Sets:
    """Requirement sets in which the well-known keys of these types may be left open."""
    return Sets(CORE_WELL_KNOWN.union(*(table.well_known for table in tables.values())))


def setting_of(
    view: View, tables: Mapping[str, InstanceTypes], options: Options, memory: Memory | None = None
) -> Setting:
    """`memory` is that of earlier passes on the same cluster."""
    memory = memory or Memory()
    memory.turn()
    dynamic = pools.dynamic_pools(view)
    volumes = Volumes(view)
    well_known = CORE_WELL_KNOWN.union(*(table.well_known for table in tables.values()))
    moves = Moves(view, now=options.now)
    wanted = sought(
        view,
        moves=moves,
        well_known=well_known,
        reserved_domains=RESERVED_DOMAINS,
        volume_fault=volumes.fault,
        ignore_dra=options.ignore_dra_requests,
    )
    return Setting(
        view,
        options,
        dynamic,
        types_of(view, tables, options),
        wanted,
        moves,
        Readings(view, volumes, DefaultSpread(view, options.default_spread)),
        tuple(buffers.virtual_pods(view, options.now)) if options.gate("CapacityBuffer") else (),
        memory,
    )


@dataclass(frozen=True, slots=True, eq=False)
class SetUp:
    """An engine, and the pods that a pass on the view as it stands would place."""

    cluster: Cluster
    sets: Sets
    fit: Fit
    pods: Sequence[FitPod]
    places: Mapping[str, int]  # node -> its place among the cluster's hosts
    movable: Mapping[str, Sequence[Bound]]  # node -> the pods that would have to move, where asked for

    def without(self, nodes: Iterable[str], *, most_reasons: int | None = None, closed: Closed = OPEN) -> Fitted:
        """Where the pods would go if some nodes were gone; reasons of those without a place where asked for."""
        gone = tuple(nodes)
        displaced = [bound for name in gone for bound in self.movable.get(name, ())]
        if self.fit.depends_on_the_first([*self.pods, *(bound.pod for bound in displaced)]):
            return self._fresh(frozenset(gone), displaced, most_reasons, closed)
        places = [self.places[name] for name in gone]
        return self.fit.simulate(places, displaced, self.pods, most_reasons=most_reasons, closed=closed)

    def _fresh(
        self, gone: frozenset[str], displaced: Sequence[Bound], most_reasons: int | None, closed: Closed
    ) -> Fitted:
        """The same by an engine of its own: where constraints are one group but for who came first (QUIRK 13.1)."""
        cluster, moving = self.cluster, {id(bound) for bound in displaced}
        hosts = [host for host in cluster.hosts if host.name not in gone]
        left = {host.name for host in hosts}
        by_hostname = places_by_hostname(host.hostname for host in hosts)
        nodes = {
            name: replace(
                node,
                places=by_hostname.get(node.hostname, ()),
                registers=node.registers and name in left,
            )
            for name, node in cluster.nodes.items()
        }
        running = [bound for bound in cluster.running if id(bound) not in moving]
        pods = [*self.pods, *(bound.pod for bound in displaced)]
        fresh = replace(cluster, hosts=hosts, nodes=nodes, running=running)
        shut = sum(1 << at for at, host in enumerate(hosts) if closed.nodes >> self.places[host.name] & 1)
        fit = Fit(fresh, pods, self.sets, self.fit.base.rules)
        fitted = fit.solve(pods, most_reasons=most_reasons, closed=Closed(shut, closed.to))
        on_nodes = [(pod, self.places[hosts[place].name]) for pod, place in fitted.on_nodes]
        return Fitted(on_nodes, fitted.claims, fitted.failed)


def set_up(setting: Setting, *, movable: bool = False, strict_reservations: bool = True) -> SetUp:
    """The engine for a view. `movable`: running pods will be moved in simulations, so their demands are read too.

    Without `strict_reservations` a node is planned without reserved capacity where none is left.
    """
    view, readings = setting.view, setting.readings
    tables = {name: overlaid.types for name, overlaid in setting.types.items()}
    sets = sets_for(tables)
    offers = list(pools.offers(setting.pools, tables, sets))
    states = hosts.offered(view)
    ignore_dra = setting.options.ignore_dra_requests
    expected = setting.memory.daemons(daemons(view, ignore_dra=ignore_dra))
    running, moves = _running(setting, movable=movable)
    cluster = Cluster(
        hosts=hosts.hosts(states, view, readings, expected, setting.memory),
        nodes=hosts.counted_nodes(view, states, setting.memory),
        running=running,
        offers=[offer for _, offer in offers],
        daemons=expected,
        universe=LentDomains((pools.own_requirements(pool), offer) for pool, offer in offers),
    )
    virtual = [pod for b in setting.buffers for pod in b.pods if not (ignore_dra and pod.spec.resource_claims)]
    pods = [readings.to_place(pod) for pod in (*setting.sought.pending, *setting.sought.moving, *virtual)]
    to_know = [*pods, *(bound.pod for moving in moves.values() for bound in moving)]
    rules = replace(_rules(setting.options), strict_reservations=strict_reservations)
    fit = Fit(cluster, to_know, sets, rules)
    places = {host.name: place for place, host in enumerate(cluster.hosts)}
    return SetUp(cluster, sets, fit, pods, places, moves)


def _running(setting: Setting, *, movable: bool) -> tuple[list[Bound], dict[str, list[Bound]]]:
    """The bound pods that stay for this pass, and by node those of them that would move if it went."""
    readings = setting.readings
    placed_anew = {id(pod) for pod in (*setting.sought.moving, *setting.sought.refused)}
    running: list[Bound] = []
    moves: dict[str, list[Bound]] = {}
    for name, pods in setting.view.pods_on.items():
        for pod in pods:
            if id(pod) in placed_anew:
                continue
            moves_too = movable and setting.moves(pod)
            if not moves_too and pod.spec.affinity is None:
                running.append(setting.memory.bound(pod, partial(_bound, readings, pod)))
                continue
            read = readings.to_place(pod) if moves_too else readings.running(pod)
            bound = Bound(read, name, not pod.metadata.deletion_timestamp)
            running.append(bound)
            if moves_too:
                moves.setdefault(name, []).append(bound)
    return running, moves


def _bound(readings: Readings, pod: Pod) -> Bound:
    return Bound(readings.running(pod), pod.spec.node_name, not pod.metadata.deletion_timestamp)


def _rules(options: Options) -> Rules:
    return Rules(
        respect_preferences=options.preference_policy == "Respect",
        best_effort_min_values=options.min_values_policy == "BestEffort",
        reserve=options.gate("ReservedCapacity"),
    )
