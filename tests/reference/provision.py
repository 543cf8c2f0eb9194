"""From objects to the whole decision (§29.1): what is collected, the pass, and the claims it creates (§18.6, §19)."""

from dataclasses import dataclass, field
from fractions import Fraction

from . import algebra, buffers, catalogue, cluster, constraints, daemons, pools, resources, selecting, solver
from .algebra import CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, Manifest, Requirements
from .catalogue import InstanceType
from .resources import Amounts
from .volumes import Volumes

RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed"


@dataclass(frozen=True)
class PlannedClaim:
    """A claim as it would be created and launched by the cheapest offering."""

    pool: str
    types: list[str]
    pods: list[str]
    requests: Amounts
    requirements: Requirements
    labels: dict[str, str]
    annotations: dict[str, str]
    instance_type: str
    zone: str
    capacity_type: str
    price: Fraction
    capacity: Amounts


@dataclass
class Result:
    """The decision. `placements` name a node or the index of a claim; `errors` every pending pod without a place."""

    placements: dict[str, tuple[str, str | int]] = field(default_factory=dict)
    claims: list[PlannedClaim] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    static: dict[str, int] = field(default_factory=dict)
    buffers: dict[str, tuple[int, str]] = field(default_factory=dict)
    relaxations: dict[str, list[str]] = field(default_factory=dict)


def gate(options: Manifest, name: str) -> bool:
    return bool((options.get("featureGates") or {}).get(name, False))


def solve(objects: list[Manifest], catalog: list[Manifest], options: Manifest) -> Result:
    """§29.1."""
    result, known = Result(), catalogue.well_known(catalog)
    nodes = cluster.state_nodes(objects)
    if gate(options, "StaticCapacity"):
        result.static = buffers.static_deltas(objects, nodes)
    pods = collected(objects, nodes, options, known, result)
    virtual = virtual_pods(objects, options)
    pods += [pod for listed in virtual.values() for pod in listed or ()]
    pods = [constraints.with_default_spread(pod, objects, options) for pod in pods]
    if cluster.out_of_sync(objects):
        refuse(result, pods, "cluster state is not in sync: a NodeClaim is not launched yet")
    elif not pools.dynamic_pools(objects, known):
        refuse(result, pods, "no dynamic pool")
    elif pods:
        decide(objects, catalog, options, nodes, pods, result)
    for name, listed in virtual.items():
        result.buffers[name] = (len(listed or ()), buffers.provisioning(listed, result.placements))
    return without_virtual(result, {selecting.full_name(p) for listed in virtual.values() for p in listed or ()})


def refuse(result: Result, pods: list[Manifest], text: str) -> None:
    result.errors.update({selecting.full_name(pod): text for pod in pods})


def collected(
    objects: list[Manifest],
    nodes: list[cluster.StateNode],
    options: Manifest,
    known: frozenset[str],
    result: Result,
) -> list[Manifest]:
    """§1.5, §2: the pods of the pass; pending ones that none is sought for get an error at once."""
    volumes, pods = Volumes(objects), []
    for pod in (o for o in objects if o["kind"] == "Pod" and not o["spec"].get("nodeName")):
        name = selecting.full_name(pod)
        if not constraints.provisionable(pod):
            if not selecting.is_finished(pod):
                result.errors[name] = "no node is sought for it"
            continue
        faults = constraints.invalid_demands(pod, known) + volumes.unusable(pod)
        if faults:
            result.errors[name] = "; ".join(faults)
        else:
            pods.append(pod)
    return pods + cluster.leaving(objects, nodes, options.get("now"))


def virtual_pods(objects: list[Manifest], options: Manifest) -> dict[str, list[Manifest] | None]:
    """§22."""
    if not gate(options, "CapacityBuffer"):
        return {}
    listed = [o for o in objects if o["kind"] == "CapacityBuffer"]
    return {selecting.full_name(b): buffers.virtual_pods(b, objects, options.get("now")) for b in listed}


def overlaid_types(
    objects: list[Manifest], catalog: list[Manifest], options: Manifest, pool_list: list[Manifest]
) -> dict[str, list[InstanceType]]:
    """§3.3, §23: the types of each pool."""
    types, known = catalogue.types_of(catalog), catalogue.well_known(catalog)
    everywhere = [o for o in objects if o["kind"] == "NodePool"]  # a conflict counts on pools that take no part too
    overlays = catalogue.overlays_of(objects, everywhere, types, known) if gate(options, "NodeOverlay") else []
    names = [pool["metadata"]["name"] for pool in pool_list]
    return {name: [catalogue.overlaid(name, t, overlays) for t in types] for name in names}


def decide(
    objects: list[Manifest],
    catalog: list[Manifest],
    options: Manifest,
    nodes: list[cluster.StateNode],
    pods: list[Manifest],
    result: Result,
) -> None:
    """§29.1 from its step 5 on."""
    known = catalogue.well_known(catalog)
    pool_list = pools.dynamic_pools(objects, known)
    types = overlaid_types(objects, catalog, options, pool_list)
    run = solver.Pass(
        objects=objects, options=options, known=known, pool_list=pool_list, types=types, nodes=nodes, pods=pods
    )
    run.run()
    result.errors.update(run.errors)
    result.relaxations.update(run.relaxations)
    result.placements.update({pod: place for pod, place in run.places.items() if place[0] == "node"})
    used = {
        p["metadata"]["name"]: resources.total_of(
            n.capacity for n in nodes if n.pool == p["metadata"]["name"] and not n.marked_for_deletion
        )
        for p in pool_list
    }
    for claim in run.claims:
        create(claim, run, used, result)


def create(claim: solver.Claim, run: solver.Pass, used: dict[str, Amounts], result: Result) -> None:
    """§16.6, §18.6."""
    pool, pool_name = claim.template.pool, claim.template.name
    planned = planned_claim(claim, run)
    limits = resources.amounts(pool["spec"].get("limits"))
    if planned is None:
        refuse_names(result, claim.pods, "minValues not met by the types that are kept")
    elif any(used[pool_name].get(name, 0) > limit for name, limit in limits.items()):
        refuse_names(result, claim.pods, f"nodePool {pool_name}: its limits are exceeded")
    else:
        used[pool_name] = resources.plus(used[pool_name], planned.capacity, {"nodes": resources.UNIT})
        result.placements.update({pod: ("claim", len(result.claims)) for pod in claim.pods})
        result.claims.append(planned)


def refuse_names(result: Result, names: list[str], text: str) -> None:
    result.errors.update(dict.fromkeys(names, text))


def planned_claim(claim: solver.Claim, run: solver.Pass) -> PlannedClaim | None:
    """§19.1-19.4 and §32.9; None when the cut to 600 breaks minValues (§16.6)."""
    final, known = solver.finalised(claim), run.known
    types = pools.by_price(claim.types, final, known)[: pools.MOST_TYPES]
    if pools.unmet_min_values(types, final) and not run.best_effort:
        return None
    offerings = [
        (o.price, t.name, o.zone, o.capacity_type, t, o)
        for t in types
        for o in catalogue.open_offerings(t, final, known)
    ]
    price, name, zone, capacity_type, launched, offering = min(offerings, key=lambda entry: entry[:4])
    capacity_types = {o.capacity_type for *_, o in offerings}
    written = algebra.add(
        {key: r for key, r in final.items() if key not in pools.SIMULATION_ONLY},
        [
            algebra.requirement(INSTANCE_TYPE, "In", [t.name for t in types]),
            algebra.requirement(CAPACITY_TYPE, "In", capacity_types),
        ],
    )
    singles = singles_of({**launched.requirements, **offering.requirements})
    return PlannedClaim(
        pool=claim.template.name,
        types=[t.name for t in types],
        pods=list(claim.pods),
        requests=resources.plus(claim.requests, daemons.least(claim.groups, claim.types)),
        requirements=written,
        labels={**singles, **claim.template.labels, **custom_labels(final, known)},
        annotations={
            **dict((claim.template.pool["spec"]["template"].get("metadata") or {}).get("annotations") or {}),
            RELAXED: "true" if claim.relaxed_min_values else "false",
        },
        instance_type=name,
        zone=zone,
        capacity_type=capacity_type,
        price=price,
        capacity=launched.capacity,
    )


def singles_of(requirements: Requirements) -> dict[str, str]:
    return {key: min(r.values) for key, r in requirements.items() if not r.complement and len(r.values) == 1}


def custom_labels(final: Requirements, known: frozenset[str]) -> dict[str, str]:
    """§4.13, with the smallest legal value."""
    labels = {}
    for key, r in final.items():
        if key in known or key == HOSTNAME or key in pools.SIMULATION_ONLY:
            continue
        if r.complement:
            labels[key] = str(r.gte or 0)
        elif r.values:
            labels[key] = min(r.values)
    return labels


def without_virtual(result: Result, names: set[str]) -> Result:
    """Virtual pods stand in no list but that of the buffers."""
    for name in names:
        result.placements.pop(name, None)
        result.errors.pop(name, None)
    for claim in result.claims:
        claim.pods[:] = [pod for pod in claim.pods if pod not in names]
    return result
