"""The loads that the provisioning decision is measured with, as plain objects.

`diverse` and `preference` are the mixes Karpenter measures itself with, on the ladder of `catalog(400)`.
In the mix a fifth of the pods repels each other, which fixes the number of nodes, and only thirty sizes and a hundred
kinds of pod occur; so a solver may do well on it and badly elsewhere.
The others are loads that the mix hides: many groups, many sizes, long chains, many domains, limits.

Everything is drawn from seed 42: the same call gives the same objects in every process.
Each load is a list of pods; `catalog`, `small_catalog` and `node_pool` make what they are placed on.
"""

from collections.abc import Callable
from random import Random
from typing import Any

Manifest = dict[str, Any]

SEED = 42
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
OFFERINGS = (("spot", 1), ("spot", 2), ("on-demand", 1), ("on-demand", 2), ("on-demand", 3))
MILLI_CPUS = (100, 250, 500, 1000, 1500)
MEBIBYTES = (100, 256, 512, 1024, 2048, 4096)
LETTERS = "abcdefg"


def instance_type(size: int) -> Manifest:
    """Step number `size` of the ladder; spot costs seven tenths."""
    price = round(0.05 * size, 4)
    return {
        "name": f"fake-it-{size - 1}",
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": str(size), "memory": f"{2 * size}Gi", "pods": str(10 * size)},
        "overhead": {"cpu": "100m", "memory": "10Mi"},
        "offerings": [
            {
                "Price": round(price * 0.7, 5) if capacity_type == "spot" else price,
                "Available": True,
                "Requirements": [
                    {"key": CAPACITY_TYPE, "operator": "In", "values": [capacity_type]},
                    {"key": ZONE, "operator": "In", "values": [f"zone-{zone}"]},
                ],
            }
            for capacity_type, zone in OFFERINGS
        ],
    }


def catalog(count: int = 400) -> list[Manifest]:
    """A ladder of types: 1 CPU, 2Gi and 10 pods a step, spot in two zones and on demand in three."""
    return [instance_type(size) for size in range(1, count + 1)]


def small_catalog() -> list[Manifest]:
    """Four small types, so that nodes get full."""
    return [instance_type(size) for size in (1, 2, 3, 4)]


def node_pool(name: str = "default", *, cpu: str = "10000000", memory: str = "10000000Gi") -> Manifest:
    """A pool open to every type; its limits are looked at but never bind unless told to."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {
            "limits": {"cpu": cpu, "memory": memory},
            "template": {
                "spec": {
                    "requirements": [],
                    "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                }
            },
        },
    }


def pod(name: str, labels: dict[str, str], cpu: int, memory: int, **spec: Any) -> Manifest:
    """A pending pod; `cpu` in thousandths, `memory` in mebibytes."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": labels},
        "spec": {"containers": [container], **spec},
    }


def spread(key: str, labels: dict[str, str]) -> Manifest:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }


def term(key: str, labels: dict[str, str]) -> Manifest:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def affinity(key: str, labels: dict[str, str]) -> Manifest:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(key, labels)]}}


def anti_affinity(key: str, labels: dict[str, str]) -> Manifest:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(key, labels)]}}


class Draw:
    """Chance with a fixed seed, in the terms of the mix."""

    def __init__(self) -> None:
        self.random = Random(SEED)

    def size(self) -> tuple[int, int]:
        return self.random.choice(MILLI_CPUS), self.random.choice(MEBIBYTES)

    def letter(self) -> dict[str, str]:
        return {"my-label": self.random.choice(LETTERS)}


def generic(draw: Draw, i: int) -> Manifest:
    return pod(f"generic-{i}", draw.letter(), *draw.size())


def zone_spread(draw: Draw, i: int) -> Manifest:
    return pod(f"zone-{i}", draw.letter(), *draw.size(), topologySpreadConstraints=[spread(ZONE, draw.letter())])


def host_spread(draw: Draw, i: int) -> Manifest:
    return pod(f"host-{i}", draw.letter(), *draw.size(), topologySpreadConstraints=[spread(HOSTNAME, draw.letter())])


def zone_affine(draw: Draw, i: int) -> Manifest:
    labels = {"my-affininity": draw.random.choice(LETTERS)}
    return pod(f"affine-{i}", labels, *draw.size(), affinity=affinity(ZONE, labels))


def repelling(draw: Draw, i: int) -> Manifest:
    labels = {"app": "nginx"}
    return pod(f"nginx-{i}", labels, *draw.size(), affinity=anti_affinity(HOSTNAME, labels))


def diverse(count: int) -> list[Manifest]:
    """Five equal fifths: generic, zone spread, hostname spread, zone self affinity, hostname anti-affinity."""
    draw, fifth = Draw(), count // 5
    makers: list[Callable[[Draw, int], Manifest]] = [zone_spread, host_spread, zone_affine, repelling]
    pods = [generic(draw, i) for i in range(count - 4 * fifth)]
    for make in makers:
        pods += [make(draw, i) for i in range(fifth)]
    return pods


def preference(count: int = 4000) -> list[Manifest]:
    """Equal pods that prefer zone 1, then a zone of their own (three can have it), then a node of their own."""
    cpu, memory = Draw().size()
    labels = {"app": "nginx"}
    preferred: Manifest = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone-1"]}]},
                }
            ]
        },
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 10, "podAffinityTerm": term(ZONE, labels)},
                {"weight": 1, "podAffinityTerm": term(HOSTNAME, labels)},
            ]
        },
    }
    return [pod(f"nginx-{i}", labels, cpu, memory, affinity=preferred) for i in range(count)]


def workloads(pods: int = 20000, workloads: int = 1000) -> list[Manifest]:
    """Many workloads, each with a spread or an anti-affinity over its own pods alone."""
    draw, result = Draw(), []
    kinds: list[Callable[[dict[str, str]], Manifest]] = [
        lambda own: {"topologySpreadConstraints": [spread(ZONE, own)]},
        lambda own: {"topologySpreadConstraints": [spread(ZONE, own), spread(HOSTNAME, own)]},
        lambda own: {"affinity": anti_affinity(HOSTNAME, own), "topologySpreadConstraints": [spread(ZONE, own)]},
    ]
    sizes = [draw.size() for _ in range(workloads)]
    for i in range(pods):
        number = i % workloads
        own = {"app": f"w{number}"}
        result.append(pod(f"w{number}-{i // workloads}", own, *sizes[number], **kinds[number % len(kinds)](own)))
    return result


def distinct_sizes(count: int) -> list[Manifest]:
    """No two pods ask for the same; for `small_catalog`, whose nodes they fill."""
    return [pod(f"p-{i}", {"app": "p"}, 100 + i % 1499, 100 + i // 1499 + i % 1499) for i in range(count)]


def affinity_chain(links: int = 200, pods: int = 4000, key: str = ZONE) -> list[Manifest]:
    """Every link wants to be beside the link before it, and the queue takes the last link first.

    Only the first link is at home by itself, in zone 1.
    A pass over the queue thus settles one link, and all others come round again.
    """
    result = []
    for i in range(pods):
        link = i % links
        demand: Manifest = (
            {"nodeSelector": {ZONE: "zone-1"}} if link == 0 else {"affinity": affinity(key, {"link": f"l{link - 1}"})}
        )
        result.append(pod(f"l{link}-{i // links}", {"link": f"l{link}"}, 100 + link, 128, **demand))
    return result


def spread_over_types(pods: int = 5000, domains: int = 400) -> list[Manifest]:
    """Pods spread over the instance type itself; for `catalog(domains)`, where every type is a domain."""
    own = {"app": "wide"}
    constraint = spread(INSTANCE_TYPE, own)
    return [pod(f"wide-{i}", own, 100, 100 + i % domains, topologySpreadConstraints=[constraint]) for i in range(pods)]


def limit_reached(count: int = 20000) -> tuple[list[Manifest], Manifest]:
    """The diverse mix and a pool whose limit lets half of its nodes be; for `catalog(400)`.

    A new node is charged as the largest type, 400 CPUs; so a tenth of the pods, half of those that repel each other,
    never gets a place and is asked about again and again.
    """
    return diverse(count), node_pool(cpu=str(count // 10 * 400))
