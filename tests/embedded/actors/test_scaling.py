"""An actor that scales what it made: as a patch would, at the price of a write."""

from typing import Any

import msgspec

from baseload.embedded.actors.client import ActorClient
from tests.embedded.actors.acting import Stage
from tests.embedded.actors.workloads.playing import workload


def told(stage: Stage, name: str) -> dict[str, Any]:
    """A ReplicaSet without what tells it from others."""
    tree = stage.tree("apps", "ReplicaSet", name)
    for key in ("name", "uid", "resourceVersion"):
        del tree["metadata"][key]
    return tree


def test_a_size_that_is_its_own_is_written_as_a_patch_would_have() -> None:
    stage = Stage()
    controller = ActorClient(stage.cluster, "kube-controller-manager")
    kind = controller.kind("apps", "ReplicaSet")
    for name in ("one", "two"):
        tree = workload("ReplicaSet", "web", 3)
        tree["metadata"] = {"name": name, "annotations": {"a": "1"}}
        controller.create(kind, "default", msgspec.json.encode(tree))
    stage.run(60)

    one, two = (stage.cluster.store.get(kind.resource, "default", name) for name in ("one", "two"))
    controller.scale(one, 5, {"a": "2"})
    controller.merge(two, {"spec": {"replicas": 5}, "metadata": {"annotations": {"a": "2"}}})

    assert told(stage, "one") == told(stage, "two")
    assert told(stage, "one")["metadata"]["generation"] == 2
    assert told(stage, "one")["metadata"]["managedFields"][0]["time"] == "2026-11-30T12:01:00Z"


def test_a_size_that_another_set_becomes_its_own_by_a_patch() -> None:
    stage = Stage()
    controller = ActorClient(stage.cluster, "kube-controller-manager")
    held = stage.create(workload("ReplicaSet", "web", 3))

    controller.scale(held, 5, {"a": "1"})

    entries = {entry["manager"]: entry["fieldsV1"] for entry in told(stage, "web")["metadata"]["managedFields"]}
    assert entries["kube-controller-manager"] == {
        "f:metadata": {"f:annotations": {".": {}, "f:a": {}}},
        "f:spec": {"f:replicas": {}},
    }
    assert "f:replicas" not in entries["user"]["f:spec"]


def test_annotations_written_with_a_status_are_not_counted_as_a_generation() -> None:
    stage = Stage()
    controller = ActorClient(stage.cluster, "kube-controller-manager")
    held = stage.create(workload("Deployment", "web", 1))

    record = controller.annotate(held, {"deployment.kubernetes.io/revision": "1"})

    assert (record.generation, record.shared.annotations) == (1, {"deployment.kubernetes.io/revision": "1"})
