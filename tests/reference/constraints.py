"""What a pod demands, how it gives demands up (§5), and which pods a pass looks at (§2)."""

import copy
import re
from collections.abc import Iterable

from . import algebra, selecting
from .algebra import CAPACITY_TYPE, HOSTNAME, NODEPOOL, Manifest, Requirements

RESTRICTED_DOMAINS = ("karpenter.sh", "karpenter.k8s.aws", "karpenter.kwok.sh")
KNOWN_VALUES = {CAPACITY_TYPE: ("on-demand", "spot", "reserved")}
NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")
DOMAIN = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")


def node_affinity(pod: Manifest) -> Manifest:
    return (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def required_terms(pod: Manifest) -> list[Manifest]:
    required = node_affinity(pod).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return required.get("nodeSelectorTerms") or []


def preferred_terms(pod: Manifest) -> list[Manifest]:
    return node_affinity(pod).get("preferredDuringSchedulingIgnoredDuringExecution") or []


def pod_terms(pod: Manifest, kind: str, required: bool) -> list[Manifest]:
    """The terms of podAffinity or podAntiAffinity; preferred ones with their weight around them."""
    word = "required" if required else "preferred"
    affinity = (pod["spec"].get("affinity") or {}).get(kind) or {}
    return affinity.get(f"{word}DuringSchedulingIgnoredDuringExecution") or []


def heaviest(terms: list[Manifest]) -> int:
    """§5.5: equal weights keep their order."""
    return max(range(len(terms)), key=lambda i: (terms[i].get("weight") or 0, -i))


def strict_set(pod: Manifest) -> Requirements:
    """§5.2."""
    result = algebra.from_labels(pod["spec"].get("nodeSelector") or {})
    if terms := required_terms(pod):
        result = algebra.merged(result, algebra.from_expressions(terms[0].get("matchExpressions") or ()))
    return result


def full_set(pod: Manifest) -> Requirements:
    """§5.1."""
    preferred = preferred_terms(pod)
    if not preferred:
        return strict_set(pod)
    expressions = preferred[heaviest(preferred)]["preference"].get("matchExpressions") or ()
    return algebra.merged(strict_set(pod), algebra.from_expressions(expressions))


def demand_set(pod: Manifest, ignore_preferences: bool) -> Requirements:
    """§5.3."""
    return strict_set(pod) if ignore_preferences else full_set(pod)


def drop_required_term(pod: Manifest) -> bool:
    """§5.5.1: OR terms go first, from the front."""
    terms = required_terms(pod)
    if len(terms) > 1:
        del terms[0]
        return True
    return False


def relax(pod: Manifest, soft_pool_taint: bool) -> str | None:
    """§5.5: applies the first step that can be and names it; None when nothing is left to give up."""
    if drop_required_term(pod):
        return "required node affinity term"
    for name, terms in (
        ("preferred pod affinity", pod_terms(pod, "podAffinity", required=False)),
        ("preferred pod anti-affinity", pod_terms(pod, "podAntiAffinity", required=False)),
        ("preferred node affinity", preferred_terms(pod)),
    ):
        if terms:
            del terms[heaviest(terms)]
            return name
    constraints = pod["spec"].get("topologySpreadConstraints") or []
    for i, constraint in enumerate(constraints):
        if constraint.get("whenUnsatisfiable") == "ScheduleAnyway":
            last = constraints.pop()
            if i < len(constraints):
                constraints[i] = last
            return "spread constraint"
    tolerations = pod["spec"].setdefault("tolerations", []) if soft_pool_taint else []
    if soft_pool_taint and not any(identical(t, selecting.SOFT) for t in tolerations):
        tolerations.append(dict(selecting.SOFT))
        return "soft taints"
    return None


def identical(a: Manifest, b: Manifest) -> bool:
    return all((a.get(name) or "") == (b.get(name) or "") for name in ("key", "operator", "value", "effect"))


def qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    return bool(NAME.match(name)) and (not slash or bool(DOMAIN.match(prefix)))


def restricted(key: str, known: frozenset[str]) -> bool:
    """§2.3."""
    domain = key.partition("/")[0] if "/" in key else ""
    if key in known:
        return False
    return key == HOSTNAME or any(domain == d or domain.endswith("." + d) for d in RESTRICTED_DOMAINS)


def natural(value: str) -> bool:
    return bool(algebra.INTEGER.match(value)) and int(value) >= 0


def invalid(expression: Manifest, known: frozenset[str]) -> str | None:
    """§2.3: what is wrong with one requirement."""
    key, how = algebra.normalise(expression["key"]), expression["operator"]
    values, least = [str(v) for v in expression.get("values") or ()], expression.get("minValues")
    wrong = None
    if how not in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"):
        wrong = "unknown operator"
    elif restricted(key, known):
        wrong = "restricted key"
    elif not qualified(key) or not all(value == "" or NAME.match(value) for value in values):
        wrong = "malformed key or value"
    elif how == "In" and (not values or len(values) < (least or 0)):
        wrong = "too few values"
    elif how in ("Gt", "Lt", "Gte", "Lte") and not (len(values) == 1 and natural(values[0])):
        wrong = "no single natural number"
    elif how == "In" and key in KNOWN_VALUES:
        wrong = unknown_values(key, values, least or 1)
    return f"{key}: {wrong}" if wrong else None


def unknown_values(key: str, values: Iterable[str], least: int) -> str | None:
    return None if len(set(values) & set(KNOWN_VALUES[key])) >= least else "too few known values"


def invalid_demands(pod: Manifest, known: frozenset[str]) -> list[str]:
    """§2.2 without the volumes."""
    faults = []
    if NODEPOOL in (demands := full_set(pod)) and algebra.operator(demands[NODEPOOL]) == "DoesNotExist":
        faults.append("opted out")
    selector = pod["spec"].get("nodeSelector") or {}
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in selector.items()]
    for term in required_terms(pod):
        if term.get("matchFields"):
            faults.append("matchFields")
        expressions += term.get("matchExpressions") or ()
    return faults + [fault for e in expressions if (fault := invalid(e, known))]


def provisionable(pod: Manifest) -> bool:
    """§2.1, §32.1: without a PodScheduled condition a pod that is not finished counts as unschedulable."""
    status = pod.get("status") or {}
    scheduled = selecting.condition(pod, "PodScheduled")
    waiting = scheduled.get("reason") == "Unschedulable" if scheduled else not selecting.is_finished(pod)
    return (
        waiting
        and not pod["spec"].get("nodeName")
        and not status.get("nominatedNodeName")
        and not selecting.owned_by(pod, "apps/v1", "DaemonSet")
        and not selecting.owned_by(pod, "v1", "Node")
    )


def uses_resource_claims(pod: Manifest) -> bool:
    """§24, last sentence but one."""
    containers = [*(pod["spec"].get("containers") or ()), *(pod["spec"].get("initContainers") or ())]
    return bool(pod["spec"].get("resourceClaims")) or any((c.get("resources") or {}).get("claims") for c in containers)


def owns(owner: Manifest, obj: Manifest) -> bool:
    return (owner.get("apiVersion"), owner["kind"], owner["name"]) == (
        obj["apiVersion"],
        obj["kind"],
        obj["metadata"]["name"],
    )


def selector_from_owners(pod: Manifest, objects: list[Manifest]) -> Manifest | None:
    """§13.17: the selector kube-scheduler would deduce; None when nothing is deduced."""
    namespace, labels = pod["metadata"].get("namespace"), selecting.labels_of(pod)
    pairs: dict[str, str] = {}
    for service in objects:
        if service["kind"] == "Service" and service["metadata"].get("namespace") == namespace:
            wanted = service["spec"].get("selector") or {}
            if wanted and all(labels.get(key) == value for key, value in wanted.items()):
                pairs.update(wanted)
    expressions: list[Manifest] = []
    owners = [o for o in pod["metadata"].get("ownerReferences") or () if o.get("controller")]
    for obj in objects:
        same = obj["metadata"].get("namespace") == namespace
        if not same or not any(owns(o, obj) for o in owners):
            continue
        selector = obj.get("spec", {}).get("selector") or {}
        if obj["kind"] == "ReplicationController":
            pairs.update(selector)
        elif obj["kind"] in ("ReplicaSet", "StatefulSet"):
            listed = (selector.get("matchLabels") or {}).items()
            expressions += [{"key": key, "operator": "In", "values": [value]} for key, value in listed]
            expressions += selector.get("matchExpressions") or ()
    if not pairs and not expressions:
        return None
    return {"matchLabels": pairs, "matchExpressions": expressions}


def with_default_spread(pod: Manifest, objects: list[Manifest], options: Manifest) -> Manifest:
    """§13.17."""
    spread = (options.get("schedulerConfig") or {}).get("podTopologySpread") or {}
    defaults = spread.get("defaultConstraints") or []
    if not defaults or pod["spec"].get("topologySpreadConstraints"):
        return pod
    selector = selector_from_owners(pod, objects)
    if selector is None:
        return pod
    pod = copy.deepcopy(pod)
    pod["spec"]["topologySpreadConstraints"] = [{**copy.deepcopy(c), "labelSelector": selector} for c in defaults]
    return pod
