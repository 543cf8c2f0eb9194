"""Rules on pods and on the templates that pods are made from; paths begin at the spec."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from baseload.kube import kinds
from baseload.kube.schema import names, requirements
from baseload.kube.schema.finding import Finding, invalid, required, unsupported
from baseload.kube.types.core import (
    Affinity,
    Container,
    NodeAffinity,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    ResourceRequirements,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from baseload.values import quantity

_TOLERATION_OPERATORS = ("Exists", "Equal", "Lt", "Gt")
_WHEN_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_WEIGHTS = (1, 100)
_STANDARD = ("cpu", "memory", "ephemeral-storage")

# More than any machine has by three orders of magnitude; a request beyond it is a wrong suffix (100M for 100m).
_ABSURD = {"cpu": 10**6 * quantity.UNIT, "memory": 2**50 * quantity.UNIT, "ephemeral-storage": 2**60 * quantity.UNIT}


def spec(pod: PodSpec) -> Iterator[Finding]:
    """Everything about a pod's spec that its schema cannot tell."""
    for field, containers in (("containers", pod.containers), ("initContainers", pod.init_containers)):
        for index, container in enumerate(containers):
            for finding in _container(container):
                yield finding.below(f"{field}[{index}]")
    if not pod.containers:
        yield required("containers")
    yield from _repeated_names(pod)
    for index, volume in enumerate(pod.volumes):
        yield from _volume(volume, f"volumes[{index}]")
    if pod.resources is not None:
        yield from _resources(pod.resources, "resources")
    yield from names.amounts(pod.overhead, "overhead")
    yield from names.labels(pod.node_selector, "nodeSelector")
    if pod.affinity is not None:
        yield from _affinity(pod.affinity)
    for index, toleration in enumerate(pod.tolerations):
        yield from _toleration(toleration, f"tolerations[{index}]")
    yield from _spread(pod.topology_spread_constraints)


def _repeated_names(pod: PodSpec) -> Iterator[Finding]:
    seen: set[str] = set()
    for field, containers in (("containers", pod.containers), ("initContainers", pod.init_containers)):
        for index, container in enumerate(containers):
            if container.name in seen:
                yield Finding(f"{field}[{index}].name", f'Duplicate value: "{container.name}"')
            seen.add(container.name)
    volumes: set[str] = set()
    for index, volume in enumerate(pod.volumes):
        if volume.name in volumes:
            yield Finding(f"volumes[{index}].name", f'Duplicate value: "{volume.name}"')
        volumes.add(volume.name)


def _container(container: Container) -> Iterator[Finding]:
    if container.name:
        yield from names.label_name(container.name, "name")
    else:
        yield required("name")
    yield from _resources(container.resources, "resources")
    for index, port in enumerate(container.ports):
        at = f"ports[{index}]"
        if port.protocol not in _PROTOCOLS:
            yield unsupported(f"{at}.protocol", port.protocol, _PROTOCOLS)
        for field, number, least in (("hostPort", port.host_port, 0), ("containerPort", port.container_port, 1)):
            if number is not None and not least <= number <= 65535:
                yield invalid(f"{at}.{field}", number, "must be between 1 and 65535, inclusive")


def _resources(given: ResourceRequirements, path: str) -> Iterator[Finding]:
    for field, amounts in (("requests", given.requests), ("limits", given.limits)):
        yield from _standard(amounts, f"{path}.{field}")
    wrong = [
        *names.amounts(given.requests, f"{path}.requests"),
        *names.amounts(given.limits, f"{path}.limits"),
    ]
    yield from wrong
    if wrong:
        return
    for name, asked in given.requests.items():
        amount = quantity.parse(asked)
        limit = given.limits.get(name)
        if limit is not None and amount > quantity.parse(limit):
            at = names.below(f"{path}.requests", name)
            yield invalid(at, str(asked), f"must be less than or equal to {name} limit of {limit}")
        if amount >= _ABSURD.get(name, amount + 1):
            hint = 'did you mean "m", thousandths, for "M", millions?' if str(asked).endswith("M") else ""
            at = names.below(f"{path}.requests", name)
            yield Finding(at, f'Invalid value: "{asked}": is more than any node can have', hint)


def _standard(given: Mapping[str, object], path: str) -> Iterator[Finding]:
    """A name without a domain is one of Kubernetes' own."""
    for name in given:
        if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
            near = kinds.most_similar(name, _STANDARD)
            allowed = (
                f'did you mean "{near}"?' if near else f"{', '.join(_STANDARD)}, or a name such as example.com/gpu"
            )
            yield replace(invalid(path, name, "must be a standard resource for containers"), allowed=allowed)


def _volume(volume: Volume, path: str) -> Iterator[Finding]:
    if volume.empty_dir is not None and volume.empty_dir.size_limit is not None:
        yield from names.amount_of(volume.empty_dir.size_limit, f"{path}.emptyDir.sizeLimit")
    template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
    if template is not None:
        at = f"{path}.ephemeral.volumeClaimTemplate.spec.resources.requests"
        yield from names.amounts(template.spec.resources.requests, at)


def _affinity(affinity: Affinity) -> Iterator[Finding]:
    if affinity.node_affinity is not None:
        for finding in _node_affinity(affinity.node_affinity):
            yield finding.below("affinity.nodeAffinity")
    for field, terms in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if terms is not None:
            for finding in _pod_affinity(terms):
                yield finding.below(f"affinity.{field}")


def _node_affinity(affinity: NodeAffinity) -> Iterator[Finding]:
    demanded = affinity.required_during_scheduling_ignored_during_execution
    if demanded is not None:
        path = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        if not demanded.node_selector_terms:
            yield required(path, "must have at least one node selector term")
        for index, term in enumerate(demanded.node_selector_terms):
            yield from requirements.of_pod(term.match_expressions, f"{path}[{index}].matchExpressions")
    path = "preferredDuringSchedulingIgnoredDuringExecution"
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        yield from _weight(preferred.weight, f"{path}[{index}].weight")
        yield from requirements.of_pod(
            preferred.preference.match_expressions, f"{path}[{index}].preference.matchExpressions"
        )


def _weight(weight: int, path: str) -> Iterator[Finding]:
    if not _WEIGHTS[0] <= weight <= _WEIGHTS[1]:
        yield invalid(path, weight, "must be in the range 1-100")


def _pod_affinity(affinity: PodAffinity) -> Iterator[Finding]:
    path = "requiredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _pod_term(term, f"{path}[{index}]")
    path = "preferredDuringSchedulingIgnoredDuringExecution"
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        yield from _weight(weighted.weight, f"{path}[{index}].weight")
        yield from _pod_term(weighted.pod_affinity_term, f"{path}[{index}].podAffinityTerm")


def _pod_term(term: PodAffinityTerm, path: str) -> Iterator[Finding]:
    if not term.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    elif not names.is_key(term.topology_key):
        yield invalid(f"{path}.topologyKey", term.topology_key, "is no label key")
    yield from names.selector(term.label_selector, f"{path}.labelSelector")
    yield from names.selector(term.namespace_selector, f"{path}.namespaceSelector")


def _toleration(toleration: Toleration, path: str) -> Iterator[Finding]:
    operator = toleration.operator or "Equal"
    if operator not in _TOLERATION_OPERATORS:
        yield unsupported(f"{path}.operator", operator, _TOLERATION_OPERATORS)
    if not toleration.key and operator != "Exists":
        yield invalid(f"{path}.operator", operator, "operator must be Exists when `key` is empty")
    if toleration.key and not names.is_key(toleration.key):
        yield invalid(f"{path}.key", toleration.key, "is no label key")
    if operator == "Exists" and toleration.value:
        yield invalid(f"{path}.value", toleration.value, "value must be empty when `operator` is 'Exists'")
    if toleration.effect and toleration.effect not in names.EFFECTS:
        yield unsupported(f"{path}.effect", toleration.effect, names.EFFECTS)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        message = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid(f"{path}.effect", toleration.effect, message)


def _spread(constraints: tuple[TopologySpreadConstraint, ...]) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        path = f"topologySpreadConstraints[{index}]"
        for finding in _constraint(constraint):
            yield finding.below(path)
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        if pair in seen:
            yield Finding(path, f'Duplicate value: "{{{pair[0]}, {pair[1]}}}"')
        seen.add(pair)


def _constraint(constraint: TopologySpreadConstraint) -> Iterator[Finding]:
    if constraint.max_skew < 1:
        yield invalid("maxSkew", constraint.max_skew, "must be greater than zero")
    if not constraint.topology_key:
        yield required("topologyKey", "can not be empty")
    if constraint.when_unsatisfiable not in _WHEN_UNSATISFIABLE:
        yield unsupported("whenUnsatisfiable", constraint.when_unsatisfiable, _WHEN_UNSATISFIABLE)
    if constraint.min_domains is not None:
        if constraint.min_domains < 1:
            yield invalid("minDomains", constraint.min_domains, "must be greater than zero")
        if constraint.when_unsatisfiable == "ScheduleAnyway":
            message = "can only use minDomains if whenUnsatisfiable=DoNotSchedule"
            yield invalid("minDomains", constraint.min_domains, message)
    for field, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy and policy not in _POLICIES:
            yield unsupported(field, policy, _POLICIES)
    if constraint.match_label_keys and constraint.label_selector is None:
        yield Finding("matchLabelKeys", "Forbidden: must not be specified when labelSelector is not set")
    yield from names.selector(constraint.label_selector, "labelSelector")
