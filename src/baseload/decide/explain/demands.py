"""The demands that may clash, each with the object and the field that makes it: a pod's, its volumes', its pools'.

Demands that are no label requirements are written in the same form: a request is `cpu Gte [4]`, a limit `cpu Lte
[20]`, a taint has its effect as operator, a topology constraint the field's own word (DoNotSchedule, podAffinity,
podAntiAffinity). To drop a demand is to remove its field; where that would leave something the API server refuses (a
required node affinity without terms, a term without expressions) the demand is the field around it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.explain.edits import Edit, Objects
from baseload.decide.fit.constraints import selector_of
from baseload.kube.fieldpath import Step, parse, text
from baseload.kube.types.core import Affinity, Container, NodeSelector, Pod, PodAffinityTerm, TopologySpreadConstraint
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodePool
from baseload.kube.types.meta import NodeSelectorRequirement
from baseload.model.view import View, claim_name
from baseload.plan.provision import Demand, Unschedulable

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
NODE_AFFINITY: Final = ("spec", "affinity", "nodeAffinity", REQUIRED)
POOL_REQUIREMENTS: Final = ("spec", "template", "spec", "requirements")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A pod without a place, and where its fields are written."""

    pod: Pod
    failed: Unschedulable
    ref: str
    prefix: str

    @staticmethod
    def of(failed: Unschedulable, objects: Objects) -> "Case":
        return Case(objects.pods[failed.pod], failed, *objects.place(failed.pod))

    @property
    def name(self) -> str:
        return self.failed.pod

    def path(self, *steps: Step) -> str:
        return self.prefix + text(steps)

    def demand(self, steps: Sequence[Step], key: str = "", operator: str = "", values: Sequence[str] = ()) -> Demand:
        return Demand(self.ref, self.path(*steps), key, operator, tuple(values))


def is_request(demand: Demand) -> bool:
    """Whether a demand is what some container asks of a resource, or all that it asks."""
    return any(step in ("requests", "overhead", "resources") for step in parse(demand.path))


def without(demand: Demand) -> Edit:
    """The demand dropped."""
    return Edit(demand.object, demand.path, None)


def of_pod(case: Case) -> Iterator[Demand]:
    """What the pod itself demands, its preferences apart, which are given up anyway."""
    spec = case.pod.spec
    for key, value in spec.node_selector.items():
        yield case.demand(("spec", "nodeSelector", key), key, "In", (value,))
    affinity = spec.affinity or Affinity()
    if affinity.node_affinity is not None:
        yield from _of_node_affinity(case, affinity.node_affinity.required_during_scheduling_ignored_during_execution)
    for at, constraint in enumerate(spec.topology_spread_constraints):
        if constraint.when_unsatisfiable != "ScheduleAnyway":
            yield of_spread(case, at, constraint)
    for word, side in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        for at, term in enumerate(side.required_during_scheduling_ignored_during_execution if side else ()):
            yield case.demand(
                ("spec", "affinity", word, REQUIRED, at),
                term.topology_key,
                word,
                (str(selector_of(term.label_selector)),),
            )
    yield from _of_resources(case)
    for at, container in enumerate(spec.containers):
        for place, port in enumerate(container.ports):
            if port.host_port:
                field = ("spec", "containers", at, "ports", place, "hostPort")
                yield case.demand(field, "hostPort", "In", (f"{port.host_port}/{port.protocol}",))


def _of_node_affinity(case: Case, required: NodeSelector | None) -> Iterator[Demand]:
    terms = required.node_selector_terms if required else ()
    for at, term in enumerate(terms):
        listed = ("nodeSelectorTerms", at)
        fields = [("matchExpressions", e) for e in enumerate(term.match_expressions)]
        fields += [("matchFields", e) for e in enumerate(term.match_fields)]
        if len(fields) > 1:
            for name, (place, one) in fields:
                yield case.demand((*NODE_AFFINITY, *listed, name, place), one.key, one.operator, one.values)
    if terms and (len(terms) > 1 or len(terms[0].match_expressions) + len(terms[0].match_fields) == 1):
        only: Sequence[NodeSelectorRequirement] = (*terms[0].match_expressions, *terms[0].match_fields)
        one = only[0] if len(terms) == 1 else NodeSelectorRequirement("", f"one of {len(terms)} terms")
        yield case.demand(NODE_AFFINITY, one.key, one.operator, one.values)


def whole(case: Case) -> Iterator[Demand]:
    """What the pod demands, with its required node affinity as one, so that all of it can be dropped at once."""
    affinity = case.path(*NODE_AFFINITY)
    said = False
    for demand in of_pod(case):
        if not demand.path.startswith(affinity):
            yield demand
        elif not said:
            said = True
            yield case.demand(NODE_AFFINITY)


def of_spread(case: Case, at: int, constraint: TopologySpreadConstraint) -> Demand:
    values = [f"maxSkew {constraint.max_skew}"]
    if constraint.min_domains is not None:
        values.append(f"minDomains {constraint.min_domains}")
    return case.demand(("spec", "topologySpreadConstraints", at), constraint.topology_key, "DoNotSchedule", values)


def _of_resources(case: Case) -> Iterator[Demand]:
    spec = case.pod.spec
    for word, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for at, container in enumerate(containers):
            yield from _of_container(case, word, at, container)
    for resource, amount in (spec.resources.requests if spec.resources else {}).items():
        yield case.demand(("spec", "resources", "requests", resource), resource, "Gte", (str(amount),))
    for resource, amount in spec.overhead.items():
        yield case.demand(("spec", "overhead", resource), resource, "Gte", (str(amount),))


def _of_container(case: Case, word: str, at: int, container: Container) -> Iterator[Demand]:
    for resource, amount in container.resources.requests.items():
        steps = ("spec", word, at, "resources", "requests", resource)
        yield case.demand(steps, resource, "Gte", (str(amount),))


def of_volumes(case: Case, view: View) -> Iterator[Demand]:
    """Where the pod's volumes are, or may be made."""
    names = {claim_name(case.pod, volume) for volume in case.pod.spec.volumes}
    namespace = case.pod.metadata.namespace
    claims = [
        c for c in view.persistent_volume_claims if c.metadata.namespace == namespace and c.metadata.name in names
    ]
    bound = {claim.spec.volume_name for claim in claims if claim.spec.volume_name}
    classes = {claim.spec.storage_class_name for claim in claims if not claim.spec.volume_name}
    for volume in view.persistent_volumes:
        required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
        if volume.metadata.name in bound and required is not None:
            alternatives = [term.match_expressions for term in required.node_selector_terms]
            yield _alternatives(f"PersistentVolume {volume.metadata.name}", "spec.nodeAffinity", alternatives)
    for storage in view.storage_classes:
        if storage.metadata.name in classes and storage.allowed_topologies:
            alternatives = [
                tuple(NodeSelectorRequirement(e.key, "In", e.values) for e in term.match_label_expressions)
                for term in storage.allowed_topologies
            ]
            yield _alternatives(f"StorageClass {storage.metadata.name}", "allowedTopologies", alternatives)


def _alternatives(ref: str, path: str, terms: Sequence[Sequence[NodeSelectorRequirement]]) -> Demand:
    """A volume's zones; terms on one key that list values are one list of values."""
    flat = [e for term in terms for e in term]
    first = flat[0] if flat else NodeSelectorRequirement()
    alike = all(len(t) == 1 for t in terms) and all((e.key, e.operator) == (first.key, "In") for e in flat)
    values = [v for e in flat for v in e.values] if alike else first.values if len(flat) == 1 else ()
    return Demand(ref, path, first.key, first.operator, tuple(dict.fromkeys(values)))


def of_pool(pool: NodePool) -> Iterator[Demand]:
    """What keeps pods off a pool."""
    ref, template = f"NodePool {pool.metadata.name}", pool.spec.template
    for at, taint in enumerate(template.spec.taints):
        values = (taint.value,) if taint.value else ()
        yield Demand(ref, text(("spec", "template", "spec", "taints", at)), taint.key, taint.effect, values)
    for at, one in enumerate(template.spec.requirements):
        yield Demand(ref, text((*POOL_REQUIREMENTS, at)), one.key, one.operator, one.values)
        if one.min_values is not None:
            path = text((*POOL_REQUIREMENTS, at, "minValues"))
            yield Demand(ref, path, one.key, "minValues", (str(one.min_values),))
    for key, value in template.metadata.labels.items():
        yield Demand(ref, text(("spec", "template", "metadata", "labels", key)), key, "In", (value,))
    for resource, amount in pool.spec.limits.items():
        yield Demand(ref, text(("spec", "limits", resource)), resource, "Lte", (str(amount),))


def whole_of(pool: NodePool) -> Iterator[Demand]:
    """The same with each requirement as one, its minValues included."""
    return (demand for demand in of_pool(pool) if demand.operator != "minValues")


def of_class(node_class: EC2NodeClass) -> Iterator[Demand]:
    """What a NodeClass lets a node hold."""
    kubelet = node_class.spec.kubelet
    for name, value in (("maxPods", kubelet.max_pods), ("podsPerCore", kubelet.pods_per_core)):
        if value is not None:
            ref = f"EC2NodeClass {node_class.metadata.name}"
            yield Demand(ref, f"spec.kubelet.{name}", "pods", "Lte", (str(value),))


def of_others(case: Case, objects: Objects) -> Iterator[Demand]:
    """The required anti-affinity of other pods by which they keep this one away."""
    labels, namespace = case.pod.metadata.labels, case.pod.metadata.namespace
    found: dict[tuple[str, str], Demand] = {}
    for name, pod in objects.pods.items():
        side = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
        for at, term in enumerate(side.required_during_scheduling_ignored_during_execution if side else ()):
            selector = selector_of(term.label_selector)
            if name == case.name or selector is None or not selector.matches(labels):
                continue
            ref, prefix = objects.place(name)
            if ref != case.ref and _may_concern(term, pod.metadata.namespace, namespace):
                path = prefix + text(("spec", "affinity", "podAntiAffinity", REQUIRED, at))
                found[ref, path] = Demand(ref, path, term.topology_key, "podAntiAffinity", (str(selector),))
    yield from found.values()


def _may_concern(term: PodAffinityTerm, own: str, other: str) -> bool:
    return term.namespace_selector is not None or other in (term.namespaces or (own,))


def coarse(case: Case, pools: Sequence[NodePool]) -> Iterator[Demand]:
    """Whole fields, for when no single demand is the only obstacle."""
    yield case.demand(("spec", "nodeSelector"), "nodeSelector")
    for word in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
        yield case.demand(("spec", "affinity", word), word)
    yield case.demand(("spec", "affinity"), "affinity")
    yield case.demand(("spec", "topologySpreadConstraints"), "topologySpreadConstraints")
    for word, listed in (("containers", case.pod.spec.containers), ("initContainers", case.pod.spec.init_containers)):
        for at in range(len(listed)):
            yield case.demand(("spec", word, at, "resources", "requests"), "requests")
            yield case.demand(("spec", word, at, "resources"), "resources")
    for pool in pools:
        ref = f"NodePool {pool.metadata.name}"
        for path in ("spec.template.spec.requirements", "spec.template.spec.taints", "spec.limits"):
            yield Demand(ref, path, path.rpartition(".")[2], "", ())
