"""What is to be placed: workloads with every kind of constraint, and the storage that some of them mount."""

import copy
from collections.abc import Callable

from .algebra import CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, ZONE, Manifest
from .drawing import CAPACITY_TYPES, NOW, TEAMS, ZONES, Draw, expression
from .drawn_supply import GPU

APPS = ("web", "db", "job")
KEYS = (ZONE, HOSTNAME, "team", "rack", CAPACITY_TYPE, INSTANCE_TYPE, "example.com/family")
COMMON_KEYS = (ZONE, HOSTNAME, ZONE, HOSTNAME, *KEYS)
CLAIMS = ("free", "zonal", "either", "plain", "bound-1", "bound-or", "remote", "immediate", "nonesuch")
EBS = "ebs.csi.aws.com"


def storage() -> list[Manifest]:
    """Classes, volumes and claims: unbound in any zone, in one, in one of two; bound; and two unusable ones."""

    def storage_class(name: str, mode: str, *terms: list[str]) -> Manifest:
        topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": zones}]} for zones in terms]
        result = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
        result |= {"provisioner": EBS, "volumeBindingMode": mode}
        return {**result, **({"allowedTopologies": topologies} if topologies else {})}

    def claim(name: str, class_name: str, volume: str = "") -> Manifest:
        spec: Manifest = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        spec |= {"storageClassName": class_name, **({"volumeName": volume} if volume else {})}
        metadata: Manifest = {"name": name, "namespace": "default"}
        if volume:
            metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}

    def volume(name: str, source: Manifest, *zones: str) -> Manifest:
        spec: Manifest = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **source}
        if zones:
            terms = [{"matchExpressions": [expression(ZONE, "In", zone)]} for zone in zones]
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}

    def disk(name: str) -> Manifest:
        return {"csi": {"driver": EBS, "volumeHandle": name}}

    late = "WaitForFirstConsumer"
    return [
        storage_class("open", late),
        storage_class("one-zone", late, ["zone-2"]),
        storage_class("two-zones", late, ["zone-3"], ["zone-1", "zone-2"]),
        storage_class("early", "Immediate"),
        claim("free", "open"),
        claim("zonal", "one-zone"),
        claim("either", "two-zones"),
        claim("plain", "open"),
        claim("bound-1", "", "pv-1"),
        claim("bound-or", "", "pv-or"),
        claim("remote", "", "pv-nfs"),
        claim("immediate", "early"),
        volume("pv-1", disk("pv-1"), "zone-1"),
        volume("pv-or", disk("pv-or"), "zone-2", "zone-3"),
        volume("pv-nfs", {"nfs": {"server": "s", "path": "/"}}),
    ]


def csi_node(d: Draw, name: str) -> Manifest:
    driver = {"name": EBS, "nodeID": name, "allocatable": {"count": d.one((2, 1))}}
    metadata = {"name": name}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": {"drivers": [driver]}}


def selector(d: Draw) -> Manifest:
    if d.chance(10):
        return {}
    if d.chance(15):
        return {"matchExpressions": [expression("app", d.one(("In", "NotIn")), *d.some(APPS, most=2))]}
    return {"matchLabels": {"app": d.one(APPS)}}


def node_expression(d: Draw) -> Manifest:
    return d.one(
        (
            expression(ZONE, "In", d.one(ZONES)),
            expression(ZONE, "In", *d.some(ZONES, least=2)),
            expression(ZONE, "NotIn", d.one(ZONES)),
            expression(CAPACITY_TYPE, "In", d.one(CAPACITY_TYPES)),
            expression("example.com/size", "In", d.one(("large", "small"))),
            expression("example.com/cores", d.one(("Gt", "Lt")), d.one(("2", "4"))),
            expression("example.com/family", d.one(("Exists", "DoesNotExist"))),
            expression("team", d.one(("In", "NotIn")), d.one(TEAMS)),
            expression("tier", d.one(("In", "NotIn")), d.one(TEAMS)),
            expression("rack", d.one(("Exists", "DoesNotExist"))),
            expression(INSTANCE_TYPE, "NotIn", "step-4"),
            expression("kubernetes.io/arch", "In", d.one(("amd64", "arm64"))),
        )
    )


def pod_term(d: Draw, own: str) -> Manifest:
    wanted = {"matchLabels": {"app": own}} if d.chance(50) else selector(d)
    term: Manifest = {"topologyKey": d.one(COMMON_KEYS), "labelSelector": wanted}
    if d.chance(15):
        term["namespaceSelector"] = d.one(({}, {"matchLabels": {"side": "far"}}))
    elif d.chance(10):
        term["namespaces"] = ["default", "other"]
    return term


def affinity_of(spec: Manifest, kind: str, word: str) -> list[Manifest]:
    affinity = spec.setdefault("affinity", {}).setdefault(kind, {})
    terms: list[Manifest] = affinity.setdefault(f"{word}DuringSchedulingIgnoredDuringExecution", [])
    return terms


def add_selector(d: Draw, spec: Manifest, own: str) -> None:
    key = d.one((ZONE, "team", CAPACITY_TYPE, "example.com/size", "rack"))
    values = {ZONE: ZONES, "team": TEAMS, CAPACITY_TYPE: CAPACITY_TYPES, "rack": ("r1", "r2", "9")}
    spec["nodeSelector"] = {key: d.one(values.get(key, ("small", "large")))}


def add_required(d: Draw, spec: Manifest, own: str) -> None:
    terms = [{"matchExpressions": [node_expression(d) for _ in range(d.number(1, 2))]} for _ in range(d.number(1, 3))]
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}


def add_preferred(d: Draw, spec: Manifest, own: str) -> None:
    terms = affinity_of(spec, "nodeAffinity", "preferred")
    for _ in range(d.number(1, 3)):
        terms.append({"weight": d.one((1, 10, 50)), "preference": {"matchExpressions": [node_expression(d)]}})


def add_spread(d: Draw, spec: Manifest, own: str) -> None:
    listed = spec.setdefault("topologySpreadConstraints", [])
    for key in d.some(KEYS if d.chance(30) else (ZONE, HOSTNAME), most=3):
        must = not d.chance(35)
        constraint: Manifest = {"maxSkew": d.one((1, 1, 2)), "topologyKey": key}
        constraint["whenUnsatisfiable"] = "DoNotSchedule" if must else "ScheduleAnyway"
        if not d.chance(8):
            constraint["labelSelector"] = {"matchLabels": {"app": own}} if d.chance(75) else selector(d)
            if d.chance(15):
                constraint["matchLabelKeys"] = ["revision"]
        if must and d.chance(35):
            constraint["minDomains"] = d.number(2, 4)
        if d.chance(25):
            constraint["nodeAffinityPolicy"] = d.one(("Ignore", "Honor"))
            spec["nodeSelector"] = {CAPACITY_TYPE: d.one(CAPACITY_TYPES)}
        if d.chance(20):
            constraint["nodeTaintsPolicy"] = d.one(("Honor", "Ignore"))
        listed.append(constraint)


def add_affinity(d: Draw, spec: Manifest, own: str) -> None:
    affinity_of(spec, "podAffinity", "required").append(pod_term(d, own))


def add_anti_affinity(d: Draw, spec: Manifest, own: str) -> None:
    affinity_of(spec, "podAntiAffinity", "required").append(pod_term(d, own))


def add_pod_preference(d: Draw, spec: Manifest, own: str) -> None:
    for kind in d.some(("podAffinity", "podAntiAffinity")):
        for _ in range(d.number(1, 2)):
            term = {"weight": d.one((1, 10, 10)), "podAffinityTerm": pod_term(d, own)}
            affinity_of(spec, kind, "preferred").append(term)


def add_ports(d: Draw, spec: Manifest, own: str) -> None:
    port: Manifest = {"containerPort": 8080, "hostPort": d.one((9000, 8080)), "protocol": d.one(("TCP", "UDP"))}
    if d.chance(30):
        port["hostIP"] = d.one(("10.0.0.1", "10.0.0.2"))
    spec["containers"][0]["ports"] = [port]


def add_volumes(d: Draw, spec: Manifest, own: str) -> None:
    names = d.some(CLAIMS[:7] if not d.chance(10) else CLAIMS, most=2)
    spec["volumes"] = [{"name": f"v-{n}", "persistentVolumeClaim": {"claimName": n}} for n in names]


def add_init(d: Draw, spec: Manifest, own: str) -> None:
    kinds = d.some(("step", "sidecar", "late"))
    spec["initContainers"] = [
        {
            "name": f"i-{kind}",
            "image": "i",
            "resources": {"requests": {"cpu": d.one(("200m", "1"))}},
            **({"restartPolicy": "Always"} if kind != "step" else {}),
        }
        for kind in kinds
    ]


def add_extended(d: Draw, spec: Manifest, own: str) -> None:
    spec["containers"][0]["resources"]["requests"][GPU] = d.one(("1", "0", "3"))


def add_overhead(d: Draw, spec: Manifest, own: str) -> None:
    spec["overhead"] = {"cpu": "100m"}
    spec["priority"] = d.one((1000, 10))


def add_tolerations(d: Draw, spec: Manifest, own: str) -> None:
    spec["tolerations"] = d.some(
        (
            {"key": "dedicated", "operator": "Exists"},
            {"key": "dedicated", "value": "x", "effect": "NoSchedule"},
            {"key": "soft", "operator": "Exists", "effect": "PreferNoSchedule"},
            {"operator": "Exists"},
        ),
        most=2,
    )


FEATURES: dict[str, Callable[[Draw, Manifest, str], None]] = {
    "selector": add_selector,
    "required": add_required,
    "preferred": add_preferred,
    "spread": add_spread,
    "affinity": add_affinity,
    "anti-affinity": add_anti_affinity,
    "pod-preference": add_pod_preference,
    "ports": add_ports,
    "volumes": add_volumes,
    "init": add_init,
    "extended": add_extended,
    "overhead": add_overhead,
    "tolerations": add_tolerations,
    "spread-again": add_spread,
}


def pod_spec(d: Draw, own: str) -> Manifest:
    """A spec with up to four features."""
    requests = {"cpu": d.one(("500m", "100m", "1", "1900m", "3500m")), "memory": d.one(("128Mi", "1Gi", "3Gi"))}
    if d.chance(8):
        requests.clear()
    spec: Manifest = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    wanted = d.number(0, 4)
    for feature in d.some(list(FEATURES), least=wanted, most=wanted):
        if feature != "spread-again" or "topologySpreadConstraints" not in spec:
            FEATURES[feature](d, spec, own)
    if d.chance(3):
        spec.setdefault("nodeSelector", {})["karpenter.sh/unheard-of"] = "x"
    return spec


def workload(d: Draw, number: int, most: int) -> list[Manifest]:
    """Pods of one spec that differ in name and, sometimes, in size, zone, age or revision."""
    own = d.one(APPS)
    spec = pod_spec(d, own)
    namespace = "other" if d.chance(10) and "volumes" not in spec else "default"
    aged, resized, marked, pinned = d.chance(30), d.chance(20), d.chance(70), d.chance(20)
    pods = []
    for i in range(d.number(1, most)):
        name = f"{own}-{number}-{i}"
        metadata: Manifest = {"name": name, "namespace": namespace, "labels": {"app": own}}
        if marked:
            metadata["uid"] = f"u{(number * 31 + i * 17) % 97:02d}-{name}"
        if aged:
            metadata["creationTimestamp"] = f"2025-12-31T00:{(i * 7) % 60:02d}:00Z"
        if i % 2:
            metadata["labels"]["revision"] = "two"
        pod: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": copy.deepcopy(spec)}
        if resized and i % 2:
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "300m"
        if pinned:
            pod["spec"].setdefault("nodeSelector", {})[ZONE] = ZONES[i % len(ZONES)]
        pods.append(pod)
    return pods


def bound(d: Draw, number: int, node_name: str) -> Manifest:
    """A small pod that runs on a node, with constraints that keep others away, or on its way out."""
    own = d.one(APPS)
    metadata: Manifest = {"name": f"old-{number}", "namespace": "default", "labels": {"app": own}}
    requests = {"cpu": d.one(("100m", "700m")), "memory": d.one(("64Mi", "64Mi", "1100Mi"))}
    spec: Manifest = {
        "nodeName": node_name,
        "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}],
    }
    for feature in d.some(("anti-affinity", "ports", "volumes", "tolerations", "affinity"), least=0, most=1):
        FEATURES[feature](d, spec, own)
    status: Manifest = {"phase": "Running"}
    fate = d.one(("stays", "stays", "stays", "terminating", "finished", "held", "stateful"))
    if fate in ("terminating", "stateful"):
        metadata["deletionTimestamp"] = NOW
    if fate == "stateful":
        owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "uid-s", "controller": True}
        metadata["ownerReferences"] = [owner]
    if fate == "finished":
        status["phase"] = "Succeeded"
    if fate == "held":
        metadata["annotations"] = {"karpenter.sh/do-not-disrupt": d.one(("true", "1h", "0s"))}
        status["startTime"] = "2025-12-31T23:30:00Z"
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}
