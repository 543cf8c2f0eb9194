"""Restarts, stops, probes, phases and conditions, with the worked examples (cluster-actors spec 19-21, 28.34-28.36)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.node.backoff import Backoff, restart
from baseload.decide.node.ending import Ending, ending
from baseload.decide.node.phases import Container, Role, Said, State, conditions, may_restart, phase
from baseload.decide.node.probes import Probe

S = 10**9


def test_a_container_that_crashes_at_once_starts_at_0_0_10_30_70_150_310_610_910() -> None:
    held: Backoff | None = None
    at, starts = 0, [0]
    for _ in range(8):
        at, held = restart(held, at)
        starts.append(at // S)

    assert starts == [0, 0, 10, 30, 70, 150, 310, 610, 910]


def test_more_than_ten_minutes_after_its_last_restart_a_crash_counts_as_the_first() -> None:
    held = Backoff(300 * S, 1000 * S)

    assert restart(held, 1600 * S) == (1900 * S, Backoff(300 * S, 1900 * S))
    assert restart(held, 1600 * S + 1) == (1600 * S + 1, Backoff(10 * S, 1600 * S + 1))


def test_the_longest_delay_can_be_set() -> None:
    assert restart(Backoff(4 * S, 0), 0, longest=5 * S) == (4 * S, Backoff(5 * S, 4 * S))
    assert restart(None, 7, longest=S) == (7, Backoff(S, 7))


def test_a_pre_stop_hook_runs_within_the_grace() -> None:
    never = 3600 * S
    assert ending(30 * S, 25 * S, never) == Ending(25 * S, 30 * S, is_killed=True)
    assert ending(30 * S, 40 * S, never) == Ending(30 * S, 32 * S, is_killed=True)
    assert ending(30 * S, 0, 2 * S) == Ending(0, 2 * S, is_killed=False)
    assert ending(0, 0, 2 * S) == Ending(0, 0, is_killed=True)
    assert (ending(30 * S, 0, never).exit_code(143), ending(30 * S, 0, 0).exit_code(0)) == (137, 0)


def test_a_hang_is_found_out_31_seconds_after_the_last_success() -> None:
    assert Probe().failure(0) == 31 * S
    assert Probe().failure(9 * S) == 31 * S
    assert Probe().failure(10 * S) == 41 * S


def test_a_probe_succeeds_at_its_first_attempt_after_delay_and_start() -> None:
    assert Probe().success(0) == 0
    assert Probe().success(1) == 10 * S
    assert Probe(initial_delay=5 * S, period=2 * S).success(0) == 6 * S
    assert Probe(period=3 * S, success_threshold=2).success(4 * S) == 9 * S


def of(name: str, state: State, code: int | None = None, role: Role = "main", *, ready: bool = False) -> Container:
    return Container(name, role, state, code, ready, state == "running")


@pytest.mark.parametrize(
    ("containers", "policy", "is_over", "expected"),
    [
        ([of("a", "waiting")], "Always", False, "Pending"),
        ([of("i", "running", role="init"), of("a", "waiting")], "Always", False, "Pending"),
        ([of("a", "running"), of("b", "waiting")], "Always", False, "Pending"),
        ([of("a", "running"), of("b", "waiting", 1)], "Always", False, "Running"),
        ([of("a", "waiting", 1)], "Always", False, "Running"),
        ([of("a", "terminated", 0)], "Always", False, "Running"),
        ([of("a", "terminated", 0)], "Always", True, "Succeeded"),
        ([of("a", "terminated", 143)], "Always", True, "Failed"),
        ([of("a", "terminated", 0)], "OnFailure", False, "Succeeded"),
        ([of("a", "waiting", 1)], "OnFailure", False, "Running"),
        ([of("a", "terminated", 1)], "Never", False, "Failed"),
        ([of("a", "terminated", 0), of("b", "running")], "Never", False, "Running"),
        ([of("a", "terminated", 0), of("b", "terminated", 3)], "Never", False, "Failed"),
        ([of("i", "terminated", 1, "init"), of("a", "waiting")], "Never", False, "Failed"),
        ([of("i", "waiting", 1, "init"), of("a", "waiting")], "OnFailure", False, "Pending"),
        ([of("s", "running", role="sidecar"), of("a", "waiting")], "Always", False, "Pending"),
        ([of("s", "running", role="sidecar"), of("a", "terminated", 0)], "Never", False, "Running"),
        ([of("s", "terminated", 137, "sidecar"), of("a", "terminated", 0)], "Never", False, "Succeeded"),
    ],
)
def test_phases(containers: list[Container], policy: str, is_over: bool, expected: str) -> None:
    assert phase(containers, policy, is_over=is_over) == expected


def test_what_starts_again() -> None:
    assert [may_restart(policy, code) for policy in ("Always", "OnFailure", "Never") for code in (0, 1)] == [
        True,
        True,
        False,
        True,
        False,
        False,
    ]


def test_conditions_name_the_containers_that_are_waited_for() -> None:
    starting = [of("i", "running", role="init"), of("a", "waiting"), of("b", "waiting")]
    unready = "containers with unready status: [a b]"

    assert conditions(starting, "Pending", has_sandbox=True) == (
        Said("PodReadyToStartContainers", True),
        Said("Initialized", False, "ContainersNotInitialized", "containers with incomplete status: [i]"),
        Said("Ready", False, "ContainersNotReady", unready),
        Said("ContainersReady", False, "ContainersNotReady", unready),
    )


def test_a_pod_is_ready_when_its_containers_are_and_its_gates_are_open() -> None:
    running = [of("a", "running", ready=True)]
    missing = 'corresponding condition of pod readiness gate "x/y" does not exist.'
    shut = 'the status of pod readiness gate "x/y" is not "True", but False'

    def ready(*gates: tuple[str, str]) -> Said:
        return conditions(running, "Running", has_sandbox=True, gates=gates)[2]

    assert ready() == ready(("x/y", "True")) == Said("Ready", True)
    assert ready(("x/y", "")) == Said("Ready", False, "ReadinessGatesNotReady", missing)
    assert ready(("x/y", "False")) == Said("Ready", False, "ReadinessGatesNotReady", shut)


def test_a_finished_pod_is_not_ready_and_says_why() -> None:
    done = conditions([of("a", "terminated", 0)], "Succeeded", has_sandbox=True)
    failed = conditions([of("a", "terminated", 1)], "Failed", has_sandbox=True)

    assert [(said.is_true, said.reason) for said in done] == [
        (False, ""),
        (True, "PodCompleted"),
        (False, "PodCompleted"),
        (False, "PodCompleted"),
    ]
    assert [(said.is_true, said.reason) for said in failed][2:] == [(False, "PodFailed"), (False, "PodFailed")]


@given(st.integers(0, 10**11), st.integers(0, 10**11), st.integers(0, 10**11))
def test_a_stop_always_ends_two_seconds_after_the_grace_at_most(grace: int, pre_stop: int, own: int) -> None:
    found = ending(grace, pre_stop, own)

    assert 0 <= found.term <= found.end <= grace + 2 * S
