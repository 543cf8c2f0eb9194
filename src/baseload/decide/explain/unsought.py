"""Pods for which no place is sought: the field that keeps them out of the pass, and what would bring them in."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from baseload.decide.explain.demands import NODE_AFFINITY, PREFERRED, Case, of_pod
from baseload.decide.explain.edits import Edit
from baseload.kube.fieldpath import text
from baseload.kube.types.core import PersistentVolumeClaim
from baseload.model.view import View, claim_name, ref_of
from baseload.plan.provision import Demand
from baseload.plan.reason import Reason
from baseload.values.label import KNOWN_VALUES, NODEPOOL

SETTLED: Final = {
    Reason.NOT_UNSCHEDULABLE: "the scheduler has yet to try it",
    Reason.NOMINATED: "the scheduler is about to place it",
    Reason.DAEMON: "it runs on the node that its DaemonSet ties it to",
    Reason.STATIC: "it runs on the node that owns it",
    Reason.NOT_SYNCED: "the next pass places it, once the NodeClaim is launched",
}
"""reasons that call for no change, and what happens instead"""

UNSOUGHT: Final = frozenset(
    (
        *SETTLED,
        Reason.GATED,
        Reason.OPTED_OUT,
        Reason.INVALID,
        Reason.VOLUME,
        Reason.RESOURCE_CLAIM,
        Reason.NO_POOL,
    )
)


def demands(case: Case, view: View) -> Iterator[Demand]:
    """The fields that may be at fault."""
    match case.failed.reason:
        case Reason.GATED:
            gates = [gate.name for gate in case.pod.spec.scheduling_gates]
            yield case.demand(("spec", "schedulingGates"), "schedulingGates", "In", gates)
        case Reason.NOT_UNSCHEDULABLE | Reason.NOMINATED:
            yield from _of_status(case)
        case Reason.DAEMON | Reason.STATIC:
            for at, owner in enumerate(case.pod.metadata.owner_references):
                yield case.demand(("metadata", "ownerReferences", at), owner.kind, "In", (owner.name,))
        case Reason.OPTED_OUT | Reason.INVALID:
            yield from of_pod(case)
            if case.failed.reason == Reason.OPTED_OUT:
                steps = (*NODE_AFFINITY[:-1], PREFERRED)
                yield case.demand(steps, NODEPOOL, "DoesNotExist")
        case Reason.VOLUME:
            yield from _of_volumes(case, view)
        case Reason.RESOURCE_CLAIM:
            names = [claim.name for claim in case.pod.spec.resource_claims]
            yield case.demand(("spec", "resourceClaims"), "resourceClaims", "In", names)
        case Reason.NO_POOL:
            yield from _of_pools(view)


def _of_status(case: Case) -> Iterator[Demand]:
    if case.pod.status.nominated_node_name:
        yield case.demand(
            ("status", "nominatedNodeName"), "nominatedNodeName", "In", (case.pod.status.nominated_node_name,)
        )
    for at, condition in enumerate(case.pod.status.conditions):
        if condition.type == "PodScheduled":
            yield case.demand(("status", "conditions", at), "PodScheduled", "In", (condition.reason,))


def _of_volumes(case: Case, view: View) -> Iterator[Demand]:
    if case.prefix:
        return  # a StatefulSet's template does not have the volumes and claims that its pods get from it
    for at, volume in enumerate(case.pod.spec.volumes):
        name = claim_name(case.pod, volume)
        if name is None:
            continue
        yield case.demand(("spec", "volumes", at), "persistentVolumeClaim", "In", (name,))
        for claim in _claims(case, view, name):
            ref = ref_of(claim)
            if claim.spec.volume_name:
                yield Demand(ref, "spec.volumeName", "volumeName", "In", (claim.spec.volume_name,))
            if claim.status.phase == "Lost":
                yield Demand(ref, "status.phase", "phase", "In", ("Lost",))
            if claim.metadata.deletion_timestamp:
                at_ = claim.metadata.deletion_timestamp
                yield Demand(ref, "metadata.deletionTimestamp", "deletionTimestamp", "In", (at_,))


def _of_pools(view: View) -> Iterator[Demand]:
    for pool in view.node_pools:
        ref = f"NodePool {pool.metadata.name}"
        if pool.spec.replicas is not None:
            yield Demand(ref, "spec.replicas", "replicas", "In", (str(pool.spec.replicas),))
        if pool.metadata.deletion_timestamp:
            yield Demand(ref, "metadata.deletionTimestamp", "deletionTimestamp", "Exists", ())
        for at, condition in enumerate(pool.status.conditions):
            if condition.type == "Ready" and condition.status != "True" and condition.reason != "NodeClassNotReady":
                yield Demand(ref, f"status.conditions[{at}]", "Ready", "In", (condition.status,))


def fixes(case: Case, view: View) -> Iterator[Edit]:
    """Changes that may bring the pod into the pass, the mildest first; whether they do is for a trial to say."""
    match case.failed.reason:
        case Reason.GATED:
            yield Edit(case.ref, case.path("spec", "schedulingGates"), None)
        case Reason.INVALID:
            yield from _known_values(case)
        case Reason.VOLUME:
            yield from _volume_fixes(case, view)
        case Reason.OPTED_OUT:
            yield from (Edit(d.object, d.path, None) for d in demands(case, view) if d.key == NODEPOOL)


def _known_values(case: Case) -> Iterator[Edit]:
    for key in case.pod.spec.node_selector:
        for value in KNOWN_VALUES.get(key, ()):
            yield Edit(case.ref, case.path("spec", "nodeSelector", key), value)
    for demand in of_pod(case):
        yield Edit(demand.object, demand.path, None)


def _volume_fixes(case: Case, view: View) -> Iterator[Edit]:
    for at, volume in enumerate(case.pod.spec.volumes):
        source = volume.persistent_volume_claim
        if source is None:
            continue
        claims = _claims(case, view, source.claim_name)
        for claim in claims:
            yield from _claim_fixes(case, view, claim)
        if not claims and not case.prefix:
            path = case.path("spec", "volumes", at, "persistentVolumeClaim", "claimName")
            namespace = case.pod.metadata.namespace
            names = [c.metadata.name for c in view.persistent_volume_claims if c.metadata.namespace == namespace]
            yield from (Edit(case.ref, path, name) for name in get_close_matches(source.claim_name, names, n=2))


def _claim_fixes(case: Case, view: View, claim: PersistentVolumeClaim) -> Iterator[Edit]:
    if claim.spec.volume_name:
        annotation = text(("metadata", "annotations", "pv.kubernetes.io/bind-completed"))
        yield Edit(ref_of(claim), annotation, "yes")
        return
    late = "WaitForFirstConsumer"
    if not case.prefix:  # else the claim is made from a template
        for storage in view.storage_classes:
            if storage.volume_binding_mode == late:
                yield Edit(ref_of(claim), "spec.storageClassName", storage.metadata.name)
    if claim.spec.storage_class_name:
        yield Edit(f"StorageClass {claim.spec.storage_class_name}", "volumeBindingMode", late)


def _claims(case: Case, view: View, name: str) -> list[PersistentVolumeClaim]:
    namespace = case.pod.metadata.namespace
    return [c for c in view.persistent_volume_claims if (c.metadata.namespace, c.metadata.name) == (namespace, name)]
