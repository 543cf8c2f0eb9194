"""ReplicaSets: as many active pods as asked for, whatever happens to them."""

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads import making
from tests.embedded.actors.acting import Stage
from tests.embedded.actors.workloads.playing import Play, end, run, workload


def names(play: Play) -> list[str]:
    return [pod.name for pod in play.pods()]


def test_pods_are_made_in_batches_that_double() -> None:
    assert list(making.batches(10)) == [1, 2, 4, 3]


def test_after_an_error_no_further_batch_is_begun() -> None:
    stage = Stage()
    tried: list[int] = []
    kind = stage.user.kind("", "Pod")

    def make() -> None:
        tried.append(len(tried))
        if len(tried) == 2:
            stage.user.create(kind, "absent", b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}')

    made, error = making.slowly(10, make)

    assert (len(tried), made) == (3, 2)
    assert error is not None
    assert error.reason == "NotFound"


def test_pods_get_generated_names_and_a_controlling_owner() -> None:
    play = Play()
    owner = play.create(workload("ReplicaSet", "web", 2))
    play.run(5)

    tree = play.tree("", "Pod", names(play)[0])
    assert tree["metadata"]["generateName"] == "web-"
    assert len(tree["metadata"]["name"]) == len("web-") + 5
    assert tree["metadata"]["labels"] == {"app": "web"}
    assert tree["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "web",
            "uid": owner.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    assert sorted(play.events("web")) == [
        ("Normal", "SuccessfulCreate", f"Created pod: {name}") for name in names(play)
    ]


def test_terminating_and_failed_pods_are_replaced_at_once() -> None:
    play = Play()
    play.kubelet.stop_after = 30
    play.create(workload("ReplicaSet", "web", 2))
    play.run(5)
    deleted, failed = play.pods()

    play.user.delete(deleted)
    end(play.user, failed, 1)
    play.run(0)

    assert len([pod for pod in play.pods() if not pods.is_over(pod)]) == 2
    assert play.tree("apps", "ReplicaSet", "web")["status"]["terminatingReplicas"] == 1


def test_the_status_counts_active_ready_and_available_pods() -> None:
    play = Play()
    play.create(workload("ReplicaSet", "web", 3, minReadySeconds=10))
    play.run(0)
    assert play.tree("apps", "ReplicaSet", "web")["status"] == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }
    play.run(5)
    told = play.tree("apps", "ReplicaSet", "web")["status"]
    assert (told["readyReplicas"], told.get("availableReplicas")) == (3, None)
    play.run(7)
    assert play.tree("apps", "ReplicaSet", "web")["status"]["availableReplicas"] == 3


def test_the_pods_that_are_missed_least_go_when_it_shrinks() -> None:
    play = Play(with_kubelet=False)
    play.create(workload("ReplicaSet", "web", 3))
    play.run(1)
    a, b, c = play.pods()
    run(play.user, play.user.bind(a, "n1"))
    run(play.user, play.user.bind(b, "n1"), is_ready=False)
    play.run(1)

    play.scale("ReplicaSet", "web", 2)
    play.run(1)
    assert names(play) == [a.name, b.name]
    play.scale("ReplicaSet", "web", 1)
    play.run(1)
    assert names(play) == [a.name]
    assert ("Normal", "SuccessfulDelete", f"Deleted pod: {c.name}") in play.events("web")


def test_siblings_of_the_same_deployment_make_a_node_the_first_to_be_left() -> None:
    play = Play(with_kubelet=False)
    play.create(workload("Deployment", "web", 2, strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}))
    play.run(1)
    a, b = play.pods()
    for held, node in ((a, "n1"), (b, "n2")):
        run(play.user, play.user.bind(held, node))
    play.patch("apps", "Deployment", "web", {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}})
    play.run(1)
    (new,) = [pod for pod in play.pods() if pod.name not in (a.name, b.name)]

    run(play.user, play.user.bind(new, "n2"))
    play.run(1)

    assert b.name not in names(play)
    assert a.name in names(play)


def test_an_orphan_that_is_meant_is_adopted_and_a_pod_that_is_no_longer_meant_released() -> None:
    play = Play()
    tree = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mine", "labels": {"app": "web"}}}
    play.create({**tree, "spec": {"containers": [{"name": "main", "image": "nginx:1"}]}})
    play.create(workload("ReplicaSet", "web", 2))
    play.run(5)
    assert len(names(play)) == 2
    assert play.tree("", "Pod", "mine")["metadata"]["ownerReferences"][0]["name"] == "web"

    play.patch("", "Pod", "mine", {"metadata": {"labels": {"app": "other"}}})
    play.run(5)
    assert len(names(play)) == 3
    assert "ownerReferences" not in play.tree("", "Pod", "mine")["metadata"]


def test_what_keeps_pods_from_being_made_is_told_and_tried_again_later_and_later() -> None:
    play = Play()
    play.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "other"}})
    tree = workload("ReplicaSet", "web", 2)
    tree["spec"]["template"]["spec"]["serviceAccountName"] = "late"
    play.create(tree)
    play.run(1)

    refusal = 'pods "web-" is forbidden: error looking up service account default/late: serviceaccount "late" not found'
    (condition,) = play.tree("apps", "ReplicaSet", "web")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("ReplicaFailure", "True", "FailedCreate")
    assert condition["message"] == refusal
    assert play.events("web")[0] == ("Warning", "FailedCreate", f"Error creating: {refusal}")

    play.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "late"}})
    play.run(10)
    assert len(names(play)) == 2
    assert "conditions" not in play.tree("apps", "ReplicaSet", "web")["status"]


def test_the_pods_go_with_their_replica_set() -> None:
    play = Play()
    owner = play.create(workload("ReplicaSet", "web", 2))
    play.run(5)

    play.user.delete(owner)
    play.run(5)

    assert names(play) == []


def test_all_pods_but_the_first_share_their_spec() -> None:
    play = Play()
    play.create(workload("ReplicaSet", "web", 3))
    play.run(1)

    bodies = {id(pod.body) for pod in play.pods()}
    assert len(bodies) == 1
    assert msgspec.json.decode(b"{%b}" % play.pods()[0].body.raw)["spec"]["containers"][0]["image"] == "nginx:1"
