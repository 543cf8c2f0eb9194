"""What is odd about a plan as a whole, though no pod waits for it.

Pools without a choice, limits that cannot be reached, pod slots that fill first, daemons that use more than they ask
for, tainted nodes that a spread counts, fees besides the price.
"""

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.masks import bits
from baseload.decide.explain.nearest import untolerated
from baseload.decide.explain.supply import Offer, Supply
from baseload.decide.fit.taints import taints_of, tolerations_of
from baseload.decide.provision import hosts
from baseload.decide.provision.options import Options
from baseload.kube.types.core import Pod
from baseload.model import real_use, requests
from baseload.model.view import View, name_of
from baseload.plan.provision import PlannedClaim, ProvisionPlan
from baseload.values import quantity
from baseload.values.label import HOSTNAME
from baseload.values.resource import written

_FULL: Final = 0.9
_MOST: Final = 3


def notes(
    view: View,
    tables: Mapping[str, InstanceTypes],
    options: Options,
    plan: ProvisionPlan,
) -> tuple[str, ...]:
    """Sentences for the reader of the plan."""
    supply = Supply(view, tables, options, plan, {})
    return (
        *_single_types(supply),
        *_unreachable_limits(view, supply),
        *_slots(plan),
        *_daemons(view, plan),
        *_tainted_hosts(view, plan),
        *_fees(plan, options.per_node_hour),
    )


def _single_types(supply: Supply) -> Iterator[str]:
    for offer in supply.offers:
        names = offer.offer.types.names(offer.types)
        if len(names) == 1 and len(offer.offer.types.table) > 1:
            yield (
                f"NodePool {offer.name}: its requirements leave one instance type, {names[0]}; "
                "while that is sold out the pool launches nothing"
            )


def _unreachable_limits(view: View, supply: Supply) -> Iterator[str]:
    for offer in supply.offers:
        used: dict[str, int] = {}
        if offer.offer.limits:
            for state in hosts.offered(view):
                if state.pool == offer.name:
                    requests.add(used, state.charged)
        for resource, limit in offer.offer.limits.items():
            yield from _unreachable(offer, resource, limit, used.get(resource, 0))


def _unreachable(offer: Offer, resource: str, limit: int, used: int) -> Iterator[str]:
    column = offer.offer.types.table.capacity.get(resource)
    sizes = {column[at] for at in bits(offer.types) if column[at] > 0} if column else set()
    if not sizes or limit <= used or (resource != "cpu" and len(sizes) > 1):
        return  # amounts of memory are odd: a rest of it is no news unless one type alone makes it
    effective = used + reachable(limit - used, sizes)
    if effective < limit:
        many = f"{len(sizes)} sizes of node" if len(sizes) > 1 else f"nodes of {written(resource, min(sizes))}"
        yield (
            f"NodePool {offer.name}: limits.{resource} {written(resource, limit)} cannot be reached with {many}: "
            f"the effective limit is {written(resource, effective)}, {written(resource, limit - effective)} is stranded"
        )


def reachable(limit: int, sizes: set[int]) -> int:
    """The largest sum of such sizes, each used any number of times, that stays within the limit."""
    grain = gcd(*sizes)
    most = limit // grain
    steps = sorted(size // grain for size in sizes)
    if steps[0] == 1 or (len(steps) > 1 and most >= steps[-1] ** 2):
        return most * grain  # every multiple of the grain can be made
    if len(steps) == 1:
        return most // steps[0] * steps[0] * grain
    sums, mask = 1, (1 << most + 1) - 1  # bit n: n grains can be made
    for step in steps:
        shift = step
        while shift <= most:
            sums |= sums << shift & mask
            shift *= 2
    return (sums.bit_length() - 1) * grain


def _slots(plan: ProvisionPlan) -> Iterator[str]:
    """Nodes that are bought for pod slots while CPU and memory have room."""
    by_pool: dict[str, list[PlannedClaim]] = {}
    for claim in plan.node_claims:
        if claim.binding == "pods" and claim.fill.get("pods", 0.0) >= _FULL:
            by_pool.setdefault(claim.node_pool, []).append(claim)
    for pool, claims in by_pool.items():
        first = claims[0]
        slots = written("pods", first.allocatable.get("pods", 0))
        cpu = round(100 * first.fill.get("cpu", 0.0))
        nodes = "1 new node" if len(claims) == 1 else f"{len(claims)} new nodes"
        yield (
            f"NodePool {pool}: pods is the binding resource on {nodes} "
            f"({first.instance_type} has {slots} slots, its CPU is {cpu} % full); "
            "kubelet.maxPods of the NodeClass, with prefix delegation or an overlay network, allows more"
        )


def _daemons(view: View, plan: ProvisionPlan) -> Iterator[str]:
    """The gap between what daemons ask for and what their owner says they use."""
    asked = used = 0
    for daemon_set, stated in real_use.stated(view):
        used += quantity.parse(stated)
        asked += requests.of_spec(daemon_set.spec.template.spec, limits_fill=True).get("memory", 0)
    gap = used - asked
    if gap <= 0:
        return
    text = (
        f"daemons request {written('memory', asked)} of memory and use {written('memory', used)} a node "
        f"({real_use.ANNOTATION})"
    )
    over = [c for c in plan.node_claims if c.requests.get("memory", 0) + gap > c.allocatable.get("memory", 0)]
    for claim in over[:_MOST]:
        held, has = claim.requests.get("memory", 0), claim.allocatable.get("memory", 0)
        text += (
            f"; {claim.name} ({claim.instance_type}) is planned with {written('memory', held)} and would hold "
            f"{written('memory', held + gap)} of its {written('memory', has)}"
        )
    yield text + (f"; so would {len(over) - _MOST} other nodes" if len(over) > _MOST else "")


def _tainted_hosts(view: View, plan: ProvisionPlan) -> Iterator[str]:
    """Tainted nodes that a spread over hosts counts with 0 although its pods can never run there."""
    tainted = [node for node in view.nodes if node.spec.taints]
    launched = {p.pod for p in plan.placements if p.node_claim is not None}
    if not tainted or not launched:
        return
    seen: set[int] = set()
    for pod in view.pods:
        if id(pod.spec) in seen or name_of(pod) not in launched or not _counts_taints(pod):
            continue
        seen.add(id(pod.spec))
        for node in tainted:
            barred = untolerated(taints_of(node.spec.taints), tolerations_of(pod.spec.tolerations))
            if barred:
                yield (
                    f"{name_of(pod)} and its like spread over hosts: domain {node.metadata.name} counts 0, is tainted "
                    f"({barred[0]}) and unusable for them, so no host may hold more than maxSkew; with "
                    "nodeTaintsPolicy: Honor the scheduler does not count it (Karpenter takes the least of hosts as 0 "
                    "in any case)"
                )
                break


def _counts_taints(pod: Pod) -> bool:
    return any(
        c.topology_key == HOSTNAME and c.when_unsatisfiable != "ScheduleAnyway" and c.node_taints_policy != "Honor"
        for c in pod.spec.topology_spread_constraints
    )


def _fees(plan: ProvisionPlan, per_node_hour: float) -> Iterator[str]:
    if per_node_hour and plan.node_claims:
        fees = per_node_hour * len(plan.node_claims)
        yield (
            f"instances cost ${plan.price_per_hour:.4f} an hour, fees of ${per_node_hour:.4f} a node ${fees:.4f} more: "
            f"${plan.price_per_hour + fees:.4f} in all"
        )
