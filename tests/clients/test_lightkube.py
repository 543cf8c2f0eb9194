"""lightkube, a client library that knows nothing of this program, works a server."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from lightkube import ApiError, Client, KubeConfig
from lightkube.generic_resource import create_global_resource
from lightkube.models.apps_v1 import DeploymentSpec
from lightkube.models.autoscaling_v1 import Scale, ScaleSpec
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import CascadeType, PatchType

from tests.clients.objects import pool
from tests.servers.port import Server

NodePool = create_global_resource("karpenter.sh", "v1", "NodePool", "nodepools")


@pytest.fixture
def client(server: Server, tmp_path: Path) -> Iterator[Client]:
    server.write_kubeconfig(tmp_path / "config")
    client = Client(config=KubeConfig.from_file(tmp_path / "config"), field_manager="tests")
    yield client
    client.close()


def deployment(replicas: int) -> Deployment:
    template = PodTemplateSpec(metadata=ObjectMeta(labels={"app": "web"}), spec=pod("web").spec)
    spec = DeploymentSpec(replicas=replicas, selector=LabelSelector(matchLabels={"app": "web"}), template=template)
    return Deployment(metadata=ObjectMeta(name="web"), spec=spec, apiVersion="apps/v1", kind="Deployment")


def pod(name: str) -> Pod:
    containers = [Container(name="main", image="nginx:1.25")]
    return Pod(metadata=ObjectMeta(name=name, labels={"app": name}), spec=PodSpec(containers=containers))


def names(listed: Iterable[Pod]) -> list[str]:
    return [held.metadata.name for held in listed if held.metadata and held.metadata.name]


def test_lists_select_and_page(client: Client) -> None:
    for name in "abc":
        client.create(pod(name))

    assert names(client.list(Pod)) == ["a", "b", "c"]
    assert names(client.list(Pod, chunk_size=1)) == ["a", "b", "c"]
    assert names(client.list(Pod, labels={"app": ["a", "c"]})) == ["a", "c"]
    assert names(client.list(Pod, fields={"metadata.name": "b"})) == ["b"]


def test_a_watch_tells_what_happened_since_a_version(client: Client) -> None:
    first = client.create(ConfigMap(metadata=ObjectMeta(name="one"), data={"a": "1"}))
    assert first.metadata is not None
    client.patch(ConfigMap, "one", {"data": {"a": "2"}}, patch_type=PatchType.MERGE)
    client.delete(ConfigMap, "one")

    events = client.watch(ConfigMap, resource_version=first.metadata.resourceVersion)
    (kind, changed), (end, gone) = next(events), next(events)

    assert (kind, changed.data) == ("MODIFIED", {"a": "2"})
    assert (end, gone.metadata and gone.metadata.name) == ("DELETED", "one")


def test_apply_owns_fields_and_meets_conflicts(client: Client) -> None:
    client.apply(deployment(2))
    again = client.apply(deployment(2))
    assert again.metadata is not None
    assert again.metadata.managedFields is not None
    assert [held.manager for held in again.metadata.managedFields] == ["tests"]

    with pytest.raises(ApiError) as refused:
        client.apply(deployment(3), field_manager="other")
    taken = client.apply(deployment(3), field_manager="other", force=True)

    assert refused.value.status.code == 409
    assert refused.value.status.message == 'Apply failed with 1 conflict: conflict with "tests": .spec.replicas'
    assert taken.spec is not None
    assert taken.spec.replicas == 3


def test_each_kind_of_patch_works(client: Client) -> None:
    client.create(deployment(1))

    client.patch(Deployment, "web", {"metadata": {"labels": {"tier": "front"}}})
    client.patch(Deployment, "web", {"spec": {"replicas": 4}}, patch_type=PatchType.MERGE)
    operations = [{"op": "add", "path": "/spec/paused", "value": True}]
    got = client.patch(Deployment, "web", operations, patch_type=PatchType.JSON)

    assert got.metadata is not None
    assert got.spec is not None
    assert (got.metadata.labels, got.spec.replicas, got.spec.paused) == ({"tier": "front"}, 4, True)


def test_scale_is_read_and_written(client: Client) -> None:
    client.create(deployment(1))

    scale = Deployment.Scale(metadata=ObjectMeta(name="web", namespace="default"), spec=ScaleSpec(replicas=6))
    client.replace(scale, "web")
    read: Scale = client.get(Deployment.Scale, "web")

    assert read.spec is not None
    assert read.spec.replicas == 6


def test_an_eviction_takes_the_pod_away(client: Client) -> None:
    client.create(pod("a"))

    client.create(Pod.Eviction(metadata=ObjectMeta(name="a", namespace="default")), "a")

    with pytest.raises(ApiError) as gone:
        client.get(Pod, "a")
    assert gone.value.status.message == 'pods "a" not found'


def test_deletes_cascade_and_take_collections(client: Client) -> None:
    client.create(deployment(1))
    for name in "ab":
        client.create(pod(name))

    client.delete(Deployment, "web", cascade=CascadeType.BACKGROUND)
    client.deletecollection(Pod)

    assert list(client.list(Deployment)) == []
    assert names(client.list(Pod)) == []


def test_custom_resources_are_like_any_other(client: Client) -> None:
    client.create(NodePool(**pool("default")))
    client.patch(NodePool, "default", {"spec": {"weight": 20}}, patch_type=PatchType.MERGE)

    (held,) = client.list(NodePool)

    assert held.spec["weight"] == 20
