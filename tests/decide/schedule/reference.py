"""The scheduler's rules read literally: every filter and score of every node from the written objects, one by one.

Slow and simple on purpose, and without anything of `decide.schedule`: it is what the engine is held against.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from baseload.kube.types import core
from baseload.kube.types.meta import LabelSelector, NodeSelectorRequirement, Taint
from baseload.model import requests
from baseload.values import selector as selectors
from tests.decide.schedule.building import HOSTNAME, NAMESPACES, ZONE

Verdict = tuple[str, tuple[str, ...], bool]
"""plugin, reasons, whether preemption may help"""
PLAIN = {"cpu": 10**6}


def asked(pod: core.Pod) -> dict[str, int]:
    held = requests.of_pod(pod)
    return {name: -(-amount // PLAIN.get(name, 10**9)) for name, amount in held.items() if name != "pods"}


def counted(pod: core.Pod) -> dict[str, int]:
    """cpu and memory where each container without a request counts for 100m and 200Mi; pods here have no init ones."""
    found = {"cpu": 0, "memory": 0}
    for container in pod.spec.containers:
        own = {"cpu": "100m", "memory": "200Mi", **container.resources.requests}
        amounts = requests.amounts(own)
        found["cpu"] += -(-amounts["cpu"] // 10**6)
        found["memory"] += -(-amounts["memory"] // 10**9)
    return found


def total(pods: Sequence[core.Pod], resource: str) -> int:
    return sum(asked(pod).get(resource, 0) for pod in pods)


def allocatable(node: core.Node) -> dict[str, int]:
    amounts = requests.amounts(node.status.allocatable)
    return {name: -(-amount // PLAIN.get(name, 10**9)) for name, amount in amounts.items()}


def lifts(toleration: core.Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value


def tolerated(pod: core.Pod, taint: Taint) -> bool:
    return any(lifts(toleration, taint) for toleration in pod.spec.tolerations)


def meets(expression: NodeSelectorRequirement, held: Mapping[str, str]) -> bool:
    value = held.get(expression.key)
    match expression.operator:
        case "In":
            return value in expression.values
        case "NotIn":
            return value not in expression.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and int(value) > int(expression.values[0])
    return value is not None and int(value) < int(expression.values[0])


def term_matches(term: core.NodeSelectorTerm, node: core.Node) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    own = {"metadata.name": node.metadata.name}
    return all(meets(e, node.metadata.labels) for e in term.match_expressions) and all(
        meets(e, own) for e in term.match_fields
    )


def node_affinity(pod: core.Pod) -> core.NodeAffinity:
    return (pod.spec.affinity.node_affinity if pod.spec.affinity else None) or core.NodeAffinity()


def node_matches(pod: core.Pod, node: core.Node) -> bool:
    if any(node.metadata.labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    required = node_affinity(pod).required_during_scheduling_ignored_during_execution
    return required is None or any(term_matches(term, node) for term in required.node_selector_terms)


def hard_taints(node: core.Node) -> list[Taint]:
    return [taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute")]


def selects(written: LabelSelector | None, pod: core.Pod) -> bool:
    return selectors.compile(written).matches(pod.metadata.labels)


def term_means(term: core.PodAffinityTerm, owner: core.Pod, pod: core.Pod) -> bool:
    names = set(term.namespaces)
    if term.namespace_selector is not None:
        chosen = selectors.compile(term.namespace_selector)
        names |= {name for name, labels in NAMESPACES.items() if chosen.matches(labels)}
    elif not names:
        names = {owner.metadata.namespace}
    return pod.metadata.namespace in names and selects(term.label_selector, pod)


def side(pod: core.Pod, *, against: bool) -> core.PodAffinity:
    affinity = pod.spec.affinity or core.Affinity()
    return (affinity.pod_anti_affinity if against else affinity.pod_affinity) or core.PodAffinity()


def required_terms(pod: core.Pod, *, against: bool) -> tuple[core.PodAffinityTerm, ...]:
    return side(pod, against=against).required_during_scheduling_ignored_during_execution


@dataclass
class Rules:
    """A cluster as it is written. `spread_by` gives a pod's default selector; None: the pod has none."""

    nodes: Sequence[core.Node]
    pods: Sequence[core.Pod]
    spread_by: Mapping[str, str] | None = None

    def on(self, node: core.Node) -> list[core.Pod]:
        return [pod for pod in self.pods if pod.spec.node_name == node.metadata.name]

    def verdict(self, pod: core.Pod, node: core.Node) -> Verdict | None:
        return (
            self.of_node(pod, node) or self.of_load(pod, node) or self.of_spread(pod, node) or self.of_near(pod, node)
        )

    def of_node(self, pod: core.Pod, node: core.Node) -> Verdict | None:
        cordon = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
        if node.spec.unschedulable and not tolerated(pod, cordon):
            return "NodeUnschedulable", ("node(s) were unschedulable",), False
        if not all(tolerated(pod, taint) for taint in hard_taints(node)):
            return "TaintToleration", ("node(s) had untolerated taint(s)",), False
        if not node_matches(pod, node):
            return "NodeAffinity", ("node(s) didn't match Pod's node affinity/selector",), False
        return None

    def of_load(self, pod: core.Pod, node: core.Node) -> Verdict | None:
        wanted = {(p.host_port, p.protocol) for c in pod.spec.containers for p in c.ports if p.host_port}
        taken = {
            (p.host_port, p.protocol) for o in self.on(node) for c in o.spec.containers for p in c.ports if p.host_port
        }
        if wanted & taken:
            return "NodePorts", ("node(s) didn't have free ports for the requested pod ports",), True
        whole, reasons, hopeless = allocatable(node), [], False
        if len(self.on(node)) + 1 > whole["pods"]:
            reasons.append("Too many pods")
        for resource, amount in asked(pod).items():
            if amount > 0 and amount > whole.get(resource, 0) - total(self.on(node), resource):
                reasons.append(f"Insufficient {resource}")
                hopeless = hopeless or amount > whole.get(resource, 0)
        return ("NodeResourcesFit", tuple(reasons), not hopeless) if reasons else None

    def included(self, pod: core.Pod, node: core.Node, constraint: core.TopologySpreadConstraint) -> bool:
        if constraint.node_affinity_policy != "Ignore" and not node_matches(pod, node):
            return False
        honor = constraint.node_taints_policy == "Honor"
        return not honor or all(tolerated(pod, taint) for taint in hard_taints(node))

    def matching(self, pod: core.Pod, node: core.Node, constraint: core.TopologySpreadConstraint) -> int:
        selector = constraint.label_selector
        if selector is not None and not selector.match_labels and not selector.match_expressions:
            return 0  # QUIRK: everything counts as nothing
        return sum(
            not other.metadata.deletion_timestamp
            and other.metadata.namespace == pod.metadata.namespace
            and selects(selector, other)
            for other in self.on(node)
        )

    def of_spread(self, pod: core.Pod, node: core.Node) -> Verdict | None:
        hard = [c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == "DoNotSchedule"]
        keys = [c.topology_key for c in hard]
        for constraint in hard:
            key, text = constraint.topology_key, "node(s) didn't match pod topology spread constraints"
            counts: dict[str, int] = {}
            for one in self.nodes:
                if all(k in one.metadata.labels for k in keys) and self.included(pod, one, constraint):
                    domain = one.metadata.labels[key]
                    counts[domain] = counts.get(domain, 0) + self.matching(pod, one, constraint)
            if key not in node.metadata.labels:
                return "PodTopologySpread", (f"{text} (missing required label)",), False
            least = min(counts.values()) if len(counts) >= (constraint.min_domains or 1) else 0
            own = int(selects(constraint.label_selector, pod))
            if counts.get(node.metadata.labels[key], 0) + own - least > constraint.max_skew:
                return "PodTopologySpread", (text,), True
        return None

    def of_near(self, pod: core.Pod, node: core.Node) -> Verdict | None:
        terms = required_terms(pod, against=False)
        if terms and not self.is_near(pod, node, terms):
            return "InterPodAffinity", ("node(s) didn't match pod affinity rules",), False
        for term in required_terms(pod, against=True):
            if any(term_means(term, pod, other) for other in self.in_domain(node, term.topology_key)):
                return "InterPodAffinity", ("node(s) didn't match pod anti-affinity rules",), True
        for other in self.pods:
            for term in required_terms(other, against=True):
                if other in self.in_domain(node, term.topology_key) and term_means(term, other, pod):
                    return "InterPodAffinity", ("node(s) didn't satisfy existing pods anti-affinity rules",), True
        return None

    def is_near(self, pod: core.Pod, node: core.Node, terms: Sequence[core.PodAffinityTerm]) -> bool:
        if any(term.topology_key not in node.metadata.labels for term in terms):
            return False
        matching = [other for other in self.pods if all(term_means(term, pod, other) for term in terms)]
        if all(any(o in self.in_domain(node, term.topology_key) for o in matching) for term in terms):
            return True
        placed = any(
            term.topology_key in one.metadata.labels and other in self.on(one)
            for term in terms
            for one in self.nodes
            for other in matching
        )
        return not placed and all(term_means(term, pod, pod) for term in terms)

    def in_domain(self, node: core.Node, key: str) -> list[core.Pod]:
        """The pods on all nodes with the same value of a label."""
        value = node.metadata.labels.get(key)
        if value is None:
            return []
        return [pod for one in self.nodes if one.metadata.labels.get(key) == value for pod in self.on(one)]

    # -- scores

    def scores(self, pod: core.Pod, nodes: Sequence[core.Node]) -> list[int]:
        parts = [
            (1, [self.least_allocated(pod, node) for node in nodes]),
            (1, [self.balanced(pod, node) for node in nodes] if self.asks(pod) else [0] * len(nodes)),
            (3, self.by_taints(pod, nodes)),
            (2, self.by_preference(pod, nodes)),
            (2, self.by_spread(pod, nodes)),
            (2, self.by_neighbours(pod, nodes)),
        ]
        return [sum(weight * scores[at] for weight, scores in parts) for at in range(len(nodes))]

    def asks(self, pod: core.Pod) -> bool:
        return any(asked(pod).get(resource) for resource in ("cpu", "memory"))

    def least_allocated(self, pod: core.Pod, node: core.Node) -> int:
        found = []
        for resource in ("cpu", "memory"):
            whole = allocatable(node).get(resource, 0)
            wanted = counted(pod)[resource] + sum(counted(other)[resource] for other in self.on(node))
            if whole:
                found.append((whole - wanted) * 100 // whole if wanted <= whole else 0)
        return sum(found) // len(found) if found else 0

    def balanced(self, pod: core.Pod, node: core.Node) -> int:
        def even(pods: Sequence[core.Pod]) -> int:
            shares = [
                min(total(pods, resource) / allocatable(node)[resource], 1.0)
                for resource in ("cpu", "memory")
                if allocatable(node).get(resource)
            ]
            return int((1 - (abs((shares[0] - shares[1]) / 2) if len(shares) == 2 else 0.0)) * 100)

        return 50 + (50 + even([*self.on(node), pod]) - even(self.on(node))) // 2

    def by_taints(self, pod: core.Pod, nodes: Sequence[core.Node]) -> list[int]:
        lifting = [t for t in pod.spec.tolerations if t.effect in ("", "PreferNoSchedule")]
        raw = [
            sum(
                taint.effect == "PreferNoSchedule" and not any(lifts(t, taint) for t in lifting)
                for taint in node.spec.taints
            )
            for node in nodes
        ]
        most = max(raw)
        return [100 - (100 * held // most if most else 0) for held in raw]

    def by_preference(self, pod: core.Pod, nodes: Sequence[core.Node]) -> list[int]:
        terms = node_affinity(pod).preferred_during_scheduling_ignored_during_execution
        raw = [sum(t.weight for t in terms if term_matches(t.preference, node)) for node in nodes]
        most = max(raw)
        return [100 * held // most if most else held for held in raw]

    def by_spread(self, pod: core.Pod, nodes: Sequence[core.Node]) -> list[int]:
        soft = [c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == "ScheduleAnyway"]
        strict = bool(pod.spec.topology_spread_constraints)
        if not strict and self.spread_by is not None:
            by = LabelSelector(match_labels=dict(self.spread_by))
            soft = [
                core.TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, label_selector=by),
                core.TopologySpreadConstraint(max_skew=5, topology_key=ZONE, label_selector=by),
            ]
        if not soft:
            return [0] * len(nodes)
        keys = [c.topology_key for c in soft]
        scored = [n for n in nodes if not strict or all(key in n.metadata.labels for key in keys)]
        raw = {n.metadata.name: self.raw_spread(pod, n, soft, scored, strict=strict) for n in scored}
        most, least = max(raw.values(), default=0), min(raw.values(), default=0)

        def normalised(node: core.Node) -> int:
            if node.metadata.name not in raw:
                return 0
            return 100 * (most + least - raw[node.metadata.name]) // most if most else 100

        return [normalised(node) for node in nodes]

    def raw_spread(
        self,
        pod: core.Pod,
        node: core.Node,
        soft: Sequence[core.TopologySpreadConstraint],
        scored: Sequence[core.Node],
        *,
        strict: bool,
    ) -> int:
        found = 0.0
        for constraint in soft:
            key = constraint.topology_key
            if key not in node.metadata.labels:
                continue
            if key == HOSTNAME:
                size, count = len(scored), self.matching(pod, node, constraint)
            else:
                size = len({n.metadata.labels.get(key, "") for n in scored})
                count = sum(
                    self.matching(pod, one, constraint)
                    for one in self.nodes
                    if one.metadata.labels.get(key) == node.metadata.labels[key]
                    and (not strict or all(c.topology_key in one.metadata.labels for c in soft))
                    and self.included(pod, one, constraint)
                )
            found += count * math.log(size + 2) + (constraint.max_skew - 1)
        return math.floor(found + 0.5)

    def by_neighbours(self, pod: core.Pod, nodes: Sequence[core.Node]) -> list[int]:
        raw = [self.drawn(pod, node) for node in nodes]
        most, least = max(raw), min(raw)
        return [int(100.0 * ((held - least) / (most - least))) if most > least else 0 for held in raw]

    def drawn(self, pod: core.Pod, node: core.Node) -> int:
        found = 0
        for sign, against in ((1, False), (-1, True)):
            for wanted in side(pod, against=against).preferred_during_scheduling_ignored_during_execution:
                term = wanted.pod_affinity_term
                near = self.in_domain(node, term.topology_key)
                found += sign * wanted.weight * sum(term_means(term, pod, other) for other in near)
            for other in self.pods:
                for wanted in side(other, against=against).preferred_during_scheduling_ignored_during_execution:
                    term = wanted.pod_affinity_term
                    if other in self.in_domain(node, term.topology_key) and term_means(term, other, pod):
                        found += sign * wanted.weight
        for other in self.pods:
            for term in required_terms(other, against=False):
                if other in self.in_domain(node, term.topology_key) and term_means(term, other, pod):
                    found += 1
        return found
