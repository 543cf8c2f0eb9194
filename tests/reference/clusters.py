"""Whole clusters as a hypothesis strategy: objects, a catalogue and options, all valid, most of them interesting."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from . import drawn_pods, drawn_supply
from .algebra import ZONE, Manifest
from .drawing import NODE_CLASS, NOW, Draw, Seeded

Cluster = tuple[list[Manifest], list[Manifest], Manifest]


def namespace(name: str, **labels: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def budget(d: Draw, name: str) -> Manifest:
    bounds: tuple[Manifest, ...] = ({"maxUnavailable": 0}, {"maxUnavailable": 1}, {"minAvailable": "100%"})
    spec = {"selector": {"matchLabels": {"app": d.one(drawn_pods.APPS)}}, **d.one(bounds)}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}


def service(name: str, app: str) -> Manifest:
    metadata = {"name": name, "namespace": "default"}
    spec = {"selector": {"app": app}, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def static_pool(d: Draw) -> Manifest:
    spec: Manifest = {
        "replicas": d.number(0, 3),
        "template": {"spec": {"requirements": [], "nodeClassRef": NODE_CLASS}},
    }
    if d.chance(30):
        spec["limits"] = {"nodes": "2"}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "fixed"}, "spec": spec}


def buffer_objects(d: Draw) -> list[Manifest]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": d.one(("1", "500m"))}}}
    shape = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec: Manifest = {"podTemplateRef": {"name": "chunk"}, "replicas": d.number(0, 3)}
    if d.chance(40):
        spec["limits"] = {"cpu": "2"}
    metadata = {"name": "spare", "namespace": "default"}
    return [
        {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": "chunk", "namespace": "default"},
            "template": shape,
        },
        {"apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer", "metadata": metadata, "spec": spec},
    ]


def options_of(d: Draw, gates: dict[str, bool]) -> Manifest:
    options: Manifest = {"now": NOW}
    if d.chance(15):
        options["preferencePolicy"] = "Ignore"
    if d.chance(25):
        options["minValuesPolicy"] = "BestEffort"
    if d.chance(8):
        constraint = {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": d.one(("DoNotSchedule", "ScheduleAnyway")),
        }
        options["schedulerConfig"] = {"podTopologySpread": {"defaultConstraints": [constraint]}}
    if gates:
        options["featureGates"] = gates
    return options


def gated(d: Draw, objects: list[Manifest]) -> dict[str, bool]:
    """Objects that count only under a feature gate; the gates that are on."""
    extras: dict[str, Callable[[], list[Manifest]]] = {
        "NodeOverlay": lambda: [drawn_supply.overlay(d, f"overlay-{i}") for i in range(d.number(1, 2))],
        "CapacityBuffer": lambda: buffer_objects(d),
        "StaticCapacity": lambda: [static_pool(d)],
    }
    gates = {}
    for gate in [d.one(list(extras))] if d.chance(30) else []:
        objects += extras[gate]()
        gates[gate] = not d.chance(20)
    return gates


def existing(d: Draw, pools: list[str], types: list[Manifest], daemons: list[Manifest]) -> list[Manifest]:
    """Nodes with what runs on them."""
    objects: list[Manifest] = []
    for number in range(1, d.number(0, 5) + 1):
        name = f"node-{number}"
        made = drawn_supply.node_objects(d, name, pools, types)
        objects += made
        if made[-1]["kind"] != "Node":
            continue
        objects += [drawn_pods.bound(d, number * 10 + i, name) for i in range(d.number(0, 2))]
        objects += [drawn_supply.daemon_pod(d, one, name) for one in daemons if d.chance(30)]
        if d.chance(50):
            objects.append(drawn_pods.csi_node(d, name))
    return objects


def cluster(d: Draw, most_pods: int) -> Cluster:
    types = drawn_supply.catalog(d)
    names = [f"pool-{letter}" for letter in "abc"[: d.number(1, 3)]]
    pools = [drawn_supply.pool(d, name, [t["name"] for t in types]) for name in names]
    daemons = [drawn_supply.daemon_set(d, f"agent-{i}") for i in range(d.number(0, 2))]
    objects = [*pools, namespace("default", side="near"), namespace("other", side="far"), *daemons]
    objects += existing(d, names, types, daemons)
    pending: list[Manifest] = []
    for number in range(d.number(1, max(2, most_pods // 3))):
        pending += drawn_pods.workload(d, number, min(6, most_pods))
    objects += pending[:most_pods]
    if any(o["kind"] == "Pod" and o["spec"].get("volumes") for o in objects):
        objects += drawn_pods.storage()
    if d.chance(30):
        objects += [budget(d, f"budget-{i}") for i in range(d.number(1, 2))]
    if d.chance(10):
        objects.append(service("front", d.one(drawn_pods.APPS)))
    gates = gated(d, objects)
    return objects, types, options_of(d, gates)


@st.composite
def clusters(draw: Callable[[st.SearchStrategy[Any]], Any], most_pods: int = 25) -> Cluster:
    """Up to three pools, five nodes, and workloads of a few pods each, `most_pods` altogether."""
    return cluster(Draw(draw), most_pods)


def seeded(seed: int, most_pods: int = 25) -> Cluster:
    """The same by a seed, for long runs and for naming a cluster by its number."""
    return cluster(Seeded(seed), most_pods)
