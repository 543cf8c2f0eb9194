"""A pod's life on its node: admission, start, readiness, restarts, stops (cluster-actors spec 19-21)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.node.behaviour import Behaviour
from baseload.embedded.actors.kubelet.script import Rule, Script
from baseload.embedded.actors.pods import status
from baseload.embedded.store.deletion import Options
from tests.embedded.actors.running import Floor, asking, machine

S = 10**9


def test_a_pod_starts_two_seconds_after_its_kubelet_saw_it_and_is_ready() -> None:
    floor = Floor()
    floor.place("a")
    floor.run(1)
    assert (floor.status("a")["phase"], floor.container("a")["state"]) == (
        "Pending",
        {"waiting": {"reason": "ContainerCreating"}},
    )
    assert floor.said("a")["Ready"] == "False"
    floor.run(1.05)

    found = floor.status("a")
    assert (found["phase"], found["startTime"], found["hostIP"]) == ("Running", "2026-11-30T12:00:00Z", "172.16.0.1")
    assert floor.container("a")["state"] == {"running": {"startedAt": "2026-11-30T12:00:02Z"}}
    assert floor.said("a") == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
        "PodScheduled": "True",
    }
    assert [reason for reason, _, _ in floor.events("a")] == ["Pulled", "Created", "Started"]


def test_with_a_readiness_probe_it_is_ready_at_the_first_attempt_that_is_answered() -> None:
    floor = Floor()
    floor.place(
        "a",
        containers=[
            {"name": "main", "image": "i", "readinessProbe": {"periodSeconds": 4, "exec": {"command": ["ok"]}}}
        ],
    )
    floor.run(6)
    assert (floor.status("a")["phase"], floor.said("a")["Ready"]) == ("Running", "False")
    floor.run(0.1)
    assert floor.said("a")["Ready"] == "True"


def test_a_pod_that_finds_no_room_fails_and_stays() -> None:
    floor = Floor()
    floor.place("a", **asking(cpu="1500m"))
    floor.run(5)
    floor.place("b", **asking(cpu="500m"))
    floor.run(5)

    found = floor.status("b")
    why = "Node didn't have enough resource: cpu, requested: 500, used: 1500, capacity: 1930"
    assert (found["phase"], found["reason"], found["message"]) == ("Failed", "OutOfcpu", f"Pod was rejected: {why}")
    assert floor.events("b") == [("OutOfcpu", why, 1)]
    floor.delete("a")
    floor.delete("b")
    floor.run(0)
    assert floor.held("b") is None
    floor.run(2)
    floor.place("c", **asking(cpu="1900m"))
    floor.run(3)
    assert floor.status("c")["phase"] == "Running"


def test_room_is_taken_until_the_containers_have_ended() -> None:
    floor = Floor()
    floor.place("a", **asking(cpu="1500m"), annotations={"stops-after": "20"})
    floor.run(5)
    floor.delete("a")
    floor.run(10)
    floor.place("b", **asking(cpu="1500m"))
    floor.run(1)
    assert floor.status("b")["reason"] == "OutOfcpu"
    floor.run(10)
    floor.place("c", **asking(cpu="1500m"))
    floor.run(3)
    assert floor.status("c")["phase"] == "Running"


def test_a_crashing_container_starts_at_0_0_10_30_70_seconds() -> None:
    floor = Floor()
    floor.place("a", annotations={"exits-after": "0", "exit-code": "1"})
    floor.run(2.06)
    crashed = floor.container("a")
    pod = f"a_default({floor.stage.tree('', 'Pod', 'a')['metadata']['uid']})"
    assert crashed["restartCount"] == 2
    assert crashed["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": f"back-off 10s restarting failed container=main pod={pod}",
    }
    assert crashed["lastState"]["terminated"]["exitCode"] == 1
    assert (floor.status("a")["phase"], floor.said("a")["Ready"]) == ("Running", "False")

    counts = []
    for seconds in (10, 20, 40, 80):
        floor.run(seconds)
        counts.append(floor.container("a")["restartCount"])
    assert counts == [3, 4, 5, 6]
    assert "back-off 2m40s" in floor.container("a")["state"]["waiting"]["message"]
    _, message, count = next(event for event in floor.events("a") if event[0] == "BackOff")
    assert (message, count) == (f"Back-off restarting failed container main in pod {pod}", 5)


@pytest.mark.parametrize(
    ("policy", "code", "phase", "restarts"),
    [
        ("Never", 0, "Succeeded", 0),
        ("Never", 3, "Failed", 0),
        ("OnFailure", 0, "Succeeded", 0),
        ("OnFailure", 3, "Running", 2),
    ],
)
def test_policies(policy: str, code: int, phase: str, restarts: int) -> None:
    floor = Floor()
    floor.place("a", restartPolicy=policy, annotations={"exits-after": "5", "exit-code": str(code)})
    floor.run(15)

    assert (floor.status("a")["phase"], floor.container("a")["restartCount"]) == (phase, restarts)
    if phase == "Succeeded":
        assert floor.container("a")["state"]["terminated"]["reason"] == "Completed"


def test_a_container_that_fails_twice_goes_on_then() -> None:
    floor = Floor()
    floor.place("a", annotations={"exits-after": "1", "exit-code": "1", "exits": "2"})
    floor.run(60)

    assert (floor.container("a")["restartCount"], floor.container("a")["ready"]) == (2, True)


def test_init_containers_run_one_after_the_other_and_sidecars_beside_the_others() -> None:
    inits = [
        {"name": "one", "image": "i"},
        {"name": "side", "image": "i", "restartPolicy": "Always"},
        {"name": "two", "image": "i"},
    ]
    floor = Floor()
    floor.place("a", initContainers=inits)
    floor.run(2.06)

    def shown() -> list[str]:
        statuses = [*floor.status("a")["initContainerStatuses"], *floor.status("a")["containerStatuses"]]
        return [next(iter(one["state"])) for one in statuses]

    assert shown() == ["running", "waiting", "waiting", "waiting"]
    floor.run(1)
    assert shown() == ["terminated", "running", "running", "waiting"]
    assert floor.said("a")["Initialized"] == "False"
    floor.run(1)
    assert shown() == ["terminated", "running", "terminated", "running"]
    assert (floor.status("a")["phase"], floor.said("a")["Ready"]) == ("Running", "True")


def test_sidecars_end_after_the_others_and_do_not_keep_a_job_alive() -> None:
    inits = [{"name": name, "image": "i", "restartPolicy": "Always"} for name in ("s1", "s2")]
    floor = Floor()
    floor.place("a", initContainers=inits, restartPolicy="Never", annotations={"exits-after": "5"})
    floor.run(20)

    statuses = floor.status("a")["initContainerStatuses"]
    ends = [one["state"]["terminated"]["finishedAt"] for one in statuses]
    assert floor.status("a")["phase"] == "Succeeded"
    assert ends == ["2026-11-30T12:00:09Z", "2026-11-30T12:00:08Z"]


@pytest.mark.parametrize(
    ("grace", "hook", "stops_after", "seconds"),
    [(30, None, "1", 1), (30, None, "100", 30), (30, 25, "100", 30), (30, 40, "100", 32), (5, 2, "1", 3)],
)
def test_a_deleted_pod_is_gone_when_its_containers_have_stopped(
    grace: int, hook: int | None, stops_after: str, seconds: int
) -> None:
    container: dict[str, Any] = {"name": "main", "image": "i"}
    if hook is not None:
        container["lifecycle"] = {"preStop": {"exec": {"command": ["drain"]}}}
    floor = Floor()
    spec: dict[str, Any] = {"containers": [container], "terminationGracePeriodSeconds": grace}
    floor.place(
        "a", **spec, annotations={"stops-after": stops_after, **({"pre-stop-takes": str(hook)} if hook else {})}
    )
    floor.run(5)
    floor.delete("a")
    floor.run(seconds - 0.1)
    assert floor.held("a") is not None
    floor.run(0.2)
    assert floor.held("a") is None
    assert ("Killing", "Stopping container main", 1) in floor.events("a")


def test_a_second_delete_shortens_the_grace() -> None:
    floor = Floor()
    held = floor.place("a", annotations={"stops-after": "100"})
    floor.run(5)
    floor.delete("a")
    floor.run(5)
    floor.stage.user.delete(held, Options(grace_seconds=2))
    floor.run(1)
    assert floor.held("a") is not None
    floor.run(1.1)
    assert floor.held("a") is None


def test_a_forced_delete_frees_the_room() -> None:
    floor = Floor()
    held = floor.place("a", **asking(cpu="1900m"))
    floor.run(5)
    floor.stage.user.delete(held, Options(grace_seconds=0))
    floor.place("b", **asking(cpu="1900m"))
    floor.run(5)

    assert floor.status("b")["phase"] == "Running"


def test_a_pod_that_outlives_its_deadline_fails() -> None:
    floor = Floor()
    floor.place("a", activeDeadlineSeconds=10)
    floor.run(12)

    found = floor.status("a")
    assert (found["phase"], found["reason"]) == ("Failed", "DeadlineExceeded")
    assert found["message"] == "Pod was active on the node longer than the specified deadline"
    assert floor.container("a")["state"]["terminated"]["exitCode"] == 143


def test_a_hang_is_found_by_the_liveness_probe_and_by_the_readiness_probe() -> None:
    probes = {
        "livenessProbe": {"exec": {"command": ["ok"]}},
        "readinessProbe": {"exec": {"command": ["ok"]}, "failureThreshold": 1},
    }
    floor = Floor()
    floor.place("a", containers=[{"name": "main", "image": "i", **probes}], annotations={"hangs-after": "15"})
    floor.run(2.05 + 10.1)
    assert floor.said("a")["Ready"] == "True"
    floor.run(11)
    assert (floor.said("a")["Ready"], floor.container("a")["restartCount"]) == ("False", 0)
    floor.run(21)
    assert floor.container("a")["restartCount"] == 1
    messages = [message for _, message, _ in floor.events("a")]
    assert "Readiness probe failed: no answer in time" in messages
    assert "Container main failed liveness probe, will be restarted" in messages


def test_a_liveness_probe_that_is_faster_than_the_start_restarts_for_ever() -> None:
    probe = {"livenessProbe": {"exec": {"command": ["ok"]}, "periodSeconds": 5}}
    floor = Floor()
    floor.place("a", containers=[{"name": "main", "image": "i", **probe}], annotations={"answers-after": "60"})
    floor.run(120)

    assert floor.container("a")["restartCount"] >= 4


def test_over_its_memory_limit_a_container_is_killed_and_starts_again() -> None:
    resources = {"limits": {"memory": "256Mi"}}
    floor = Floor()
    floor.place("a", **asking(resources=resources), annotations={"real-memory": "0s:100Mi,100s:356Mi"})
    floor.run(2.05 + 60.9)
    assert floor.container("a")["restartCount"] == 0
    floor.run(0.2)

    found = floor.container("a")
    assert (found["restartCount"], found["lastState"]["terminated"]["reason"]) == (1, "OOMKilled")
    assert found["lastState"]["terminated"]["exitCode"] == 137


def test_a_rule_says_how_workloads_of_a_name_behave_and_annotations_go_before_it() -> None:
    script = Script((Rule(Behaviour(starts_after=10 * S), "slow*"),))
    floor = Floor(script=script)
    floor.place("slow-1")
    floor.place("slow-2", annotations={"starts-after": "1"})
    floor.place("other")
    floor.run(3)

    assert [floor.status(name)["phase"] for name in ("slow-1", "slow-2", "other")] == ["Pending", "Running", "Running"]


def test_annotations_that_cannot_be_read_are_told_and_passed_over() -> None:
    floor = Floor()
    floor.place("a", annotations={"exit-code": "x"})
    floor.run(3)

    assert floor.status("a")["phase"] == "Running"
    why = "metadata.annotations[baseload.dev/exit-code]: is no whole number from 0 to 255"
    assert floor.events("a")[0] == ("InvalidBehaviour", why, 1)


def test_usage_is_what_the_running_containers_use() -> None:
    floor = Floor()
    floor.place("a", **asking("100Mi", "100m"))
    floor.run(3)
    held = floor.held("a")
    assert held is not None

    assert floor.kubelets.usage(held) == {"main": {"cpu": 60 * 10**6, "memory": 60 * 2**20 * S}}


def test_conditions_of_others_stay() -> None:
    floor = Floor()
    held = floor.place("a", readinessGates=[{"conditionType": "x/y"}], annotations={"exits-after": "9", "exits": "1"})
    floor.run(3)
    assert (floor.said("a")["ContainersReady"], floor.said("a")["Ready"]) == ("True", "False")
    floor.stage.user.merge(
        held,
        {"status": {"conditions": [*floor.status("a")["conditions"], {"type": "x/y", "status": "True"}]}},
        "status",
    )
    floor.run(10)

    assert (floor.said("a")["x/y"], floor.said("a")["Ready"]) == ("True", "True")


PHASES = {"Pending": 0, "Running": 1, "Succeeded": 2, "Failed": 2}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("Always", "OnFailure", "Never")),
            st.sampled_from((None, "0", "3", "40")),
            st.sampled_from(("0", "1")),
            st.sampled_from((None, 0, 1, 7, 60)),
            st.sampled_from(("0", "4", "90")),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_phases_only_go_forward_ready_follows_the_containers_and_deleted_pods_end(
    drawn: list[tuple[str, str | None, str, int | None, str]],
) -> None:
    floor = Floor(machine("n1"))
    seen = floor.stage.user.subscribe("", "Pod", ("status",), lambda: None)
    for index, (policy, exits, code, _, stops) in enumerate(drawn):
        said = {"exit-code": code, "stops-after": stops, **({"exits-after": exits} if exits else {})}
        floor.place(f"p{index}", restartPolicy=policy, annotations=said)
    for second in range(80):
        floor.run(1)
        for index, (_, _, _, deleted, _) in enumerate(drawn):
            if deleted == second:
                floor.delete(f"p{index}")
    floor.run(120)

    phases: dict[str, int] = {}
    for event in seen.take():
        told = status(event.record)
        assert phases.get(event.record.name, 0) <= PHASES[told.phase]
        phases[event.record.name] = PHASES[told.phase]
        ready = told.condition("Ready")
        assert ready is not None
        running = all(one.ready for one in told.container_statuses)
        assert (ready.status == "True") is (running and told.phase == "Running")
    for index, (_, _, _, deleted, _) in enumerate(drawn):
        assert (floor.held(f"p{index}") is None) is (deleted is not None)


def test_a_kubelet_manages_its_own_conditions_and_the_address_of_that_very_pod() -> None:
    floor = Floor()
    for name in ("a", "b"):
        floor.place(name)
    floor.run(3)

    for name in ("a", "b"):
        tree = floor.stage.tree("", "Pod", name)
        (entry,) = (one for one in tree["metadata"]["managedFields"] if one["manager"] == "kubelet")
        fields = entry["fieldsV1"]["f:status"]
        assert set(fields["f:podIPs"]) == {".", f'k:{{"ip":"{tree["status"]["podIP"]}"}}'}
        assert set(fields["f:conditions"]) == {
            ".",
            *(
                f'k:{{"type":"{type}"}}'
                for type in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
            ),
        }
