"""The rules that apply to an object, by its kind; paths begin at the object.

Specs of pods are remembered by the identity of their containers: equal specs are read as the same value, as most pods
share theirs, and one that is bound to a node shares all the rest.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TypeAlias, cast

from baseload.kube.schema import names, pods, pools
from baseload.kube.schema.finding import Finding, invalid, unsupported
from baseload.kube.types import apps, autoscaling, batch, core, ec2, karpenter, policy, storage
from baseload.kube.types.meta import LabelSelector, ObjectMeta, Wire

_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
_EVICTION_POLICIES = ("IfHealthyBudget", "AlwaysAllow")

_MOST_PERCENT = 10_000  # of a workload's pods, kept as a buffer
MOST_PODS = 250_000
"""More pods than any cluster holds: Kubernetes is made for 150,000."""
_MOST_REMEMBERED = 100_000  # specs, of which the findings are kept

Workload: TypeAlias = apps.Deployment | apps.ReplicaSet | apps.StatefulSet | apps.DaemonSet


class Rules:
    """The rules, and what they have already found on specs seen before."""

    def __init__(self, well_known: Collection[str] = ()) -> None:
        self._of_specs: dict[int, tuple[core.PodSpec, tuple[Finding, ...]]] = {}  # the spec is held to keep the id
        self._by_kind: dict[type[Wire], Callable[..., Iterator[Finding]]] = {
            core.Pod: self._pod,
            core.PodTemplate: self._pod_template,
            core.ReplicationController: self._replication_controller,
            core.Node: _node,
            core.PersistentVolume: _volume,
            core.PersistentVolumeClaim: _volume_claim,
            apps.Deployment: self._workload,
            apps.ReplicaSet: self._workload,
            apps.StatefulSet: self._workload,
            apps.DaemonSet: self._workload,
            batch.Job: self._job,
            batch.CronJob: self._cron_job,
            policy.PodDisruptionBudget: _budget,
            storage.StorageClass: _storage_class,
            storage.CSINode: _csi_node,
            karpenter.NodePool: partial(pools.node_pool, well_known=well_known),
            karpenter.NodeClaim: partial(pools.node_claim, well_known=well_known),
            karpenter.NodeOverlay: partial(pools.node_overlay, well_known=well_known),
            autoscaling.CapacityBuffer: _buffer,
            ec2.EC2NodeClass: pools.ec2_node_class,
        }

    def findings(self, value: Wire) -> list[Finding]:
        """What the rules find on an object."""
        if isinstance(value, core.Pod) and self._is_like_a_good_one(value):
            return []
        return list(self._all_findings(value))

    def _is_like_a_good_one(self, pod: core.Pod) -> bool:
        """Whether a pod shares a spec that nothing is wrong with, and has nothing else that could be."""
        known = self._of_specs.get(_identity(pod.spec))
        status = pod.status
        return (
            known is not None
            and not known[1]
            and not any(held.allocated_resources or held.resources for held in status.container_statuses)
            and names.is_moment(status.start_time)
            and names.is_plain(pod.metadata)
        )

    def _all_findings(self, value: Wire) -> Iterator[Finding]:
        yield from names.metadata(cast(ObjectMeta, value.metadata))  # type: ignore[attr-defined]
        rule = self._by_kind.get(type(value))
        if rule is not None:
            yield from rule(value)

    def _spec(self, spec: core.PodSpec, path: str) -> Iterator[Finding]:
        key = _identity(spec)
        known = self._of_specs.get(key)
        if known is None:
            if len(self._of_specs) >= _MOST_REMEMBERED:
                self._of_specs.clear()
            known = self._of_specs[key] = (spec, tuple(pods.spec(spec)))
        for finding in known[1]:
            yield finding.below(path)

    def _pod(self, pod: core.Pod) -> Iterator[Finding]:
        yield from self._spec(pod.spec, "spec")
        yield from names.moment("status.startTime", pod.status.start_time)
        for index, status in enumerate(pod.status.container_statuses):
            at = f"status.containerStatuses[{index}]"
            yield from names.amounts(status.allocated_resources, f"{at}.allocatedResources")
            if status.resources is not None:
                yield from names.amounts(status.resources.requests, f"{at}.resources.requests")

    def _template(self, template: core.PodTemplateSpec, path: str) -> Iterator[Finding]:
        yield from names.labels(template.metadata.labels, f"{path}.metadata.labels")
        yield from self._spec(template.spec, f"{path}.spec")

    def _pod_template(self, template: core.PodTemplate) -> Iterator[Finding]:
        yield from self._template(template.template, "template")

    def _replication_controller(self, controller: core.ReplicationController) -> Iterator[Finding]:
        yield from _pods(controller.spec.replicas, "spec.replicas")
        if controller.spec.template is not None:
            yield from self._template(controller.spec.template, "spec.template")

    def _workload(self, workload: Workload) -> Iterator[Finding]:
        if not isinstance(workload, apps.DaemonSet):
            yield from _pods(workload.spec.replicas, "spec.replicas")
        yield from names.selector(workload.spec.selector, "spec.selector")
        yield from _selects(workload.spec.selector, workload.spec.template)
        yield from self._template(workload.spec.template, "spec.template")
        if isinstance(workload, apps.StatefulSet):
            for index, claim in enumerate(workload.spec.volume_claim_templates):
                path = f"spec.volumeClaimTemplates[{index}].spec.resources.requests"
                yield from names.amounts(claim.spec.resources.requests, path)

    def _job(self, job: batch.Job) -> Iterator[Finding]:
        for finding in self._job_spec(job.spec):
            yield finding.below("spec")

    def _cron_job(self, job: batch.CronJob) -> Iterator[Finding]:
        for finding in self._job_spec(job.spec.job_template.spec):
            yield finding.below("spec.jobTemplate.spec")

    def _job_spec(self, spec: batch.JobSpec) -> Iterator[Finding]:
        yield from _pods(spec.parallelism, "parallelism")
        yield from _count(spec.completions, "completions")
        yield from self._template(spec.template, "template")


def _identity(spec: core.PodSpec) -> int:
    return id(spec.containers or spec)


def _count(number: int | None, path: str) -> Iterator[Finding]:
    if number is not None and number < 0:
        yield invalid(path, number, "must be greater than or equal to 0")


def _pods(number: int | None, path: str) -> Iterator[Finding]:
    """A number of pods that decisions may have to make one by one."""
    yield from _count(number, path)
    if number is not None and number > MOST_PODS:
        yield names.fatal(invalid(path, number, f"is more than any cluster can hold: at most {MOST_PODS}"))


def _buffer(buffer: autoscaling.CapacityBuffer) -> Iterator[Finding]:
    yield from _pods(buffer.spec.replicas, "spec.replicas")
    share = buffer.spec.percentage
    if share is not None and share > _MOST_PERCENT:
        yield names.fatal(invalid("spec.percentage", share, f"is absurd: at most {_MOST_PERCENT}"))
    yield from pools.capacity_buffer(buffer)


def _selects(selector: LabelSelector | None, template: core.PodTemplateSpec) -> Iterator[Finding]:
    """A workload that would not own the pods it makes is refused by the API server."""
    if selector is None:
        return
    labels = template.metadata.labels
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        message = "`selector` does not match template `labels`"
        yield Finding("spec.template.metadata.labels", f"Invalid value: {_written(labels)}: {message}")


def _written(labels: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{key}": "{value}"' for key, value in labels.items()) + "}"


def _node(node: core.Node) -> Iterator[Finding]:
    yield from names.taints(node.spec.taints, "spec.taints")
    yield from names.amounts(node.status.capacity, "status.capacity")
    yield from names.amounts(node.status.allocatable, "status.allocatable")


def _volume(volume: core.PersistentVolume) -> Iterator[Finding]:
    yield from names.amounts(volume.spec.capacity, "spec.capacity")


def _volume_claim(claim: core.PersistentVolumeClaim) -> Iterator[Finding]:
    yield from names.amounts(claim.spec.resources.requests, "spec.resources.requests")


def _storage_class(storage_class: storage.StorageClass) -> Iterator[Finding]:
    mode = storage_class.volume_binding_mode
    if mode and mode not in _BINDING_MODES:
        yield unsupported("volumeBindingMode", mode, _BINDING_MODES)


def _csi_node(node: storage.CSINode) -> Iterator[Finding]:
    for index, driver in enumerate(node.spec.drivers):
        if driver.allocatable is not None:
            yield from _count(driver.allocatable.count, f"spec.drivers[{index}].allocatable.count")


def _budget(budget: policy.PodDisruptionBudget) -> Iterator[Finding]:
    spec = budget.spec
    yield from names.selector(spec.selector, "spec.selector")
    if spec.min_available is not None and spec.max_unavailable is not None:
        yield invalid("spec", {}, "minAvailable and maxUnavailable cannot be both set")
    for field, amount in (("minAvailable", spec.min_available), ("maxUnavailable", spec.max_unavailable)):
        if isinstance(amount, str):
            if not (amount.endswith("%") and amount[:-1].isdecimal() and amount.isascii()):
                yield names.fatal(invalid(f"spec.{field}", amount, "must be an integer or a percentage such as 50%"))
        else:
            yield from _count(amount, f"spec.{field}")
    if spec.unhealthy_pod_eviction_policy and spec.unhealthy_pod_eviction_policy not in _EVICTION_POLICIES:
        path = "spec.unhealthyPodEvictionPolicy"
        yield unsupported(path, spec.unhealthy_pod_eviction_policy, _EVICTION_POLICIES)
