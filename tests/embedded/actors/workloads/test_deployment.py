"""Deployments: rollouts with their history, at the pace that availability allows."""

from typing import Any

from baseload.embedded.actors.workloads import making
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record
from tests.embedded.actors.workloads.playing import Play, image, workload


def sets(play: Play) -> dict[str, int]:
    """revision -> replicas wanted."""
    found = sorted(play.user.records("apps", "ReplicaSet").values(), key=revision)
    return {str(revision(held)): play.tree("apps", "ReplicaSet", held.name)["spec"]["replicas"] for held in found}


def revision(held: Record) -> int:
    return int(held.shared.annotations["deployment.kubernetes.io/revision"])


def told(play: Play) -> dict[str, Any]:
    tree = play.tree("apps", "Deployment", "web")
    conditions = {held["type"]: (held["status"], held["reason"]) for held in tree["status"].get("conditions", ())}
    return {**tree["status"], "conditions": conditions}


def annotations(play: Play, name: str) -> dict[str, str]:
    held: dict[str, str] = play.tree("apps", "ReplicaSet", name)["metadata"]["annotations"]
    return held


def test_a_new_deployment_has_one_replica_set_named_and_labelled_by_the_hash_of_its_template() -> None:
    play = Play()
    record = play.create(workload("Deployment", "web", 3))
    play.run(5)

    (held,) = play.user.records("apps", "ReplicaSet").values()
    hash = making.template_hash(making.template_of(record))
    assert held.name == f"web-{hash}"
    tree = play.tree("apps", "ReplicaSet", held.name)
    assert tree["metadata"]["labels"] == {"app": "web", "pod-template-hash": hash}
    assert tree["spec"]["selector"] == {"matchLabels": {"app": "web", "pod-template-hash": hash}}
    assert tree["spec"]["template"]["metadata"]["labels"] == {"app": "web", "pod-template-hash": hash}
    assert annotations(play, held.name) == {
        "deployment.kubernetes.io/revision": "1",
        "deployment.kubernetes.io/desired-replicas": "3",
        "deployment.kubernetes.io/max-replicas": "4",
    }
    assert told(play) == {
        "observedGeneration": 1,
        "replicas": 3,
        "updatedReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "terminatingReplicas": 0,
        "conditions": {
            "Available": ("True", "MinimumReplicasAvailable"),
            "Progressing": ("True", "NewReplicaSetAvailable"),
        },
    }


def test_the_steps_of_a_rollout_are_told_as_events() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 4))
    play.run(10)
    play.patch("apps", "Deployment", "web", image("nginx:2"))
    play.run(60)

    steps = [message for _, reason, message in play.events("web") if reason == "ScalingReplicaSet"]
    old, new = (message.split()[4] for message in steps[:2])
    assert steps[0] == f"Scaled up replica set {old} from 0 to 4"
    assert steps[1:3] == [
        f"Scaled up replica set {new} from 0 to 1",
        f"Scaled down replica set {old} from 4 to 3",
    ]
    assert steps[-1] == f"Scaled down replica set {old} from 1 to 0"
    assert sets(play) == {"1": 0, "2": 4}


def test_new_pods_that_never_get_ready_leave_what_must_be_available() -> None:
    play = Play()
    bounds = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    play.create(workload("Deployment", "web", 10, strategy=bounds, progressDeadlineSeconds=60))
    play.run(10)
    play.kubelet.is_broken = lambda pod: True
    play.patch("apps", "Deployment", "web", image("nginx:2"))
    play.run(30)

    assert sets(play) == {"1": 8, "2": 5}
    assert len(play.pods()) == 13
    assert told(play)["conditions"] == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "ReplicaSetUpdated"),
    }
    play.run(60)
    assert told(play)["conditions"]["Progressing"] == ("False", "ProgressDeadlineExceeded")
    assert sets(play) == {"1": 8, "2": 5}


def test_a_template_that_comes_back_takes_its_replica_set_up_again_under_the_next_revision() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 2))
    play.run(10)
    (first,) = play.user.records("apps", "ReplicaSet").values()
    play.patch("apps", "Deployment", "web", image("nginx:2"))
    play.run(20)
    play.patch("apps", "Deployment", "web", image("nginx:1"))
    play.run(20)

    assert sets(play) == {"2": 0, "3": 2}
    held = annotations(play, first.name)
    assert held["deployment.kubernetes.io/revision"] == "3"
    assert held["deployment.kubernetes.io/revision-history"] == "1"
    tree = play.tree("apps", "Deployment", "web")
    assert tree["metadata"]["annotations"] == {"deployment.kubernetes.io/revision": "3"}
    assert tree["metadata"]["generation"] == 3


def test_replicas_alone_make_no_revision() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 2))
    play.run(10)
    play.scale("Deployment", "web", 5)
    play.run(10)

    assert sets(play) == {"1": 5}
    assert (
        annotations(play, next(iter(play.user.records("apps", "ReplicaSet").values())).name)[
            "deployment.kubernetes.io/max-replicas"
        ]
        == "7"
    )


def test_a_deployment_that_grows_while_it_rolls_out_grows_in_proportion() -> None:
    play = Play()
    bounds = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    play.create(workload("Deployment", "web", 10, strategy=bounds))
    play.run(10)
    play.kubelet.is_broken = lambda pod: True
    play.patch("apps", "Deployment", "web", image("nginx:2"))
    play.run(10)
    assert sets(play) == {"1": 8, "2": 5}
    play.scale("Deployment", "web", 20)
    play.run(0)

    assert sets(play) == {"1": 14, "2": 9}


def test_recreate_waits_until_the_last_old_pod_is_gone() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 2, strategy={"type": "Recreate"}))
    play.run(10)
    play.kubelet.stop_after = 30
    play.patch("apps", "Deployment", "web", image("nginx:2"))
    play.run(29)
    assert play.pods() == []
    assert sets(play) == {"1": 0}
    play.run(5)

    assert sets(play) == {"1": 0, "2": 2}
    assert len(play.pods()) == 2


def test_a_paused_deployment_scales_but_does_not_roll_out() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 2))
    play.run(10)
    play.patch("apps", "Deployment", "web", {"spec": {"paused": True}})
    play.patch("apps", "Deployment", "web", image("nginx:2"))
    play.scale("Deployment", "web", 3)
    play.run(10)
    assert sets(play) == {"1": 3}
    assert told(play)["conditions"]["Progressing"] == ("Unknown", "DeploymentPaused")

    play.patch("apps", "Deployment", "web", {"spec": {"paused": False}})
    play.run(20)
    assert sets(play) == {"1": 0, "2": 3}
    assert told(play)["conditions"]["Progressing"] == ("True", "NewReplicaSetAvailable")


def test_old_revisions_are_kept_up_to_the_limit() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 1, revisionHistoryLimit=1))
    for number in range(2, 5):
        play.run(20)
        play.patch("apps", "Deployment", "web", image(f"nginx:{number}"))
    play.run(20)

    assert sets(play) == {"3": 0, "4": 1}


def test_a_name_that_another_owner_has_is_passed_over() -> None:
    play = Play()
    probe = play.create(workload("Deployment", "web", 1, paused=True))
    taken = making.template_hash(making.template_of(probe))
    other = workload("ReplicaSet", "other", 0)
    other["metadata"]["name"] = f"web-{taken}"
    play.create(other)
    play.patch("apps", "Deployment", "web", {"spec": {"paused": False}})
    play.run(20)

    assert told(play)["collisionCount"] == 1
    assert len(play.pods()) == 1
    assert play.pods()[0].shared.labels["pod-template-hash"] == making.template_hash(making.template_of(probe), 1)


def test_a_deployment_takes_up_the_replica_set_that_an_earlier_one_left_behind() -> None:
    play = Play()
    record = play.create(workload("Deployment", "web", 2))
    play.run(10)
    kept = {pod.name for pod in play.pods()}
    play.user.delete(record, Options(propagation="Orphan"))
    play.run(5)
    play.create(workload("Deployment", "web", 2))
    play.run(5)

    assert {pod.name for pod in play.pods()} == kept
    assert len(play.user.records("apps", "ReplicaSet")) == 1


def test_what_owns_the_pods_goes_with_the_deployment_and_so_do_they() -> None:
    play = Play()
    record = play.create(workload("Deployment", "web", 2))
    play.run(10)
    play.user.delete(record)
    play.run(10)

    assert play.pods() == []
    assert not play.user.records("apps", "ReplicaSet")


def test_a_status_is_written_only_when_it_says_something_new() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 2))
    play.run(60)
    version = play.cluster.store.version

    play.run(7200)

    assert play.cluster.store.version == version
