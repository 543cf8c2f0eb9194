"""Jobs: enough successes, few enough failures, and a wait after each."""

from typing import Any

import msgspec
import pytest

from baseload.embedded.actors import pods
from baseload.embedded.actors.pods import Condition
from baseload.embedded.actors.workloads import indexes, trials
from baseload.embedded.actors.workloads.readings import JobSpec
from baseload.embedded.actors.workloads.trials import Failures
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record
from baseload.values import instant
from baseload.values.instant import SECOND
from tests.embedded.actors.acting import START
from tests.embedded.actors.workloads.playing import Play, end, run


def job(name: str = "work", **spec: Any) -> dict[str, Any]:
    template = {
        "spec": {"restartPolicy": spec.pop("restart", "Never"), "containers": [{"name": "main", "image": "nginx:1"}]}
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def status(play: Play, name: str = "work") -> dict[str, Any]:
    told: dict[str, Any] = play.tree("batch", "Job", name)["status"]
    return told


def conditions(play: Play) -> dict[str, str]:
    return {
        held["type"]: held.get("reason", "") for held in status(play).get("conditions", ()) if held["status"] == "True"
    }


def births(play: Play) -> list[float]:
    made = sorted(pod.created for pod in play.user.records("", "Pod").values())
    return [(instant.parse(created) - START) / SECOND for created in made]


def test_a_job_is_complete_when_enough_pods_have_succeeded() -> None:
    play = Play()
    play.kubelet.exits = lambda pod: 0
    play.create(job(completions=3, parallelism=2))
    play.run(0)
    assert (status(play)["active"], len(play.pods())) == (2, 2)
    play.run(10)

    told = status(play)
    assert conditions(play) == {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}
    assert (told["succeeded"], told["startTime"], told["completionTime"]) == (
        3,
        "2026-11-30T12:00:00Z",
        "2026-11-30T12:00:02Z",
    )
    assert (told["ready"], told["terminating"], told["uncountedTerminatedPods"]) == (0, 0, {})
    assert all(not pod.finalizers for pod in play.pods())
    assert ("Normal", "Completed", "Job completed") in play.events("work")


def test_a_pod_is_held_until_it_is_counted() -> None:
    play = Play()
    play.create(job())
    play.run(5)
    (pod,) = play.pods()
    assert pod.finalizers == ("batch.kubernetes.io/job-tracking",)
    assert pod.shared.labels["batch.kubernetes.io/job-name"] == "work"

    play.user.delete(pod)
    play.run(20)

    assert status(play)["failed"] == 1
    assert pod.uid not in [held.uid for held in play.pods()]


def test_after_each_failure_in_a_row_a_job_waits_twice_as_long_until_its_limit() -> None:
    play = Play()
    play.kubelet.ready_after = 0
    play.kubelet.exits = lambda pod: 1
    play.create(job(backoffLimit=6))
    play.run(2000)

    assert births(play) == [0, 10, 30, 70, 150, 310, 630]
    assert status(play)["failed"] == 7
    assert conditions(play) == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
    reason = ("Warning", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    assert reason in play.events("work")


def test_the_wait_ends_at_ten_minutes_and_a_success_makes_the_next_failure_the_first() -> None:
    assert [trials.wait(failures) // SECOND for failures in (1, 2, 6, 7, 50)] == [10, 20, 320, 600, 600]
    assert Failures(3, 50).after([100], [90]) == Failures()
    assert Failures(3, 50).after([100], [90, 110, 120]) == Failures(2, 120)
    assert Failures(3, 50).after([], [60]) == Failures(4, 60)


def test_restarts_in_place_count_towards_the_limit() -> None:
    play = Play(with_kubelet=False)
    play.create(job(backoffLimit=2, restart="OnFailure"))
    play.run(1)
    (pod,) = play.pods()
    told = pods.PodStatus("Running", container_statuses=(pods.ContainerStatus("main", "nginx:1", restart_count=1),))
    pod = play.user.write_status(play.user.bind(pod, "n1"), told, "once")
    play.run(1)
    assert conditions(play) == {}
    again = (pods.ContainerStatus("main", "nginx:1", restart_count=2),)
    play.user.write_status(pod, msgspec.structs.replace(told, container_statuses=again), "once")
    play.run(1)

    assert conditions(play) == {"FailureTarget": "BackoffLimitExceeded"}


def test_a_job_is_failed_only_when_its_last_pod_has_ended() -> None:
    play = Play()
    play.kubelet.stop_after = 30
    play.create(job(activeDeadlineSeconds=60))
    play.run(61)
    assert conditions(play) == {"FailureTarget": "DeadlineExceeded"}
    assert (status(play).get("active"), status(play)["terminating"]) == (None, 1)
    play.run(40)

    assert conditions(play) == {"FailureTarget": "DeadlineExceeded", "Failed": "DeadlineExceeded"}
    assert ("Warning", "DeadlineExceeded", "Job was active longer than specified deadline") in play.events("work")


def test_a_suspended_job_has_no_pods_and_no_start_until_it_is_resumed() -> None:
    play = Play()
    play.create(job(suspend=True))
    play.run(5)
    assert play.pods() == []
    assert "startTime" not in status(play)
    assert conditions(play) == {"Suspended": "JobSuspended"}
    play.patch("batch", "Job", "work", {"spec": {"suspend": False}})
    play.run(5)
    assert len(play.pods()) == 1
    assert status(play)["startTime"] == "2026-11-30T12:00:05Z"
    play.patch("batch", "Job", "work", {"spec": {"suspend": True}})
    play.run(5)

    assert play.pods() == []
    assert "startTime" not in status(play)


def test_without_a_number_one_success_is_enough_and_no_pod_is_made_after_it() -> None:
    play = Play()
    play.create(job(parallelism=3))
    play.run(5)
    a, b, c = play.pods()
    end(play.user, a, 0)
    play.run(5)
    assert len(play.pods()) == 3
    assert conditions(play) == {}
    end(play.user, b, 0)
    end(play.user, c, 1)
    play.run(5)

    assert "Complete" in conditions(play)


def test_indexed_pods_carry_their_number_and_the_lowest_missing_come_first() -> None:
    play = Play()
    play.create(job(completions=4, parallelism=2, completionMode="Indexed"))
    play.run(5)
    first, second = play.pods()
    tree = play.tree("", "Pod", first.name)
    assert first.name.startswith("work-0-")
    assert tree["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == "0"
    assert tree["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "0"
    assert tree["spec"]["hostname"] == "work-0"
    assert tree["spec"]["containers"][0]["env"] == [
        {
            "name": "JOB_COMPLETION_INDEX",
            "valueFrom": {
                "fieldRef": {
                    "apiVersion": "v1",
                    "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']",
                }
            },
        }
    ]
    end(play.user, second, 0)
    play.run(5)
    assert [pod.name[:7] for pod in play.pods() if not pods.is_over(pod)] == ["work-0-", "work-2-"]
    assert status(play)["completedIndexes"] == "1"


def test_a_limit_for_each_index_fails_that_index_alone() -> None:
    play = Play()
    play.kubelet.exits = lambda pod: int(pod.name.startswith("work-1-"))
    play.create(job(completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=1))
    play.run(60)

    told = status(play)
    assert (told["completedIndexes"], told["failedIndexes"]) == ("0,2", "1")
    assert conditions(play) == {"FailureTarget": "FailedIndexes", "Failed": "FailedIndexes"}
    tried = [pod for pod in play.pods() if pod.name.startswith("work-1-")]
    assert sorted(pod.shared.annotations["batch.kubernetes.io/job-index-failure-count"] for pod in tried) == ["0", "1"]


def test_a_success_policy_ends_a_job_early() -> None:
    play = Play()
    play.create(
        job(
            completions=3,
            parallelism=3,
            completionMode="Indexed",
            successPolicy={"rules": [{"succeededIndexes": "0", "succeededCount": 1}]},
        )
    )
    play.run(5)
    end(play.user, play.pods()[0], 0)
    play.run(10)

    assert conditions(play) == {"SuccessCriteriaMet": "SuccessPolicy", "Complete": "SuccessPolicy"}
    assert len(play.pods()) == 1


def test_a_failure_policy_fails_a_job_at_once_or_passes_a_failure_over() -> None:
    rules = [
        {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    ]
    play = Play()
    play.create(job(backoffLimit=0, podFailurePolicy={"rules": rules}))
    play.run(5)
    (pod,) = play.pods()
    disrupted = pods.status(pod).with_condition(Condition("DisruptionTarget", "True"))
    pod = play.user.write_status(pod, msgspec.structs.replace(pods.status(pod), conditions=disrupted), "disrupted")
    end(play.user, pod, 137)
    play.run(5)
    (second,) = [held for held in play.pods() if held.uid != pod.uid]
    assert "failed" not in status(play)

    end(play.user, second, 42)
    play.run(5)
    assert conditions(play)["Failed"] == "PodFailurePolicy"
    message = f"Container main for pod default/{second.name} failed with exit code 42 matching FailJob rule at index 0"
    assert ("Warning", "PodFailurePolicy", message) in play.events("work")


def test_a_pod_that_is_being_deleted_is_replaced_at_once_or_when_it_has_failed() -> None:
    for policy, active in (("TerminatingOrFailed", 1), ("Failed", 0)):
        play = Play()
        play.kubelet.stop_after = 100
        play.create(job(podReplacementPolicy=policy))
        play.run(5)
        play.user.delete(play.pods()[0])
        play.run(20)
        assert status(play).get("active", 0) == active, policy


def test_a_finished_job_goes_after_its_time_to_live_with_its_pods() -> None:
    play = Play()
    play.kubelet.exits = lambda pod: 0
    play.create(job(ttlSecondsAfterFinished=60))
    play.run(60)
    assert len(play.pods()) == 1
    play.run(5)

    assert not play.user.records("batch", "Job")
    assert play.pods() == []


def test_the_pods_of_a_job_that_is_gone_are_let_go() -> None:
    play = Play()
    record = play.create(job())
    play.run(5)
    play.user.delete(record, Options(propagation="Background"))
    play.run(5)

    assert not play.user.records("", "Pod")


@pytest.mark.parametrize(
    ("found", "text"), [(set(), ""), ({1}, "1"), ({0, 1}, "0,1"), ({0, 1, 2, 5, 7, 8, 9}, "0-2,5,7-9")]
)
def test_indexes_are_written_as_ranges(found: set[int], text: str) -> None:
    assert indexes.format(found) == text
    assert indexes.parse(text, 10) == found


def test_how_many_pods_are_to_be_active() -> None:
    assert trials.wanted(JobSpec(parallelism=5, completions=3), active=0, succeeded=1) == 2
    assert trials.wanted(JobSpec(parallelism=2, completions=3), active=0, succeeded=0) == 2
    assert trials.wanted(JobSpec(parallelism=4, completions=None), active=2, succeeded=1) == 2


def test_a_job_that_gets_smaller_loses_the_pods_that_have_got_least_far() -> None:
    play = Play(with_kubelet=False)
    play.create(job(parallelism=2, completions=5))
    play.run(1)
    first, second = play.pods()
    run(play.user, play.user.bind(first, "n1"))
    play.patch("batch", "Job", "work", {"spec": {"parallelism": 1}})
    play.run(1)

    assert [held.name for held in play.pods()] == [first.name]
    assert ("Normal", "SuccessfulDelete", f"Deleted pod: {second.name}") in play.events("work")


def test_a_pod_ended_when_its_last_container_did_else_when_it_was_deleted() -> None:
    play = Play(with_kubelet=False)
    play.create(job())
    play.run(1)
    pod: Record = play.pods()[0]
    assert trials.finished_at(pod) == START
    play.run(10)
    assert trials.finished_at(end(play.user, pod, 1)) == START + 11 * SECOND
