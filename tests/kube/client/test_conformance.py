"""A client gets the same objects and the same refusals in process and over HTTP."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from baseload.kube.client import errors
from baseload.kube.client.client import Client
from baseload.kube.client.errors import Cause
from baseload.kube.client.objects import Event
from baseload.kube.client.port import Resource
from baseload.kube.client.requests import PODS, Deletion, Selected, Writing
from baseload.kube.types.core import Pod
from tests.kube.client.conftest import Play

MAPS = Resource("", "v1", "configmaps")
NODES = Resource("", "v1", "nodes")
DEPLOYMENTS = Resource("apps", "v1", "deployments")
BUDGETS = Resource("policy", "v1", "poddisruptionbudgets")
POOLS = Resource("karpenter.sh", "v1", "nodepools")


def config(name: str, **data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def pod(name: str, **labels: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "nginx:1"}]},
    }


async def next_of(events: AsyncGenerator[Event, None]) -> Event:
    async with asyncio.timeout(10):
        return await anext(events)


def test_what_is_created_can_be_read_with_its_kind_and_metadata(play: Play) -> None:
    async def scenario(client: Client) -> None:
        created = await client.create(PODS, pod("web", app="web"), namespace="default")
        found = await client.get(PODS, "web", namespace="default")

        assert found.raw == created.raw
        assert (found.api_version, found.kind, found.key) == ("v1", "Pod", ("default", "web"))
        assert found.metadata.labels == {"app": "web"}
        assert found.metadata.uid
        assert found.read(Pod).spec.containers[0].name == "main"
        assert found.tree()["kind"] == "Pod"

    play(scenario)


def test_refusals_are_errors_of_their_kind_in_the_server_s_words(play: Play) -> None:
    async def scenario(client: Client) -> None:
        await client.create(MAPS, config("a"), namespace="default")
        with pytest.raises(errors.NotFound, match=r'^configmaps "b" not found$') as not_found:
            await client.get(MAPS, "b", namespace="default")
        assert (not_found.value.code, not_found.value.reason) == (404, "NotFound")
        with pytest.raises(errors.AlreadyExists, match=r'^configmaps "a" already exists$'):
            await client.create(MAPS, config("a"), namespace="default")
        with pytest.raises(errors.Invalid) as invalid:
            await client.create(MAPS, config("A_"), namespace="default")
        assert (invalid.value.code, invalid.value.causes[0].field) == (422, "metadata.name")
        with pytest.raises(errors.NotFound, match=r"^the server could not find the requested resource$"):
            await client.get(Resource("example.org", "v1", "things"), "x")
        with pytest.raises(errors.BadRequest, match="may not contain '/'"):
            await client.get(MAPS, "../a", namespace="default")
        with pytest.raises(errors.BadRequest, match=r"^resource name may not be empty$"):
            await client.delete(MAPS, "", namespace="default")

    play(scenario)


def test_an_update_of_an_elder_state_is_a_conflict(play: Play) -> None:
    async def scenario(client: Client) -> None:
        first = await client.create(MAPS, config("a", x="1"), namespace="default")
        second = await client.update(MAPS, "a", {**first.tree(), "data": {"x": "2"}}, namespace="default")
        assert second.tree()["data"] == {"x": "2"}
        with pytest.raises(errors.Conflict, match="the object has been modified") as conflict:
            await client.update(MAPS, "a", {**first.tree(), "data": {"x": "3"}}, namespace="default")
        assert not isinstance(conflict.value, errors.ApplyConflict)

    play(scenario)


def test_each_kind_of_patch_changes_what_it_says(play: Play) -> None:
    async def scenario(client: Client) -> None:
        await client.create(PODS, pod("web"), namespace="default")
        merge = {"metadata": {"labels": {"a": "1"}}}
        assert (await client.patch(PODS, "web", merge, kind="merge", namespace="default")).metadata.labels == {"a": "1"}
        operations: list[dict[str, object]] = [{"op": "replace", "path": "/metadata/labels/a", "value": "2"}]
        after = await client.patch(PODS, "web", operations, kind="json", namespace="default")
        assert after.metadata.labels == {"a": "2"}
        image = {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}
        after = await client.patch(PODS, "web", image, kind="strategic", namespace="default")
        assert after.read(Pod).spec.containers[0].name == "main"
        status = {"status": {"phase": "Running"}}
        after = await client.patch(PODS, "web", status, kind="merge", namespace="default", subresource="status")
        assert after.read(Pod).status.phase == "Running"

    play(scenario)


def test_apply_says_whose_field_it_is_and_can_be_forced(play: Play) -> None:
    async def scenario(client: Client) -> None:
        await client.apply(MAPS, "a", config("a", x="1"), namespace="default")
        other = Writing(manager="other")
        with pytest.raises(errors.ApplyConflict) as conflict:
            await client.apply(MAPS, "a", config("a", x="2"), namespace="default", writing=other)
        assert conflict.value.causes == (Cause("FieldManagerConflict", 'conflict with "baseload"', ".data.x"),)
        after = await client.apply(MAPS, "a", config("a", x="2"), namespace="default", writing=other, force=True)
        assert after.tree()["data"] == {"x": "2"}

    play(scenario)


def test_a_dry_run_leaves_nothing(play: Play) -> None:
    async def scenario(client: Client) -> None:
        trial = await client.create(MAPS, config("a"), namespace="default", writing=Writing(dry_run=True))
        assert trial.metadata.name == "a"
        with pytest.raises(errors.NotFound):
            await client.get(MAPS, "a", namespace="default")

    play(scenario)


def test_unknown_fields_are_refused_where_that_is_asked_for(play: Play) -> None:
    async def scenario(client: Client) -> None:
        wrong = {**config("a"), "dtaa": {}}
        with pytest.raises(errors.BadRequest, match='unknown field "dtaa"'):
            await client.create(MAPS, wrong, namespace="default", writing=Writing(validation="Strict"))

    play(scenario)


def test_a_list_in_pages_has_every_object_of_one_version(play: Play) -> None:
    async def scenario(client: Client) -> None:
        for number in range(7):
            await client.create(MAPS, config(f"m{number}"), namespace="default")
        seen: list[str] = []
        versions: set[str] = set()
        async with aclosing(client.pages(MAPS, Selected("default"), limit=3)) as pages:
            async for page in pages:
                seen += [object.metadata.name for object in page.objects]
                versions.add(page.version)
                await client.create(MAPS, config(f"late{len(seen)}"), namespace="default")
        assert [name for name in seen if name.startswith("m")] == [f"m{number}" for number in range(7)]
        assert not [name for name in seen if name.startswith("late")]
        assert len(versions) == 1

    play(scenario)


def test_items_of_a_list_are_as_a_get_has_them(play: Play) -> None:
    async def scenario(client: Client) -> None:
        made = await client.create(DEPLOYMENTS, deployment("web"), namespace="default")
        listed = await client.list(DEPLOYMENTS)
        assert [object.raw for object in listed.objects] == [made.raw]

    play(scenario)


def test_selectors_narrow_lists_watches_and_deletes(play: Play) -> None:
    async def scenario(client: Client) -> None:
        await client.create(PODS, pod("a", app="x"), namespace="default")
        await client.create(PODS, pod("b", app="y"), namespace="default")
        listed = await client.list(PODS, Selected("default", labels="app=x"))
        assert [object.metadata.name for object in listed.objects] == ["a"]
        named = await client.list(PODS, Selected("default", fields="metadata.name=b"))
        assert [object.metadata.name for object in named.objects] == ["b"]
        await client.delete_collection(PODS, Selected("default", labels="app=x"))
        left = await client.list(PODS)
        assert [object.metadata.name for object in left.objects] == ["b"]

    play(scenario)


def test_a_watch_tells_what_happens_after_a_version(play: Play) -> None:
    async def scenario(client: Client) -> None:
        before = await client.list(MAPS, Selected("default"))
        made = await client.create(MAPS, config("a", x="1"), namespace="default")
        async with aclosing(client.watch(MAPS, Selected("default"), version=before.version)) as events:
            first = await next_of(events)
            assert (first.type, first.object.raw) == ("ADDED", made.raw)
            await client.patch(MAPS, "a", {"data": {"x": "2"}}, kind="merge", namespace="default")
            second = await next_of(events)
            assert (second.type, second.object.tree()["data"]) == ("MODIFIED", {"x": "2"})
            await client.delete(MAPS, "a", namespace="default")
            assert (await next_of(events)).type == "DELETED"

    play(scenario)


def test_a_watch_can_begin_with_what_there_is(play: Play) -> None:
    async def scenario(client: Client) -> None:
        await client.create(MAPS, config("a"), namespace="default")
        async with aclosing(client.watch(MAPS, Selected("default"), initial=True)) as events:
            first, mark = await next_of(events), await next_of(events)
            assert (first.type, first.object.metadata.name) == ("ADDED", "a")
            assert (mark.type, mark.ends_initial) == ("BOOKMARK", True)
            assert int(mark.object.version) >= int(first.object.version)

    play(scenario)


def test_a_watch_ends_when_its_time_is_over(play: Play) -> None:
    async def scenario(client: Client) -> None:
        async with asyncio.timeout(10), aclosing(client.watch(MAPS, version="1", seconds=1)) as events:
            async for event in events:
                assert event.object.version

    play(scenario)


@pytest.mark.embedded_only  # a real server keeps silent until it has come so far
def test_a_version_that_is_yet_to_come_cannot_be_watched(play: Play) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(errors.Timeout, match="Too large resource version: 9999999") as ahead:
            async with aclosing(client.watch(MAPS, version="9999999")) as events:
                await next_of(events)
        assert ahead.value.causes[0].reason == "ResourceVersionTooLarge"

    play(scenario)


def test_a_pod_is_bound_once(play: Play) -> None:
    async def scenario(client: Client) -> None:
        made = await client.create(PODS, pod("web"), namespace="default")
        await client.bind("web", "n1", namespace="default", uid=made.metadata.uid)
        assert (await client.get(PODS, "web", namespace="default")).read(Pod).spec.node_name == "n1"
        with pytest.raises(errors.Conflict, match='already assigned to node "n1"'):
            await client.bind("web", "n2", namespace="default")

    play(scenario)


def test_an_eviction_is_refused_while_the_budget_has_nothing_left(play: Play) -> None:
    async def scenario(client: Client) -> None:
        await client.create(PODS, pod("web", app="web"), namespace="default")
        await client.bind("web", "n1", namespace="default")
        running = {"status": {"phase": "Running"}}
        await client.patch(PODS, "web", running, kind="merge", namespace="default", subresource="status")
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }
        await client.create(BUDGETS, budget, namespace="default")
        with pytest.raises(errors.TooManyRequests, match=r"^Cannot evict pod as it would violate") as refused:
            await client.evict("web", namespace="default")
        assert refused.value.causes[0].reason == "DisruptionBudget"
        await client.delete(BUDGETS, "web", namespace="default")
        await client.evict("web", namespace="default", options=Deletion(grace_seconds=0))
        with pytest.raises(errors.NotFound):
            await client.get(PODS, "web", namespace="default")

    play(scenario)


def test_scale_sets_the_replicas(play: Play) -> None:
    async def scenario(client: Client) -> None:
        await client.create(DEPLOYMENTS, deployment("web"), namespace="default")
        scale = await client.scale(DEPLOYMENTS, "web", 3, namespace="default")
        assert (scale.kind, scale.tree()["spec"]) == ("Scale", {"replicas": 3})
        read = await client.get(DEPLOYMENTS, "web", namespace="default", subresource="scale")
        assert read.tree()["spec"] == {"replicas": 3}

    play(scenario)


def test_a_delete_says_whether_the_object_is_gone(play: Play) -> None:
    async def scenario(client: Client) -> None:
        await client.create(MAPS, config("a"), namespace="default")
        held = {**config("b"), "metadata": {"name": "b", "finalizers": ["example.org/wait"]}}
        await client.create(MAPS, held, namespace="default")
        assert await client.delete(MAPS, "a", namespace="default") is None
        waiting = await client.delete(MAPS, "b", namespace="default")
        assert waiting is not None
        assert waiting.metadata.deletion_timestamp
        with pytest.raises(errors.Conflict, match="UID in the precondition"):
            await client.delete(MAPS, "b", namespace="default", options=Deletion(uid="another"))

    play(scenario)


def test_the_version_of_the_server_is_told(play: Play) -> None:
    async def scenario(client: Client) -> None:
        version = await client.version()
        assert (version.major, version.minor) == (1, 37)
        assert version.text.startswith("v1.37")

    play(scenario)


def deployment(name: str) -> dict[str, object]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "nginx:1"}]},
            },
        },
    }


def test_an_object_that_is_nested_too_deeply_is_a_bad_request(play: Play) -> None:
    async def scenario(client: Client) -> None:
        deep = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001
        with pytest.raises(errors.BadRequest):
            await client.create(MAPS, deep, namespace="default")

    play(scenario)
