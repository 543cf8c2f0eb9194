"""The pods that workloads lack: a Deployment of five replicas in a folder of manifests means five pods.

A workload gets as many pods as its controller would make now: its replicas less the pods that it owns, directly or
through its ReplicaSets, finished and terminating ones not counted. They are named `NAME-x1`, `NAME-x2` …, come after
the pods of the input, and carry the owner that a real one would have. All pods of one workload share their spec and
labels, so that they are one shape; only claims on volumes of a StatefulSet's own tell its pods apart.

DaemonSets get none: the room that their pods need is kept on every node anyway.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Final

from msgspec.structs import replace as with_fields

from baseload.kube.types.apps import Deployment, ReplicaSet, StatefulSet
from baseload.kube.types.batch import Job
from baseload.kube.types.core import (
    Container,
    PersistentVolumeClaim,
    PersistentVolumeClaimTemplate,
    PersistentVolumeClaimVolumeSource,
    PhaseStatus,
    Pod,
    PodSpec,
    PodStatus,
    Volume,
)
from baseload.kube.types.meta import ObjectMeta, OwnerReference
from baseload.model.view import View, is_terminal, name_of, ref_of

Workload = Deployment | ReplicaSet | StatefulSet | Job
Owner = tuple[str, str, str]
"""(namespace, kind, name) of what owns a pod"""

HASH: Final = "pod-template-hash"
IS_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_API_VERSION: Final = {"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "Job": "batch/v1"}

_END_OF_JOB: Final = ("Complete", "Failed", "SuccessCriteriaMet")


@dataclass(frozen=True, slots=True)
class Expansion:
    """The pods that were made for one workload."""

    workload: str  # e.g. Deployment default/web
    pods: tuple[str, ...]


def expand(view: View, workloads: Iterable[Workload]) -> tuple[View, tuple[Expansion, ...]]:
    """The view with the pods that these workloads lack, and who got which; workloads that lack none are left out."""
    known = _Known(view)
    made: list[Pod] = []
    claims: list[PersistentVolumeClaim] = []
    expansions: list[Expansion] = []
    for workload in workloads:
        lack = 0 if workload.metadata.deletion_timestamp else known.lack(workload)
        if lack <= 0:
            continue
        pods = tuple(known.pods(workload, lack, claims))
        made.extend(pods)
        expansions.append(Expansion(ref_of(workload), tuple(map(name_of, pods))))
    if not made:
        return view, ()
    all_claims = (*view.persistent_volume_claims, *claims)
    return replace(view, pods=(*view.pods, *made), persistent_volume_claims=all_claims), tuple(expansions)


class _Known:
    """What the input holds of workloads' pods, and the names that are taken."""

    def __init__(self, view: View) -> None:
        self.names = {(pod.metadata.namespace, pod.metadata.name) for pod in view.pods}
        self.claims = {(c.metadata.namespace, c.metadata.name) for c in view.persistent_volume_claims}
        self.default_class = _default_class(view)
        self.deployments = {(d.metadata.namespace, d.metadata.name) for d in view.deployments}
        self.replica_sets: dict[Owner, list[ReplicaSet]] = {}
        owners = {_key(r): owner for r in view.replica_sets if (owner := self._deployment_of(r.metadata)) is not None}
        for replica_set in view.replica_sets:
            if _key(replica_set) in owners:
                self.replica_sets.setdefault(owners[_key(replica_set)], []).append(replica_set)
        self.owned: dict[Owner, list[Pod]] = {}
        for pod in view.pods:
            for key in self._owners(pod, owners):
                self.owned.setdefault(key, []).append(pod)

    def _deployment_of(self, meta: ObjectMeta) -> Owner | None:
        """The Deployment of the input that owns an object."""
        names = (owner.name for owner in meta.owner_references if owner.kind == "Deployment")
        return next(((meta.namespace, "Deployment", n) for n in names if (meta.namespace, n) in self.deployments), None)

    def _owners(self, pod: Pod, of_replica_sets: Mapping[Owner, Owner]) -> Iterator[Owner]:
        meta = pod.metadata
        for owner in meta.owner_references:
            key = (meta.namespace, owner.kind, owner.name)
            yield key
            if key in of_replica_sets:
                yield of_replica_sets[key]
            elif owner.kind == "ReplicaSet" and (hash := meta.labels.get(HASH)):
                name = owner.name.removesuffix(f"-{hash}")  # the ReplicaSet itself is not in the input
                if (meta.namespace, name) in self.deployments:
                    yield (meta.namespace, "Deployment", name)

    def lack(self, workload: Workload) -> int:
        """How many pods its controller would make now."""
        owned = self.owned.get(_key(workload), [])
        if isinstance(workload, Job):
            return _lack_of_job(workload, owned)
        replicas = 1 if workload.spec.replicas is None else workload.spec.replicas
        if isinstance(workload, StatefulSet):  # makes a pod anew only when the old one is gone
            return replicas - sum(not is_terminal(pod) for pod in owned)
        if isinstance(workload, ReplicaSet) and self._deployment_of(workload.metadata) is not None:
            return 0  # its Deployment speaks for it
        return replicas - sum(_is_active(pod) for pod in owned)

    def pods(self, workload: Workload, lack: int, claims: list[PersistentVolumeClaim]) -> Iterator[Pod]:
        """So many pods of a workload; the volume claims that they need and nobody made yet are added to `claims`."""
        meta, kind = workload.metadata, type(workload).__name__
        owner = OwnerReference(_API_VERSION[kind], kind, meta.name, meta.uid, controller=True)
        labels = workload.spec.template.metadata.labels
        if isinstance(workload, Job):
            labels = {**labels, "batch.kubernetes.io/job-name": meta.name, "job-name": meta.name}
        elif isinstance(workload, Deployment) and (current := self._current(workload)) is not None:
            owner = OwnerReference(
                "apps/v1", "ReplicaSet", current.metadata.name, current.metadata.uid, controller=True
            )
            labels = current.spec.template.metadata.labels
        spec, owners = admitted(workload.spec.template.spec), (owner,)
        annotations, status = workload.spec.template.metadata.annotations, PodStatus(phase="Pending")
        specs = self._specs(workload, spec, claims) if isinstance(workload, StatefulSet) else None
        for name in islice(self._free_names(meta), lack):
            metadata = ObjectMeta(
                name=name, namespace=meta.namespace, labels=labels, annotations=annotations, owner_references=owners
            )
            claims.extend(self._ephemeral(metadata, spec))
            yield Pod(metadata, next(specs) if specs is not None else spec, status)

    def _free_names(self, meta: ObjectMeta) -> Iterator[str]:
        names = (f"{meta.name}-x{number}" for number in count(1))
        return (name for name in names if (meta.namespace, name) not in self.names)

    def _current(self, deployment: Deployment) -> ReplicaSet | None:
        """The ReplicaSet that makes a Deployment's pods at present, when the input has it."""
        template = deployment.spec.template.spec
        found = [r for r in self.replica_sets.get(_key(deployment), ()) if r.spec.template.spec == template]
        return found[-1] if found else None

    def _specs(self, workload: StatefulSet, spec: PodSpec, claims: list[PersistentVolumeClaim]) -> Iterator[PodSpec]:
        """The spec of each ordinal that is missing: its volumes are those that bear its name."""
        templates = workload.spec.volume_claim_templates
        meta = workload.metadata
        held = {pod.metadata.name for pod in self.owned.get(_key(workload), []) if not is_terminal(pod)}
        for ordinal in count():
            if f"{meta.name}-{ordinal}" in held:
                continue
            if not templates:
                yield spec
                continue
            volumes = [volume for volume in spec.volumes if all(volume.name != t.metadata.name for t in templates)]
            for template in templates:
                claim = f"{template.metadata.name}-{meta.name}-{ordinal}"
                source = PersistentVolumeClaimVolumeSource(claim_name=claim)
                volumes.append(Volume(template.metadata.name, persistent_volume_claim=source))
                if (meta.namespace, claim) not in self.claims:
                    claims.append(self._claim(claim, meta.namespace, template))
            yield with_fields(spec, volumes=tuple(volumes))

    def _ephemeral(self, pod: ObjectMeta, spec: PodSpec) -> Iterator[PersistentVolumeClaim]:
        """The claims that are made with a pod, for its ephemeral volumes."""
        for volume in spec.volumes:
            template = volume.ephemeral.volume_claim_template if volume.ephemeral else None
            name = f"{pod.name}-{volume.name}"
            if template is not None and (pod.namespace, name) not in self.claims:
                yield self._claim(name, pod.namespace, template)

    def _claim(self, name: str, namespace: str, template: PersistentVolumeClaimTemplate) -> PersistentVolumeClaim:
        """A claim as admission leaves it: one that names no class has the default one."""
        spec = template.spec
        if spec.storage_class_name is None and self.default_class is not None:
            spec = with_fields(spec, storage_class_name=self.default_class)
        metadata = ObjectMeta(name=name, namespace=namespace, labels=template.metadata.labels)
        return PersistentVolumeClaim(metadata, spec, PhaseStatus("Pending"))


def _default_class(view: View) -> str | None:
    """The StorageClass that claims get which name none: of several defaults the newest."""
    defaults = [c.metadata for c in view.storage_classes if c.metadata.annotations.get(IS_DEFAULT_CLASS) == "true"]
    return max(defaults, key=lambda meta: (meta.creation_timestamp, meta.name)).name if defaults else None


def _key(workload: Workload) -> Owner:
    return workload.metadata.namespace, type(workload).__name__, workload.metadata.name


def _is_active(pod: Pod) -> bool:
    return not is_terminal(pod) and not pod.metadata.deletion_timestamp


def _lack_of_job(job: Job, owned: Iterable[Pod]) -> int:
    """As many as may run beside those that do, while completions are missing; without a count, until one succeeds."""
    spec, status = job.spec, job.status
    ended = any(c.type in _END_OF_JOB and c.status == "True" for c in status.conditions)
    if spec.suspend or ended:
        return 0
    pods = list(owned)
    active = sum(_is_active(pod) for pod in pods)
    succeeded = max(status.succeeded, sum(pod.status.phase == "Succeeded" for pod in pods))
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is None:
        return 0 if succeeded else parallelism - active
    return min(parallelism, spec.completions - succeeded) - active


def admitted(spec: PodSpec) -> PodSpec:
    """The spec that the API server makes of a template's: what it leaves out and something else in it says is filled.

    A limit without a request is the request, of a container and of the whole pod; a port of a pod on the host's network
    is the host's port.
    """
    containers = tuple(_with_defaults(c, spec) for c in spec.containers)
    init_containers = tuple(_with_defaults(c, spec) for c in spec.init_containers)
    resources = spec.resources
    if resources is not None:
        asked = {r for c in (*containers, *init_containers) for r in c.resources.requests}
        limits = {resource: limit for resource, limit in resources.limits.items() if resource not in asked}
        resources = with_fields(resources, requests={**limits, **resources.requests})
    filled = with_fields(spec, containers=containers, init_containers=init_containers, resources=resources)
    return spec if filled == spec else filled


def _with_defaults(container: Container, spec: PodSpec) -> Container:
    resources = container.resources
    requests = {**resources.limits, **resources.requests}
    ports = container.ports
    if spec.host_network:
        ports = tuple(with_fields(p, host_port=p.host_port or p.container_port or 0) for p in ports)
    return with_fields(container, resources=with_fields(resources, requests=requests), ports=ports)
