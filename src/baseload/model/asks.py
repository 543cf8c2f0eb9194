"""What a pod asks of the place where it runs, field by field, in words."""

from collections.abc import Iterable, Iterator

from baseload.kube.types.core import (
    NodeAffinity,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
)
from baseload.kube.types.meta import LabelSelector, LabelSelectorRequirement, NodeSelectorRequirement
from baseload.model.view import claim_name

Ask = tuple[str, str]
"""(field path, in words)"""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def asks(pod: Pod) -> tuple[Ask, ...]:
    """Everything but amounts, in the order of the reference of the pod's spec."""
    spec = pod.spec
    return (
        *((f'spec.nodeSelector["{key}"]', f"a node with {key}={value}") for key, value in spec.node_selector.items()),
        *_of_affinity(spec),
        *_of_spread(spec),
        *_of_volumes(pod),
        *_of_ports(spec),
        *((f"spec.tolerations[{at}]", _tolerated(toleration)) for at, toleration in enumerate(spec.tolerations)),
        *((f"spec.schedulingGates[{at}]", f"held by gate {g.name}") for at, g in enumerate(spec.scheduling_gates)),
        *((f"spec.resourceClaims[{at}]", f"resource claim {c.name}") for at, c in enumerate(spec.resource_claims)),
    )


def _of_affinity(spec: PodSpec) -> Iterator[Ask]:
    if spec.affinity is None:
        return
    if spec.affinity.node_affinity is not None:
        yield from _of_node_affinity(spec.affinity.node_affinity)
    if spec.affinity.pod_affinity is not None:
        yield from _of_pod_affinity(spec.affinity.pod_affinity, "spec.affinity.podAffinity", "with")
    if spec.affinity.pod_anti_affinity is not None:
        yield from _of_pod_affinity(spec.affinity.pod_anti_affinity, "spec.affinity.podAntiAffinity", "away from")


def _of_node_affinity(affinity: NodeAffinity) -> Iterator[Ask]:
    required = affinity.required_during_scheduling_ignored_during_execution
    terms = required.node_selector_terms if required else ()
    for at, term in enumerate(terms):
        path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms[{at}]"
        yield path, f"{'a node' if not at else 'or a node'} with {_of_term(term)}"
    for at, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        path = f"spec.affinity.nodeAffinity.{_PREFERRED}[{at}]"
        yield path, f"rather a node with {_of_term(preferred.preference)} (weight {preferred.weight})"


def _of_pod_affinity(affinity: PodAffinity, path: str, how: str) -> Iterator[Ask]:
    for at, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield f"{path}.{_REQUIRED}[{at}]", f"{how} {_of_pods(term)}"
    for at, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        text = f"rather {how} {_of_pods(weighted.pod_affinity_term)} (weight {weighted.weight})"
        yield f"{path}.{_PREFERRED}[{at}]", text


def _of_pods(term: PodAffinityTerm) -> str:
    spaces = ""
    if term.namespace_selector is not None:
        spaces = f" of namespaces {_of_selector(term.namespace_selector)}"
    elif term.namespaces:
        spaces = f" of {', '.join(term.namespaces)}"
    return f"pods {_of_selector(term.label_selector)}{spaces} by {term.topology_key}"


def _of_spread(spec: PodSpec) -> Iterator[Ask]:
    for at, constraint in enumerate(spec.topology_spread_constraints):
        yield f"spec.topologySpreadConstraints[{at}]", _spread(constraint)


def _spread(constraint: TopologySpreadConstraint) -> str:
    rather = "rather " if constraint.when_unsatisfiable == "ScheduleAnyway" else ""
    least = f", over at least {constraint.min_domains}" if constraint.min_domains else ""
    pods = _of_selector(constraint.label_selector)
    return f"{rather}pods {pods} spread by {constraint.topology_key}, at most {constraint.max_skew} apart{least}"


def _of_volumes(pod: Pod) -> Iterator[Ask]:
    for at, volume in enumerate(pod.spec.volumes):
        if (claim := claim_name(pod, volume)) is not None:
            yield f"spec.volumes[{at}]", f"the volume of claim {claim}"


def _of_ports(spec: PodSpec) -> Iterator[Ask]:
    for at, container in enumerate(spec.containers):
        for place, port in enumerate(container.ports):
            if port.host_port:
                text = f"port {port.host_port}/{port.protocol} of the node"
                yield f"spec.containers[{at}].ports[{place}].hostPort", text


def _tolerated(toleration: Toleration) -> str:
    effect = f":{toleration.effect}" if toleration.effect else ""
    if toleration.operator == "Exists":
        return f"tolerates {toleration.key or 'every taint'}{effect}"
    return f"tolerates {toleration.key}={toleration.value}{effect}"


def _of_term(term: NodeSelectorTerm) -> str:
    return _joined((*term.match_expressions, *term.match_fields))


def _of_selector(selector: LabelSelector | None) -> str:
    """A selector nearly as `kubectl get -l` takes it; none matches nothing, an empty one everything."""
    if selector is None:
        return "(none)"
    labels = [f"{key}={value}" for key, value in selector.match_labels.items()]
    return ",".join([*labels, *map(_expression, selector.match_expressions)]) or "(all)"


def _joined(expressions: Iterable[NodeSelectorRequirement]) -> str:
    return " and ".join(map(_expression, expressions)) or "nothing"


def _expression(expression: NodeSelectorRequirement | LabelSelectorRequirement) -> str:
    values = f" ({', '.join(expression.values)})" if expression.values else ""
    return f"{expression.key} {expression.operator}{values}"
