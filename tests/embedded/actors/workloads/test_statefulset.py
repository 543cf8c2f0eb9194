"""StatefulSets on a cluster: names, claims, revisions, and what blocks them."""

from typing import Any

import pytest

from baseload.embedded.store.deletion import Options
from tests.embedded.actors.workloads.playing import Play, end, image, template, workload

CLAIMS = [
    {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
]


def names(play: Play) -> list[str]:
    return [pod.name for pod in play.pods()]


def status(play: Play) -> dict[str, Any]:
    told: dict[str, Any] = play.tree("apps", "StatefulSet", "db")["status"]
    return told


def claims(play: Play) -> list[str]:
    return sorted(held.name for held in play.user.records("", "PersistentVolumeClaim").values())


def test_pods_come_one_after_the_other_with_numbers_and_labels() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 3, serviceName="dbs"))
    play.run(0)
    assert names(play) == ["db-0"]
    play.run(1.5)
    assert names(play) == ["db-0", "db-1"]
    play.run(5)

    tree = play.tree("", "Pod", "db-2")
    revision = status(play)["currentRevision"]
    assert tree["metadata"]["labels"] == {
        "app": "db",
        "statefulset.kubernetes.io/pod-name": "db-2",
        "apps.kubernetes.io/pod-index": "2",
        "controller-revision-hash": revision,
    }
    assert (tree["spec"]["hostname"], tree["spec"]["subdomain"]) == ("db-2", "dbs")
    assert status(play) == {
        "replicas": 3,
        "availableReplicas": 3,
        "observedGeneration": 1,
        "readyReplicas": 3,
        "currentReplicas": 3,
        "updatedReplicas": 3,
        "currentRevision": revision,
        "updateRevision": revision,
        "collisionCount": 0,
    }
    assert ("Normal", "SuccessfulCreate", "create Pod db-0 in StatefulSet db successful") in play.events("db")


def test_each_pod_has_claims_of_its_own_that_stay_when_it_goes() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 2, volumeClaimTemplates=CLAIMS))
    play.run(5)
    assert claims(play) == ["data-db-0", "data-db-1"]
    volumes = play.tree("", "Pod", "db-1")["spec"]["volumes"]
    assert volumes[0] == {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}}
    assert play.tree("", "PersistentVolumeClaim", "data-db-1")["metadata"]["labels"] == {"app": "db"}

    play.scale("StatefulSet", "db", 1)
    play.run(5)
    assert (names(play), claims(play)) == (["db-0"], ["data-db-0", "data-db-1"])


def test_claims_go_with_their_pods_where_the_set_says_so() -> None:
    play = Play()
    policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    record = play.create(
        workload("StatefulSet", "db", 2, volumeClaimTemplates=CLAIMS, persistentVolumeClaimRetentionPolicy=policy)
    )
    play.run(5)
    play.scale("StatefulSet", "db", 1)
    play.run(5)
    assert claims(play) == ["data-db-0"]

    play.user.delete(record)
    play.run(5)
    assert claims(play) == []


def test_a_failed_pod_is_made_anew_under_its_name() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 1))
    play.run(5)
    (first,) = play.pods()
    end(play.user, first, 1)
    play.run(5)

    (second,) = play.pods()
    assert (second.name, second.uid != first.uid) == ("db-0", True)
    assert ("Warning", "RecreatingFailedPod", "StatefulSet default/db is recreating failed Pod db-0") in play.events(
        "db"
    )


def test_a_pod_that_never_ends_blocks_its_number_and_the_ones_behind() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 3))
    play.run(10)
    play.kubelet.stop_after = 10**6
    play.user.delete(play.pods()[1])
    play.user.delete(play.pods()[1])
    play.run(3600)

    assert names(play) == ["db-0"]


def test_a_pod_that_ends_on_a_dead_node_is_made_anew_only_when_it_is_gone_and_the_others_stay() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 3))
    play.run(10)
    lost, kept = play.pods()[1], play.pods()[2].uid
    play.kubelet.stop_after = 10**6
    play.user.delete(lost)
    play.run(3600)
    assert names(play) == ["db-0", "db-2"]

    play.kubelet.stop_after = 1
    play.user.delete(play.user.records("", "Pod")["default/db-1"], Options(grace_seconds=0))
    play.run(10)

    assert names(play) == ["db-0", "db-1", "db-2"]
    assert play.pods()[1].uid != lost.uid
    assert play.pods()[2].uid == kept


def test_an_update_renews_the_pods_from_the_highest_down() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 3))
    play.run(10)
    before = status(play)["currentRevision"]
    play.patch("apps", "StatefulSet", "db", image("nginx:2"))
    play.run(0)
    assert names(play) == ["db-0", "db-1"]
    assert status(play)["currentRevision"] == before
    play.run(20)

    told = status(play)
    assert (told["currentRevision"], told["updatedReplicas"]) == (told["updateRevision"], 3)
    assert told["updateRevision"] != before
    images = [play.tree("", "Pod", name)["spec"]["containers"][0]["image"] for name in names(play)]
    assert images == ["nginx:2"] * 3


@pytest.mark.parametrize("labels", [{}, {"controller-revision-hash": "db-5d8f7b96c4"}])
def test_a_pod_that_was_there_before_the_first_revision_is_of_it(labels: dict[str, str]) -> None:
    play = Play()
    there = {"name": "db-0", "labels": {"app": "db", **labels}}
    play.create({"apiVersion": "v1", "kind": "Pod", "metadata": there, "spec": template({"app": "db"})["spec"]})
    play.create(workload("StatefulSet", "db", 2))
    play.run(10)
    assert [pod.shared.labels["controller-revision-hash"] for pod in play.pods()[1:]] == [
        status(play)["currentRevision"]
    ]
    assert (play.pods()[0].shared.labels, status(play)["updatedReplicas"]) == (there["labels"], 2)
    play.patch("apps", "StatefulSet", "db", image("nginx:2"))
    play.run(20)
    images = [play.tree("", "Pod", name)["spec"]["containers"][0]["image"] for name in names(play)]
    assert images == ["nginx:2"] * 2, "a change renews it as it does all others"


def test_below_the_partition_the_old_revision_comes_back() -> None:
    play = Play()
    update = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    play.create(workload("StatefulSet", "db", 2, updateStrategy=update))
    play.run(10)
    play.patch("apps", "StatefulSet", "db", image("nginx:2"))
    play.run(10)
    play.user.delete(play.pods()[0])
    play.run(10)

    images = [play.tree("", "Pod", name)["spec"]["containers"][0]["image"] for name in names(play)]
    assert images == ["nginx:1", "nginx:2"]


def test_a_template_that_comes_back_has_its_revision_renumbered() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 1))
    for name in ("nginx:2", "nginx:1"):
        play.run(10)
        play.patch("apps", "StatefulSet", "db", image(name))
    play.run(10)

    held = play.user.records("apps", "ControllerRevision").values()
    assert sorted(play.tree("apps", "ControllerRevision", one.name)["revision"] for one in held) == [2, 3]


def test_old_revisions_go_when_nobody_uses_them() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 1, revisionHistoryLimit=1))
    for number in range(2, 6):
        play.run(10)
        play.patch("apps", "StatefulSet", "db", image(f"nginx:{number}"))
    play.run(10)

    held = play.user.records("apps", "ControllerRevision").values()
    assert sorted(play.tree("apps", "ControllerRevision", one.name)["revision"] for one in held) == [4, 5]


def test_nothing_is_written_when_nothing_happens() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 2))
    play.create(workload("DaemonSet", "agent"))
    play.run(60)
    version = play.cluster.store.version
    play.run(7200)

    assert play.cluster.store.version == version


def test_a_claim_that_is_deleted_stays_while_a_pod_uses_it() -> None:
    play = Play()
    play.create(workload("StatefulSet", "db", 1, volumeClaimTemplates=CLAIMS))
    play.run(5)
    (claim,) = play.user.records("", "PersistentVolumeClaim").values()
    play.user.delete(claim)
    play.run(5)
    assert claims(play) == ["data-db-0"]

    play.scale("StatefulSet", "db", 0)
    play.run(5)
    assert claims(play) == []
