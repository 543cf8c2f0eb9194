"""A running cluster for benchmarks: nodes about 70 % full of pods of every kind, as plain Kubernetes objects.

Workloads of 20 to 40 pods, in five equal fifths: without constraints, spread over zones, spread over hosts, together in
their zone, and one a host. No two pods of a workload share a node, and a workload that keeps together has one zone.
"""

from collections.abc import Iterator

from benchmarks.mix import (
    CAPACITY_TYPE,
    HOSTNAME,
    INSTANCE_TYPE,
    ZONE,
    Draw,
    Manifest,
    affinity,
    anti_affinity,
    pod,
    spread,
)

ZONES = ("zone-1", "zone-2", "zone-3")
CPU, MEMORY = 32, 64  # of a node, in cores and GiB: the 32nd step of `mix.catalog`


def node(number: int) -> list[Manifest]:
    """A managed, initialised node and its claim."""
    name, amounts = f"node-{number:04}", {"cpu": str(CPU), "memory": f"{MEMORY}Gi", "pods": "320"}
    labels = {
        HOSTNAME: name,
        ZONE: ZONES[number % 3],
        CAPACITY_TYPE: "on-demand",
        INSTANCE_TYPE: f"step-{CPU}",
        "karpenter.sh/nodepool": "default",
        "karpenter.sh/registered": "true",
        "karpenter.sh/initialized": "true",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
    }
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    status = {"capacity": amounts, "allocatable": amounts}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": f"kwok://{name}"},
            "status": status | {"conditions": [{"type": "Ready", "status": "True"}]},
        },
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {"name": name, "labels": labels},
            "spec": {"nodeClassRef": reference, "requirements": []},
            "status": status | {"providerID": f"kwok://{name}"},
        },
    ]


def running(nodes: int, pods_each: int) -> Iterator[Manifest]:
    """The cluster's nodes, claims and bound pods."""
    for number in range(nodes):
        yield from node(number)
    draw = Draw()
    left, workload, place = nodes * pods_each, 0, 0
    while left > 0:
        replicas = min(left, draw.random.randint(20, 40))
        own, size = {"app": f"w{workload}"}, draw.size()
        kind, zone = workload % 5, workload % 3
        demands: Manifest = {}
        if kind in (1, 2):
            demands = {"topologySpreadConstraints": [spread(ZONE if kind == 1 else HOSTNAME, own)]}
        elif kind == 3:
            demands = {"affinity": affinity(ZONE, own)}
        elif kind == 4:
            demands = {"affinity": anti_affinity(HOSTNAME, own)}
        for replica in range(replicas):
            at = (place // 3 * 3 + zone if kind == 3 else place) % nodes
            place += 3 if kind == 3 else 1
            made = pod(f"w{workload}-{replica}", own, *size, **demands, nodeName=f"node-{at:04}")
            made["status"] = {"phase": "Running"}
            yield made
        left -= replicas
        workload += 1
