"""The official Python client, which knows nothing of this program, works a server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic, watch

from tests.clients.objects import deployment, pod, pool
from tests.servers.port import Server

APPLY = "application/apply-patch+yaml"


@pytest.fixture
def api(server: Server, tmp_path: Path) -> Iterator[Any]:
    server.write_kubeconfig(tmp_path / "config")
    with config.new_client_from_config(str(tmp_path / "config")) as api:
        yield api


def names(listed: Any) -> list[str]:
    return [held.metadata.name for held in listed.items]


def test_lists_select_and_page(api: Any) -> None:
    core = client.CoreV1Api(api)
    for name in "abc":
        core.create_namespaced_pod("default", pod(name))

    page = core.list_namespaced_pod("default", limit=2)
    rest = core.list_namespaced_pod("default", limit=2, _continue=page.metadata._continue)

    assert (names(page), page.metadata.remaining_item_count, names(rest)) == (["a", "b"], 1, ["c"])
    assert names(core.list_namespaced_pod("default", label_selector="app in (a,c)")) == ["a", "c"]
    assert names(core.list_pod_for_all_namespaces(field_selector="metadata.name=b")) == ["b"]


def test_a_watch_tells_what_happened_since_a_version(api: Any) -> None:
    core = client.CoreV1Api(api)
    made = core.create_namespaced_config_map("default", {"metadata": {"name": "one"}, "data": {"a": "1"}})
    core.patch_namespaced_config_map("one", "default", {"data": {"a": "2"}})
    core.delete_namespaced_config_map("one", "default")

    told = []
    watching = watch.Watch()
    for event in watching.stream(
        core.list_namespaced_config_map, "default", resource_version=made.metadata.resource_version
    ):
        told.append((event["type"], event["object"].data))
        if event["type"] == "DELETED":
            watching.stop()

    assert told == [("MODIFIED", {"a": "2"}), ("DELETED", {"a": "2"})]


def test_apply_owns_fields_and_meets_conflicts(api: Any) -> None:
    deployments = dynamic.DynamicClient(api).resources.get(api_version="apps/v1", kind="Deployment")

    def apply(replicas: int, manager: str, *, force: bool = False) -> Any:
        body, options = deployment(replicas), {"field_manager": manager, "force_conflicts": force}
        return deployments.server_side_apply(body=body, name="web", namespace="default", **options)

    apply(2, "tests")
    again = apply(2, "tests")
    with pytest.raises(dynamic.exceptions.ConflictError) as refused:
        apply(3, "other")

    assert [held.manager for held in again.metadata.managedFields] == ["tests"]
    assert 'Apply failed with 1 conflict: conflict with \\"tests\\": .spec.replicas' in str(refused.value.body)
    assert apply(3, "other", force=True).spec.replicas == 3


def test_objects_are_patched_scaled_and_replaced(api: Any) -> None:
    apps = client.AppsV1Api(api)
    apps.create_namespaced_deployment("default", deployment(1))

    apps.patch_namespaced_deployment("web", "default", {"metadata": {"labels": {"tier": "front"}}})
    apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 5}})
    scale = apps.read_namespaced_deployment_scale("web", "default")
    held = apps.read_namespaced_deployment("web", "default")
    held.spec.replicas = 7
    replaced = apps.replace_namespaced_deployment("web", "default", held)
    with pytest.raises(client.ApiException) as refused:
        apps.replace_namespaced_deployment("web", "default", held)

    assert (scale.spec.replicas, scale.status.selector) == (5, "app=web")
    assert (replaced.spec.replicas, replaced.metadata.labels) == (7, {"tier": "front"})
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")


def test_an_eviction_takes_the_pod_away(api: Any) -> None:
    core = client.CoreV1Api(api)
    core.create_namespaced_pod("default", pod("a"))

    core.create_namespaced_pod_eviction("a", "default", client.V1Eviction(metadata={"name": "a"}))

    with pytest.raises(client.ApiException) as gone:
        core.read_namespaced_pod("a", "default")
    assert gone.value.status == 404


def test_deletes_cascade_and_select(api: Any) -> None:
    core, apps = client.CoreV1Api(api), client.AppsV1Api(api)
    apps.create_namespaced_deployment("default", deployment(1))
    for name in "ab":
        core.create_namespaced_pod("default", pod(name))

    told = apps.delete_namespaced_deployment("web", "default", propagation_policy="Background")
    core.delete_collection_namespaced_pod("default", label_selector="app=a")

    assert (told["status"], told["details"]["kind"], told["details"]["name"]) == ("Success", "deployments", "web")
    assert names(apps.list_namespaced_deployment("default")) == []
    assert names(core.list_namespaced_pod("default")) == ["b"]


def test_custom_resources_are_like_any_other(api: Any) -> None:
    custom = client.CustomObjectsApi(api)
    where = ("karpenter.sh", "v1", "nodepools")
    custom.create_cluster_custom_object(*where, pool("default"))
    custom.patch_cluster_custom_object(*where, "default", {"spec": {"weight": 20}})

    listed = custom.list_cluster_custom_object(*where)

    assert [held["spec"]["weight"] for held in listed["items"]] == [20]
    assert client.VersionApi(api).get_code().major == "1"
