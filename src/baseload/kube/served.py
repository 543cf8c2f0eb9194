"""What an API server tells of Kubernetes' own kinds beside their names: short names, categories, subresources, fields.

Custom resources say the same of themselves, in their CustomResourceDefinition.
"""

from dataclasses import dataclass
from typing import Final

from baseload.kube import kinds
from baseload.kube.kinds import Kind


@dataclass(frozen=True, slots=True)
class Served:
    """One kind that an API server serves."""

    kind: Kind
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    has_status: bool = False
    has_generation: bool = False
    has_scale: bool = False
    stored_in: str = ""  # the apiVersion in which the objects are kept, where that is another one
    fields: tuple[str, ...] = ()  # what field selectors may name beyond metadata.name and metadata.namespace

    @property
    def singular(self) -> str:
        return self.kind.name.lower()


_POD_FIELDS: Final = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)
_EVENT_FIELDS: Final = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)
_REGARDING_FIELDS: Final = (
    "reason",
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reportingController",
    "type",
)
_EXTENSIONS: Final = "api-extensions"

# (kind, short names, categories, marks, fields) by apiVersion;
# marks: s has a status subresource, g a generation, c a scale subresource
_ROWS: Final[dict[str, tuple[tuple[str, str, str, str, tuple[str, ...]], ...]]] = {
    "v1": (
        ("ConfigMap", "cm", "", "", ()),
        ("Endpoints", "ep", "", "", ()),
        ("Event", "ev", "", "", _EVENT_FIELDS),
        ("LimitRange", "limits", "", "", ()),
        ("Namespace", "ns", "", "s", ("status.phase",)),
        ("Node", "no", "", "s", ("spec.unschedulable",)),
        ("PersistentVolume", "pv", "", "s", ()),
        ("PersistentVolumeClaim", "pvc", "", "s", ()),
        ("Pod", "po", "all", "sg", _POD_FIELDS),
        ("PodTemplate", "", "", "g", ()),
        ("ReplicationController", "rc", "all", "sgc", ("status.replicas",)),
        ("ResourceQuota", "quota", "", "s", ()),
        ("Secret", "", "", "", ("type",)),
        ("Service", "svc", "all", "s", ("spec.clusterIP", "spec.type")),
        ("ServiceAccount", "sa", "", "", ()),
    ),
    "events.k8s.io/v1": (("Event", "ev", "", "", _REGARDING_FIELDS),),
    "apps/v1": (
        ("ControllerRevision", "", "", "", ()),
        ("DaemonSet", "ds", "all", "sg", ()),
        ("Deployment", "deploy", "all", "sgc", ()),
        ("ReplicaSet", "rs", "all", "sgc", ()),
        ("StatefulSet", "sts", "all", "sgc", ()),
    ),
    "autoscaling/v2": (("HorizontalPodAutoscaler", "hpa", "all", "sg", ()),),
    "autoscaling/v1": (("HorizontalPodAutoscaler", "hpa", "all", "sg", ()),),
    "batch/v1": (
        ("CronJob", "cj", "all", "sg", ()),
        ("Job", "", "all", "sg", ("status.successful",)),
    ),
    "policy/v1": (("PodDisruptionBudget", "pdb", "", "sg", ()),),
    "networking.k8s.io/v1": (
        ("Ingress", "ing", "", "sg", ()),
        ("IngressClass", "", "", "g", ()),
        ("NetworkPolicy", "netpol", "", "g", ()),
    ),
    "rbac.authorization.k8s.io/v1": (
        ("ClusterRole", "", "", "", ()),
        ("ClusterRoleBinding", "", "", "", ()),
        ("Role", "", "", "", ()),
        ("RoleBinding", "", "", "", ()),
    ),
    "storage.k8s.io/v1": (
        ("CSIDriver", "", "", "", ()),
        ("CSINode", "", "", "s", ()),
        ("CSIStorageCapacity", "", "", "", ()),
        ("StorageClass", "sc", "", "", ()),
        ("VolumeAttachment", "", "", "s", ()),
        ("VolumeAttributesClass", "vac", "", "", ()),
    ),
    "scheduling.k8s.io/v1": (("PriorityClass", "pc", "", "g", ()),),
    "coordination.k8s.io/v1": (("Lease", "", "", "", ()),),
    "discovery.k8s.io/v1": (("EndpointSlice", "", "", "g", ()),),
    "node.k8s.io/v1": (("RuntimeClass", "", "", "", ()),),
    "admissionregistration.k8s.io/v1": (
        ("MutatingWebhookConfiguration", "", _EXTENSIONS, "g", ()),
        ("ValidatingAdmissionPolicy", "", _EXTENSIONS, "sg", ()),
        ("ValidatingAdmissionPolicyBinding", "", _EXTENSIONS, "g", ()),
        ("ValidatingWebhookConfiguration", "", _EXTENSIONS, "g", ()),
    ),
    "apiregistration.k8s.io/v1": (("APIService", "", _EXTENSIONS, "s", ()),),
    "apiextensions.k8s.io/v1": (("CustomResourceDefinition", "crd crds", _EXTENSIONS, "sg", ()),),
}
_STORED_IN: Final = {
    ("autoscaling/v1", "HorizontalPodAutoscaler"): "autoscaling/v2",
    ("events.k8s.io/v1", "Event"): "v1",
}
"""(apiVersion, kind) -> the version that the objects are stored in, of kinds with several"""


def _kind(api_version: str, name: str) -> Kind:
    kind = kinds.find(api_version, name)
    assert kind is not None, f"{api_version} {name} is no kind"
    return kind


BUILT_IN: Final = tuple(
    Served(
        _kind(api_version, name),
        tuple(short.split()),
        tuple(categories.split()),
        has_status="s" in marks,
        has_generation="g" in marks,
        has_scale="c" in marks,
        stored_in=_STORED_IN.get((api_version, name), ""),
        fields=fields,
    )
    for api_version, rows in _ROWS.items()
    for name, short, categories, marks, fields in rows
)
"""The kinds that the embedded API serves without a definition, group by group."""
