"""What could help pods that a pass found no place for: on which existing nodes they might ever fit.

A pod that goes frees room on its node. That helps nobody whom the node would not take even if it were empty; so a pass
for pods in vain can be left out as long as nothing else changes. For pods whose place depends on other pods, or on
volumes, every pod that comes or goes counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from baseload.decide.fit.constraints import Constraints, read
from baseload.decide.fit.taints import taints_of, tolerated
from baseload.decide.provision.hosts import offered
from baseload.kube.types.core import Pod
from baseload.model import requests
from baseload.model.statenode import StateNode
from baseload.model.view import View, has_claims, name_of
from baseload.plan.provision import ProvisionPlan
from baseload.values.requirement import Requirements


@dataclass(frozen=True, slots=True)
class Hope:
    """`pods` are those without a place, by uid; `nodes` those that some of them would fit, None for all."""

    pods: frozenset[str]
    nodes: frozenset[str] | None

    def is_met_by(self, node: str) -> bool:
        """Whether a pod that leaves this node may make a difference."""
        return self.nodes is None or node in self.nodes


def hope(view: View, plan: ProvisionPlan, *, spreads_by_default: bool) -> Hope:
    """What is left to hope for after a pass."""
    names = {one.pod for one in plan.unschedulable}
    failed = [pod for pod in view.pods if name_of(pod) in names] if names else []
    uids = frozenset(pod.metadata.uid for pod in failed)
    kinds = [pods[0] for pods in by_spec(failed)]
    if spreads_by_default or any(map(depends_on_others, kinds)):
        return Hope(uids, None)
    return Hope(uids, takers(view, kinds))


def by_spec(pods: Iterable[Pod]) -> list[list[Pod]]:
    """The pods of each spec together."""
    found: dict[bytes, list[Pod]] = {}
    for pod in pods:
        found.setdefault(msgspec.json.encode(pod.spec), []).append(pod)
    return list(found.values())


def depends_on_others(pod: Pod) -> bool:
    """Whether a pod's place is decided by other pods, or by volumes."""
    spec, affinity = pod.spec, pod.spec.affinity
    if spec.topology_spread_constraints or has_claims(pod):
        return True
    return affinity is not None and bool(affinity.pod_affinity or affinity.pod_anti_affinity)


def takers(view: View, pods: Sequence[Pod]) -> frozenset[str]:
    """The nodes that would take one of some pods if nobody else were there."""
    demands = [(_demands(pod), requests.of_pod(pod)) for pod in pods]
    states = offered(view) if demands else ()
    return frozenset(_name(it) for it in states if any(_would_take(it, asked, amounts) for asked, amounts in demands))


def _name(state: StateNode) -> str:
    return state.node.metadata.name if state.node is not None else state.name


def _demands(pod: Pod) -> Constraints:
    return read(pod.spec, namespace=pod.metadata.namespace, labels=pod.metadata.labels, namespaces={})


def _would_take(state: StateNode, asked: Constraints, amounts: requests.Amounts) -> bool:
    if any(amount > state.allocatable.get(resource, 0) for resource, amount in amounts.items()):
        return False
    if not tolerated(taints_of(state.taints), asked.tolerations):
        return False
    terms = [asked.selector.add(term) for term in asked.required] or [asked.selector]
    labels = Requirements.of_labels(state.labels)
    return any(labels.compatible(term) for term in terms)
