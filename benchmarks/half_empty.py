"""Random clusters that are half empty: nodes of three families and many sizes were full once, then half the pods went.

Pods are those of workloads of 2 to 20: most without constraints, some spread over zones, one a host, tied to a zone or
protected. A pool's budget lets a tenth of the nodes or all of them go at once, and nodes may go a minute after their
last pod came or went.
"""

from collections.abc import Iterator
from random import Random
from typing import Final

from benchmarks.mix import CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, ZONE, Manifest, anti_affinity, pod, spread

ZONES: Final = ("zone-1", "zone-2", "zone-3")
FAMILIES: Final = {"c": (2, 0.0425), "m": (4, 0.048), "r": (8, 0.063)}
"""family -> GiB a core, and dollars an hour a core"""
CORES: Final = (2, 4, 8, 16, 32)
GENERATIONS: Final = {5: 1.0, 6: 0.98, 7: 1.05}
_BEFORE: Final = "2026-06-01T00:00:00Z"
_CONDITIONS: Final = ("Launched", "Registered", "Initialized", "Consolidatable")
_MILLI_CPUS: Final = (100, 250, 500, 1000, 2000, 4000)
_GIB_A_CORE: Final = (1, 2, 4, 8)


def catalog() -> list[Manifest]:
    """Families, generations and sizes, alike in three zones; a price grows with the cores, or a little less."""
    return [
        _type(f"{family}{generation}.{cores}", cores, gib * cores, price * factor * cores)
        for family, (gib, price) in FAMILIES.items()
        for generation, factor in GENERATIONS.items()
        for cores in CORES
    ]


def _type(name: str, cores: int, gib: int, price: float) -> Manifest:
    offerings = [
        {
            "Price": round(price, 4),
            "Available": True,
            "Requirements": [
                {"key": CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]},
                {"key": ZONE, "operator": "In", "values": [zone]},
            ],
        }
        for zone in ZONES
    ]
    return {
        "name": name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": str(cores), "memory": f"{gib}Gi", "pods": "110"},
        "offerings": offerings,
    }


def items(nodes: int, seed: int) -> Iterator[Manifest]:
    """The objects of a cluster."""
    random = Random(seed)
    yield _pool(random)
    types = catalog()
    room: list[tuple[str, str, float, float]] = []
    for number in range(nodes):
        kind, zone = random.choice(types), random.choice(ZONES)
        amounts = kind["resources"]
        yield from _node(f"node-{number:03}", kind["name"], zone, amounts)
        room.append((f"node-{number:03}", zone, float(amounts["cpu"]), float(amounts["memory"][:-2])))
    yield from _pods(random, room)


def _pods(random: Random, room: list[tuple[str, str, float, float]]) -> Iterator[Manifest]:
    """Workload after workload, until hardly any node has room; each pod that was placed is left with even odds."""
    workload, misses = 0, 0
    while misses < 40:
        milli = random.choice(_MILLI_CPUS)
        mebibytes = milli * random.choice(_GIB_A_CORE) * 1024 // 1000
        own, demands, zones = _demands(random, workload)
        places = [at for at, it in enumerate(room) if it[1] in zones]
        random.shuffle(places)
        left = random.randint(2, 20)
        for at in places:
            name, zone, cpu, gib = room[at]
            if left and cpu * 0.95 >= milli / 1000 and gib * 0.95 >= mebibytes / 1024:
                room[at] = (name, zone, cpu - milli / 1000, gib - mebibytes / 1024)
                left -= 1
                if random.randrange(2):
                    made = pod(f"w{workload}-{left}", own, milli, mebibytes, **demands, nodeName=name)
                    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"w{workload}", "uid": "u"}
                    made["metadata"]["ownerReferences"] = [owner | {"controller": True}]
                    if workload % 50 == 7:
                        made["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
                    yield made | {"status": {"phase": "Running"}}
        misses = misses + 1 if left else 0
        workload += 1


def _demands(random: Random, workload: int) -> tuple[dict[str, str], Manifest, tuple[str, ...]]:
    own = {"app": f"w{workload}"}
    drawn = random.randrange(20)
    if drawn < 3:
        return own, {"topologySpreadConstraints": [spread(ZONE, own)]}, ZONES
    if drawn < 5:
        return own, {"affinity": anti_affinity(HOSTNAME, own)}, ZONES
    if drawn < 6:
        zone = random.choice(ZONES)
        return own, {"nodeSelector": {ZONE: zone}}, (zone,)
    return own, {}, ZONES


def _pool(random: Random) -> Manifest:
    on_demand = {"key": CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]}
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {
            "template": {"spec": {"nodeClassRef": reference, "requirements": [on_demand], "expireAfter": "Never"}},
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "consolidateAfter": "1m",
                "budgets": [{"nodes": random.choice(("10%", "100%"))}],
            },
        },
    }


def _node(name: str, kind: str, zone: str, amounts: Manifest) -> list[Manifest]:
    labels = {
        ZONE: zone,
        CAPACITY_TYPE: "on-demand",
        INSTANCE_TYPE: kind,
        "karpenter.sh/nodepool": "default",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
    }
    on_node = {HOSTNAME: name, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    said = [{"type": it, "status": "True", "reason": it, "lastTransitionTime": _BEFORE} for it in _CONDITIONS]
    status = {"capacity": amounts, "allocatable": amounts}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels | on_node},
            "spec": {"providerID": f"kwok://{name}"},
            "status": status | {"conditions": [{"type": "Ready", "status": "True"}]},
        },
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {"name": name, "labels": labels, "creationTimestamp": _BEFORE},
            "spec": {"nodeClassRef": reference, "requirements": [], "expireAfter": "Never"},
            "status": status | {"providerID": f"kwok://{name}", "nodeName": name, "conditions": said},
        },
    ]
