"""Nodes as cluster state sees them (§1.6, §8.3-8.6, §10), and the pods that leave with a node (§2.4)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from . import resources, selecting
from .algebra import HOSTNAME, INITIALIZED, INSTANCE_TYPE, NODEPOOL, REGISTERED, Manifest
from .resources import Amounts

EPHEMERAL = {  # §8.4
    ("node.kubernetes.io/not-ready", "NoSchedule"),
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoSchedule"),
    ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
    ("karpenter.sh/unregistered", "NoExecute"),
}
DISRUPTED = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
SECONDS = {"ns": -9, "us": -6, "µs": -6, "μs": -6, "ms": -3}


@dataclass(frozen=True)
class StateNode:
    """A Node, a claim with a providerID, or both (§10.1)."""

    node: Manifest | None
    claim: Manifest | None
    bound: tuple[Manifest, ...]

    @property
    def registered(self) -> bool:
        return self.claim is None or self.has_label(REGISTERED)

    @property
    def initialized(self) -> bool:
        return self.claim is None or self.has_label(INITIALIZED)

    def has_label(self, key: str) -> bool:
        return self.node is not None and selecting.labels_of(self.node).get(key) == "true"

    @property
    def believed(self) -> Manifest:
        """§10.2: whose name and labels hold."""
        believed = self.node if self.node is not None and (self.claim is None or self.registered) else self.claim
        assert believed is not None
        return believed

    @property
    def name(self) -> str:
        return str(self.believed["metadata"]["name"])

    @property
    def labels(self) -> dict[str, str]:
        return selecting.labels_of(self.believed)

    @property
    def hostname(self) -> str:
        """§10.3."""
        return self.labels.get(HOSTNAME) or self.name

    @property
    def marked_for_deletion(self) -> bool:
        """§1.6."""
        if self.claim is None:
            return self.node is not None and selecting.is_terminating(self.node)
        terminating = selecting.condition(self.claim, "InstanceTerminating")
        return selecting.is_terminating(self.claim) or bool(terminating and terminating["status"] == "True")

    @property
    def taints(self) -> list[Manifest]:
        """§8.3."""
        if self.node is None or (self.claim is not None and not self.registered):
            taints = list((self.claim or {})["spec"].get("taints") or ())
        else:
            taints = list(self.node["spec"].get("taints") or ())
        if self.claim is None or self.initialized:
            return taints
        startup = {(t["key"], t.get("effect")) for t in self.claim["spec"].get("startupTaints") or ()}
        return [t for t in taints if not is_ephemeral(t) and (t["key"], t.get("effect")) not in startup]

    def amounts(self, field: str) -> Amounts:
        """§10.4, for `capacity` and `allocatable`."""
        own = resources.amounts(((self.node or {}).get("status") or {}).get(field))
        claimed = resources.amounts(((self.claim or {}).get("status") or {}).get(field))
        if self.node is None:
            return claimed
        if self.initialized:
            return own
        return {**own, **{name: value for name, value in claimed.items() if not own.get(name)}}

    @property
    def capacity(self) -> Amounts:
        return {**self.amounts("capacity"), "nodes": resources.UNIT}

    @property
    def available(self) -> Amounts:
        """§10.5."""
        used = resources.total_of(resources.pod_request(pod) for pod in self.bound)
        return resources.minus(self.amounts("allocatable"), used)

    @property
    def pool(self) -> str | None:
        return self.labels.get(NODEPOOL)


def is_ephemeral(taint: Manifest) -> bool:
    return (taint["key"], taint.get("effect")) in EPHEMERAL or taint["key"].startswith("readiness.k8s.io/")


def tracked(node: Manifest) -> bool:
    """§10.1."""
    labels = selecting.labels_of(node)
    if NODEPOOL not in labels:
        return True
    if not node["spec"].get("providerID"):
        return False
    return INSTANCE_TYPE in labels or labels.get(INITIALIZED) == "true"


def state_nodes(objects: list[Manifest]) -> list[StateNode]:
    """§10.1: Nodes in input order, then claims that are still to come."""
    claims = {c["status"]["providerID"]: c for c in objects if c["kind"] == "NodeClaim" and provider_id(c)}
    pods = [p for p in objects if p["kind"] == "Pod" and p["spec"].get("nodeName") and not selecting.is_finished(p)]
    nodes = [o for o in objects if o["kind"] == "Node"]
    paired, result = set(), []
    for node in nodes:
        claim = claims.get(node["spec"].get("providerID") or "")
        if not tracked(node):
            continue
        if claim is not None:
            paired.add(provider_id(claim))
        bound = tuple(p for p in pods if p["spec"]["nodeName"] == node["metadata"]["name"])
        result.append(StateNode(node, claim, bound))
    return result + [StateNode(None, claim, ()) for key, claim in claims.items() if key not in paired]


def provider_id(claim: Manifest) -> str:
    return str((claim.get("status") or {}).get("providerID") or "")


def out_of_sync(objects: list[Manifest]) -> bool:
    """§1.3: a claim that is not launched yet stops all provisioning."""
    return any(o["kind"] == "NodeClaim" and not provider_id(o) for o in objects)


def in_order(nodes: list[StateNode]) -> list[StateNode]:
    """§10.8."""
    return sorted(nodes, key=lambda n: (not n.initialized, n.name))


def seconds(duration: str) -> Fraction | None:
    """A Go duration in seconds; None when it is none."""
    sign, text = (-1, duration[1:]) if duration.startswith("-") else (1, duration)
    parts = DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    factors = {"s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}
    factors |= {unit: Fraction(10) ** power for unit, power in SECONDS.items()}
    return sign * sum((Fraction(number.rstrip(".")) * factors[unit] for number, unit in parts), Fraction(0))


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)


def held(pod: Manifest, now: str | None) -> bool:
    """§2.4, do-not-disrupt."""
    value = str((pod["metadata"].get("annotations") or {}).get(DO_NOT_DISRUPT, ""))
    if value == "true":
        return True
    span = seconds(value)
    if span is None or span <= 0:
        return False
    started = (pod.get("status") or {}).get("startTime")
    if not started or not now:
        return True
    return instant(now) < instant(started) + timedelta(seconds=float(span))


def blocked(pod: Manifest, budgets: list[Manifest], now: str | None) -> bool:
    """§2.4, disruption budgets."""
    if selecting.is_terminating(pod) or held(pod, now) or selecting.untolerated(pod, [DISRUPTED]) is None:
        return False
    matching = [
        budget
        for budget in budgets
        if budget["metadata"].get("namespace") == pod["metadata"].get("namespace")
        and selecting.selects(selecting.selector_of(budget["spec"].get("selector")), selecting.labels_of(pod))
    ]
    if len(matching) > 1:
        return True
    return any(never_met(budget) and not lets_unhealthy_go(budget, pod) for budget in matching)


def never_met(budget: Manifest) -> bool:
    spec = budget["spec"]
    return str(spec.get("maxUnavailable", "")) in ("0", "0%") or str(spec.get("minAvailable", "")) == "100%"


def lets_unhealthy_go(budget: Manifest, pod: Manifest) -> bool:
    ready = selecting.condition(pod, "Ready")
    always = budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow"
    return always and ready is not None and ready["status"] == "False"


def movable(pod: Manifest, budgets: list[Manifest], now: str | None) -> bool:
    """§2.4."""
    if selecting.owned_by(pod, "apps/v1", "DaemonSet") or selecting.owned_by(pod, "v1", "Node"):
        return False
    if selecting.is_finished(pod):
        return False
    if selecting.is_terminating(pod) and not selecting.owned_by(pod, "apps/v1", "StatefulSet"):
        return False
    return not held(pod, now) and not blocked(pod, budgets, now)


def leaving(objects: list[Manifest], nodes: list[StateNode], now: str | None) -> list[Manifest]:
    """§2.4: the pods of nodes marked for deletion that need a new place."""
    budgets = [o for o in objects if o["kind"] == "PodDisruptionBudget"]
    return [pod for node in nodes if node.marked_for_deletion for pod in node.bound if movable(pod, budgets, now)]
