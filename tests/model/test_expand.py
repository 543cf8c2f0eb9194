"""A workload gets the pods that its controller would make now."""

import msgspec
import pytest

from baseload.kube.types.apps import Deployment, ReplicaSet, StatefulSet
from baseload.kube.types.batch import Job
from baseload.kube.types.core import PersistentVolumeClaim, Pod, PodSpec
from baseload.kube.types.storage import StorageClass
from baseload.model.expand import Workload, expand
from baseload.model.view import View, name_of

TEMPLATE = {
    "metadata": {"labels": {"app": "web"}, "annotations": {"note": "a"}},
    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
}
META = {"name": "web", "namespace": "shop"}


def workload(of: type[Workload], meta: dict[str, object] | None = None, **spec: object) -> Workload:
    tree = {"metadata": META | (meta or {}), "spec": {"template": TEMPLATE} | spec}
    return msgspec.convert(tree, of)


def pod(name: str, kind: str = "", owner: str = "web", *, phase: str = "Running", **meta: object) -> Pod:
    owners = [{"apiVersion": "apps/v1", "kind": kind, "name": owner}] if kind else []
    metadata = {"name": name, "namespace": "shop", "ownerReferences": owners} | meta
    return msgspec.convert({"metadata": metadata, "spec": {}, "status": {"phase": phase}}, Pod)


def made(view: View, *workloads: Workload) -> list[Pod]:
    return list(expand(view, workloads)[0].pods[len(view.pods) :])


def names(view: View, *workloads: Workload) -> list[str]:
    return [name_of(pod) for pod in made(view, *workloads)]


def deployment(**spec: object) -> Deployment:
    return msgspec.convert({"metadata": META, "spec": {"template": TEMPLATE} | spec}, Deployment)


def replica_set(name: str, owned: bool = True, template: object = TEMPLATE) -> ReplicaSet:
    owners = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}] if owned else []
    metadata = {"name": name, "namespace": "shop", "ownerReferences": owners}
    return msgspec.convert({"metadata": metadata, "spec": {"replicas": 3, "template": template}}, ReplicaSet)


@pytest.mark.parametrize("kind", [Deployment, ReplicaSet, StatefulSet])
def test_replicas_without_pods_are_made(kind: type[Workload]) -> None:
    assert names(View(), workload(kind, replicas=2)) == ["shop/web-x1", "shop/web-x2"]
    assert names(View(), workload(kind)) == ["shop/web-x1"]
    assert names(View(), workload(kind, replicas=0)) == []


def test_what_was_made_is_listed_by_workload() -> None:
    _, expansions = expand(View(), [deployment(replicas=2), workload(Job, {"name": "sum"})])

    assert [(e.workload, e.pods) for e in expansions] == [
        ("Deployment shop/web", ("shop/web-x1", "shop/web-x2")),
        ("Job shop/sum", ("shop/sum-x1",)),
    ]


def test_made_pods_are_what_the_template_says_and_know_their_owner() -> None:
    (made_,) = made(View(), deployment())

    assert made_.metadata.labels == {"app": "web"}
    assert made_.metadata.annotations == {"note": "a"}
    assert made_.spec.containers[0].resources.requests == {"cpu": "1"}
    assert [(o.api_version, o.kind, o.name) for o in made_.metadata.owner_references] == [
        ("apps/v1", "Deployment", "web")
    ]


def test_pods_of_one_workload_share_spec_and_labels() -> None:
    pods = made(View(), deployment(replicas=50))

    assert len({id(pod.spec) for pod in pods}) == len({id(pod.metadata.labels) for pod in pods}) == 1


def test_pods_count_through_their_replica_set() -> None:
    view = View(
        pods=(pod("a", "ReplicaSet", "web-1"), pod("b", "ReplicaSet", "other")),
        deployments=(deployment(replicas=2),),
        replica_sets=(replica_set("web-1"), replica_set("other", owned=False)),
    )

    assert len(made(view, *view.deployments)) == 1


def test_pods_count_through_the_name_of_a_replica_set_that_is_not_in_the_input() -> None:
    labels = {"pod-template-hash": "5d4f"}
    view = View(pods=(pod("a", "ReplicaSet", "web-5d4f", labels=labels),), deployments=(deployment(replicas=2),))

    assert len(made(view, *view.deployments)) == 1


def test_a_replica_set_of_a_deployment_is_not_expanded_a_second_time() -> None:
    view = View(deployments=(deployment(replicas=1),), replica_sets=(replica_set("web-1"),))

    assert names(view, *view.deployments, *view.replica_sets) == ["shop/web-x1"]


def test_a_replica_set_whose_owner_is_elsewhere_is_expanded() -> None:
    assert len(made(View(replica_sets=(replica_set("web-1"),)), replica_set("web-1"))) == 3


def test_new_pods_belong_to_the_replica_set_that_makes_the_deployments_pods_at_present() -> None:
    old = {**TEMPLATE, "spec": {"containers": [{"name": "old"}]}}
    now = {**TEMPLATE, "metadata": {"labels": {"app": "web", "pod-template-hash": "2"}}}
    view = View(
        deployments=(deployment(),),
        replica_sets=(replica_set("web-2", template=now), replica_set("web-1", template=old)),
    )
    (made_,) = made(view, *view.deployments)

    assert made_.metadata.owner_references[0].name == "web-2"
    assert made_.metadata.labels["pod-template-hash"] == "2"


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_finished_pods_do_not_count_as_replicas(phase: str) -> None:
    assert len(made(View(pods=(pod("a", "ReplicaSet", phase=phase),)), workload(ReplicaSet))) == 1


def test_a_terminating_pod_is_replaced_but_an_ordinal_is_not_used_twice() -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"}

    assert len(made(View(pods=(pod("a", "ReplicaSet", **leaving),)), workload(ReplicaSet))) == 1
    assert len(made(View(pods=(pod("web-0", "StatefulSet", **leaving),)), workload(StatefulSet))) == 0


def test_a_workload_that_is_being_deleted_gets_none() -> None:
    assert names(View(), workload(Deployment, {"deletionTimestamp": "2026-01-01T00:00:00Z"})) == []


def test_more_pods_than_replicas_are_no_lack() -> None:
    assert made(View(pods=(pod("a", "ReplicaSet"), pod("b", "ReplicaSet"))), workload(ReplicaSet)) == []


def test_names_that_are_taken_are_passed_over() -> None:
    assert names(View(pods=(pod("web-x1"),)), deployment(replicas=2)) == ["shop/web-x2", "shop/web-x3"]


def test_a_limit_without_a_request_is_the_request_as_the_api_server_fills_it_in() -> None:
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    template = {"spec": {"containers": [{"name": "c", "resources": resources}]}}
    (made_,) = made(View(), deployment(template=template))

    assert made_.spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}


def admitted(**spec: object) -> PodSpec:
    web = msgspec.convert({"metadata": META, "spec": {"replicas": 1, "template": {"spec": spec}}}, Deployment)
    (only,) = made(View(), web)
    return only.spec


def test_a_limit_of_the_whole_pod_is_its_request_where_no_container_asks_for_the_resource() -> None:
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    spec = admitted(containers=containers, resources={"limits": {"cpu": "2", "memory": "1Gi"}})
    assert spec.resources is not None
    assert spec.resources.requests == {"memory": "1Gi"}


def test_a_port_of_a_pod_on_the_network_of_the_host_is_the_port_of_the_host() -> None:
    containers = [{"name": "c", "ports": [{"containerPort": 80}]}]
    assert [port.host_port for port in admitted(containers=containers, hostNetwork=True).containers[0].ports] == [80]
    assert [port.host_port for port in admitted(containers=containers).containers[0].ports] == [0]


CLAIMS = [{"metadata": {"name": "data"}, "spec": {"storageClassName": "gp3"}}]


def test_each_pod_of_a_stateful_set_has_the_volume_claim_of_its_ordinal() -> None:
    view = View(pods=(pod("web-0", "StatefulSet"),))
    view, _ = expand(view, [workload(StatefulSet, replicas=3, volumeClaimTemplates=CLAIMS)])

    claims = [v.persistent_volume_claim for p in view.pods[1:] for v in p.spec.volumes]
    assert [claim.claim_name for claim in claims if claim] == ["data-web-1", "data-web-2"]
    assert [(c.metadata.name, c.spec.storage_class_name) for c in view.persistent_volume_claims] == [
        ("data-web-1", "gp3"),
        ("data-web-2", "gp3"),
    ]


def storage_class(name: str, *, default: bool) -> StorageClass:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true" if default else "false"}
    return msgspec.convert({"metadata": {"name": name, "annotations": annotations}}, StorageClass)


def test_a_claim_that_names_no_class_gets_the_default_one() -> None:
    view = View(storage_classes=(storage_class("slow", default=False), storage_class("gp3", default=True)))
    unnamed: list[dict[str, object]] = [{"metadata": {"name": "data"}, "spec": {}}]
    expanded, _ = expand(view, [workload(StatefulSet, replicas=1, volumeClaimTemplates=unnamed)])

    assert [claim.spec.storage_class_name for claim in expanded.persistent_volume_claims] == ["gp3"]


def test_a_claim_that_names_no_class_has_none_where_no_class_is_the_default() -> None:
    unnamed: list[dict[str, object]] = [{"metadata": {"name": "data"}, "spec": {}}]
    expanded, _ = expand(View(), [workload(StatefulSet, replicas=1, volumeClaimTemplates=unnamed)])

    assert [claim.spec.storage_class_name for claim in expanded.persistent_volume_claims] == [None]


def test_an_ephemeral_volume_comes_with_a_claim_a_pod() -> None:
    source = {"volumeClaimTemplate": {"spec": {"storageClassName": "gp3"}}}
    spec = {"containers": [{"name": "c"}], "volumes": [{"name": "scratch", "ephemeral": source}]}
    expanded, _ = expand(View(), [workload(Deployment, replicas=2, template={"spec": spec})])

    names = [claim.metadata.name for claim in expanded.persistent_volume_claims]
    assert names == ["web-x1-scratch", "web-x2-scratch"]


def test_a_volume_claim_of_the_input_is_not_made_anew() -> None:
    bound = msgspec.convert(
        {"metadata": {"name": "data-web-0", "namespace": "shop"}, "spec": {"volumeName": "v"}}, PersistentVolumeClaim
    )
    view, _ = expand(
        View(persistent_volume_claims=(bound,)), [workload(StatefulSet, replicas=1, volumeClaimTemplates=CLAIMS)]
    )

    assert view.persistent_volume_claims == (bound,)


@pytest.mark.parametrize(
    ("spec", "status", "pods", "lack"),
    [
        ({}, {}, [], 1),
        ({"parallelism": 3, "completions": 5}, {}, [], 3),
        ({"parallelism": 3, "completions": 5}, {"succeeded": 4}, [], 1),
        ({"parallelism": 3, "completions": 5}, {}, ["Running"], 2),
        ({"parallelism": 3, "completions": 2}, {}, ["Succeeded"], 1),
        ({"parallelism": 3}, {}, ["Failed"], 3),
        ({"parallelism": 3}, {}, ["Succeeded"], 0),
        ({"parallelism": 3, "suspend": True}, {}, [], 0),
        ({"completions": 1}, {"conditions": [{"type": "Complete", "status": "True"}]}, [], 0),
        ({"completions": 1}, {"conditions": [{"type": "Failed", "status": "True"}]}, [], 0),
    ],
)
def test_a_job_runs_as_many_as_it_may_while_completions_are_missing(
    spec: dict[str, object], status: dict[str, object], pods: list[str], lack: int
) -> None:
    job = msgspec.convert({"metadata": META, "spec": {"template": TEMPLATE} | spec, "status": status}, Job)
    owned = tuple(pod(f"web-{n}", "Job", phase=phase) for n, phase in enumerate(pods))

    assert len(made(View(pods=owned), job)) == lack


def test_pods_of_a_job_carry_its_name_as_a_label() -> None:
    (made_,) = made(View(), workload(Job))

    assert made_.metadata.labels["batch.kubernetes.io/job-name"] == "web"


def test_a_view_that_lacks_nothing_stays_as_it_is() -> None:
    view = View()

    assert expand(view, [])[0] is view
