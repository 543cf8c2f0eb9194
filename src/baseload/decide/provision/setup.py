"""From a view to an engine that is ready to fit: for one provisioning pass, or for any number of simulations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.fit.attempt import OPEN, Closed
from baseload.decide.fit.base import Cluster, Rules
from baseload.decide.fit.engine import Fit, Fitted
from baseload.decide.fit.nodes import places_by_hostname
from baseload.decide.fit.running import Bound, Running
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.shape import FitPod
from baseload.decide.provision import buffers, hosts, overlays, pools
from baseload.decide.provision.daemons import daemons
from baseload.decide.provision.default_spread import DefaultSpread
from baseload.decide.provision.memory import Memory
from baseload.decide.provision.occupants import Occupants
from baseload.decide.provision.options import Options
from baseload.decide.provision.overlays import Overlaid
from baseload.decide.provision.pods import Moves, Sought, sought
from baseload.decide.provision.readings import Readings
from baseload.decide.provision.universe import LentDomains
from baseload.decide.provision.volumes import Volumes
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodePool
from baseload.model.view import View, has_claims
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
    dynamic = pools.dynamic_pools(view)
    volumes = Volumes(view)
    well_known = CORE_WELL_KNOWN.union(*(table.well_known for table in tables.values()))
    default_spread = DefaultSpread(view, options.default_spread)
    of_other_objects = default_spread if options.default_spread else None
    memory.turn(view.namespaces, well_known, options.ignore_dra_requests, of_other_objects)
    moves = Moves(view, now=options.now)
    wanted = sought(
        view,
        moves=moves,
        well_known=well_known,
        reserved_domains=RESERVED_DOMAINS,
        volume_fault=volumes.fault,
        ignore_dra=options.ignore_dra_requests,
        known=memory.faults,
    )
    return Setting(
        view,
        options,
        dynamic,
        types_of(view, tables, options),
        wanted,
        moves,
        Readings(view, volumes, default_spread, memory.known),
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
        fresh = replace(cluster, hosts=hosts, nodes=nodes, running=Running(running))
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
    memory, leaving = setting.memory, (*setting.sought.moving, *setting.sought.refused)
    on = hosts.occupied(view, readings, memory, frozenset(map(id, leaving)))
    maybe = (*(pod for held in on.values() for pod in held.daemons), *view.waiting)
    expected = memory.daemons(daemons(view, ignore_dra=ignore_dra, among=maybe))
    running, moves = _movable(setting, on) if movable else (memory.running, {})
    if not movable:
        running.keep({name: held.running for name, held in on.items()})
    cluster = Cluster(
        hosts=hosts.hosts(states, view, readings, expected, on, memory),
        nodes=hosts.counted_nodes(view, states, memory),
        running=running,
        offers=[offer for _, offer in offers],
        daemons=expected,
        universe=LentDomains((pools.own_requirements(pool), offer) for pool, offer in offers),
    )
    virtual = [pod for b in setting.buffers for pod in b.pods if not (ignore_dra and pod.spec.resource_claims)]
    pods = [_to_place(setting, pod) for pod in (*setting.sought.pending, *setting.sought.moving, *virtual)]
    to_know = [*pods, *(bound.pod for moving in moves.values() for bound in moving)]
    rules = replace(_rules(setting.options), strict_reservations=strict_reservations)
    fit = Fit(cluster, to_know, sets, rules)
    places = {host.name: place for place, host in enumerate(cluster.hosts)}
    return SetUp(cluster, sets, fit, pods, places, moves)


def _movable(setting: Setting, on: Mapping[str, Occupants]) -> tuple[Running, dict[str, list[Bound]]]:
    """The bound pods that stay for this pass, and by node those of them that would move if it went."""
    running: list[Bound] = []
    moves: dict[str, list[Bound]] = {}
    for name, held in on.items():
        for pod, bound in zip(held.pods, held.running, strict=True):
            if setting.moves(pod):
                bound = replace(bound, pod=setting.readings.to_place(pod))
                moves.setdefault(name, []).append(bound)
            running.append(bound)
    return Running(running), moves


def _to_place(setting: Setting, pod: Pod) -> FitPod:
    """What an earlier pass read holds as long as no other objects decide it, which volumes are."""
    read = setting.readings.to_place
    held = setting.memory.to_place.value(pod, lambda pod: None if has_claims(pod) else read(pod))
    return held or read(pod)


def _rules(options: Options) -> Rules:
    return Rules(
        respect_preferences=options.preference_policy == "Respect",
        best_effort_min_values=options.min_values_policy == "BestEffort",
        reserve=options.gate("ReservedCapacity"),
    )
