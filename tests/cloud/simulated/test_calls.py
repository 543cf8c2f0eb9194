"""Calls take their time, are throttled as EC2's are, and fail as scripted."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from baseload.cloud.errors import CloudError, CloudUnreachable, InsufficientCapacity, QuotaExceeded, Throttled
from baseload.cloud.machines import Machines
from baseload.cloud.port import Cloud, Launched
from baseload.cloud.simulated.settings import FaultScript
from tests.cloud.simulated.clouds import Run


def outcomes(run: Run, count: int, call: Callable[[], Coroutine[Any, Any, object]]) -> list[str]:
    """What so many calls at one moment came to, by code; "" where all was well."""
    found = []
    for _ in range(count):
        try:
            run.ask(call())
            found.append("")
        except CloudError as error:
            found.append(error.code)
    return found


def test_a_bucket_lets_so_many_calls_through_at_once_and_then_its_rate() -> None:
    run = Run(limits={"DescribeInstances": {"size": 3, "refill": 2}})

    def describe() -> Coroutine[Any, Any, object]:
        return run.cloud.instances({})

    assert outcomes(run, 5, describe) == ["", "", "", "RequestLimitExceeded", "RequestLimitExceeded"]
    with pytest.raises(Throttled, match=r"Request limit exceeded\.") as caught:
        run.ask(describe())
    assert caught.value.retry_after == 0.5
    run.until(0.5)
    assert outcomes(run, 2, describe) == ["", "RequestLimitExceeded"]
    run.until(60)
    assert outcomes(run, 4, describe) == ["", "", "", "RequestLimitExceeded"]


def test_launches_are_limited_by_their_own_bucket_and_by_that_of_new_instances() -> None:
    run = Run(limits={"CreateFleet": {"size": 50, "refill": 5}, "RunInstances": {"size": 2, "refill": 1}})
    assert outcomes(run, 3, lambda: run.cloud.launch(run.fleet())) == ["", "", "RequestLimitExceeded"]


def test_by_default_launches_and_reads_have_ec2s_limits() -> None:
    run = Run(limits={})
    launches = outcomes(run, 60, lambda: run.cloud.launch(run.fleet()))
    reads = outcomes(run, 120, lambda: run.cloud.instances({}))
    assert (launches.count(""), reads.count("")) == (50, 100)


def test_a_call_takes_its_time_and_is_done_half_way() -> None:
    run = Run(latencies={"CreateFleet": "2s"})
    answered: list[float] = []

    async def launching() -> None:
        await run.cloud.launch(run.fleet())
        answered.append(run.seconds)

    run.clock.start(launching())
    run.until(0.9)
    assert len(list(run.cloud.region.inventory)) == 0
    run.until(1.1)
    assert (len(list(run.cloud.region.inventory)), answered) == (1, [])
    run.until(3)
    assert answered == [2]


def test_a_caller_who_ends_while_he_waits_has_launched_or_not() -> None:
    for ends, launched in ((0.5, 0), (1.5, 1)):
        run = Run(latencies={"CreateFleet": "2s"})

        async def launching(run: Run = run) -> None:
            await run.cloud.launch(run.fleet(token="claim-1"))

        task = run.clock.start(launching())
        run.until(ends)
        task.cancel()
        run.until(10)
        assert len(run.ask(run.cloud.instances({}))) == launched
        run.ask(run.cloud.launch(run.fleet(token="claim-1")))
        assert len(run.ask(run.cloud.instances({}))) == 1


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ("Throttled", "RequestLimitExceeded", "Request limit exceeded."),
        ("NotFound", "NotFound", "DescribeInstances: not found"),
        ("Unauthorized", "UnauthorizedOperation", "You are not authorized to perform this operation."),
        ("InvalidLaunch", "InvalidParameterValue", "DescribeInstances: a value is not valid"),
        ("Conflict", "IncorrectState", "DescribeInstances: not in this state"),
        ("CloudUnreachable", "RequestTimeout", "DescribeInstances: no answer"),
    ],
)
def test_every_kind_of_error_can_be_scripted(error: str, code: str, message: str) -> None:
    run = Run(faults=[{"call": "DescribeInstances", "error": error, "count": 1}])
    with pytest.raises(CloudError) as caught:
        run.ask(run.cloud.instances({}))
    assert (type(caught.value).__name__, caught.value.code, str(caught.value)) == (error, code, message)
    assert run.ask(run.cloud.instances({})) == ()


def test_faults_strike_by_count_after_some_that_go_well() -> None:
    run = Run(faults=[{"call": "DescribeInstances", "error": "NotFound", "skip": 2, "count": 3}])
    assert outcomes(run, 7, lambda: run.cloud.instances({})) == ["", "", "NotFound", "NotFound", "NotFound", "", ""]


def test_faults_strike_between_two_moments() -> None:
    run = Run(faults=[{"call": "CreateTags", "error": "Unauthorized", "from": "10s", "until": "20s"}])
    instance = run.ask(run.cloud.launch(run.fleet())).instance

    def tag() -> Coroutine[Any, Any, object]:
        return run.cloud.tag(instance.id, {"a": "b"})

    found = []
    for moment in (9, 10, 19, 20):
        run.until(moment)
        found += outcomes(run, 1, tag)
    assert found == ["", "UnauthorizedOperation", "UnauthorizedOperation", ""]


def test_faults_strike_a_share_of_the_calls_which_the_seed_decides() -> None:
    def struck(seed: int) -> list[str]:
        limits = {"DescribeInstances": "none"}
        faults = [{"call": "DescribeInstances", "error": "CloudUnreachable", "percent": 30}]
        run = Run(seed=seed, limits=limits, faults=faults)
        return outcomes(run, 200, lambda: run.cloud.instances({}))

    assert 40 <= sum(map(bool, struck(1))) <= 80
    assert struck(1) == struck(1) != struck(2)


def test_a_scripted_stockout_refuses_the_pools_that_are_meant_and_no_others() -> None:
    run = Run(faults=[{"call": "CreateFleet", "error": "InsufficientCapacity", "types": ["c5.*", "m6g.*"], "count": 1}])
    launched = run.ask(run.cloud.launch(run.fleet()))
    assert launched.instance.instance_type == "m5.large"
    assert {refusal.instance_type for refusal in launched.refusals} == {"c5.large", "m6g.large"}
    assert run.ask(run.cloud.launch(run.fleet())).instance.instance_type == "m6g.large"


@pytest.mark.parametrize(
    ("error", "kind"), [("InsufficientCapacity", InsufficientCapacity), ("QuotaExceeded", QuotaExceeded)]
)
def test_a_scripted_refusal_of_all_pools_is_the_error_of_its_kind(error: str, kind: type[InsufficientCapacity]) -> None:
    run = Run(faults=[{"call": "CreateFleet", "error": error}])
    with pytest.raises(InsufficientCapacity) as caught:
        run.ask(run.cloud.launch(run.fleet("m5.large")))
    assert (type(caught.value), len(caught.value.refusals)) == (kind, 3)


def test_a_call_can_be_late_and_its_answer_be_lost_after_it_was_done() -> None:
    run = Run(faults=[{"call": "CreateFleet", "delay": "30s", "lost": True, "count": 1}])
    with pytest.raises(CloudUnreachable, match="CreateFleet: no answer"):
        run.ask(run.cloud.launch(run.fleet()))
    assert run.seconds == 30
    (instance,) = run.ask(run.cloud.instances({}))
    assert instance.launched == run.cloud.region.start


def test_a_fault_can_be_added_during_the_run() -> None:
    run = Run()
    run.ask(run.cloud.instances({}))
    run.cloud.faults.add(FaultScript("DescribeInstances", "Unauthorized", count=1))
    assert outcomes(run, 2, lambda: run.cloud.instances({})) == ["UnauthorizedOperation", ""]


def test_calls_are_counted_by_their_names() -> None:
    run = Run(faults=[{"call": "TerminateInstances", "error": "NotFound"}])
    launched: Launched = run.ask(run.cloud.launch(run.fleet()))
    outcomes(run, 2, lambda: run.cloud.terminate(launched.instance.id))
    assert run.cloud.calls == {"CreateFleet": 1, "TerminateInstances": 2}


def test_the_simulated_cloud_is_a_cloud_with_machines() -> None:
    run = Run()
    asked: Cloud = run.cloud
    followed: Machines = run.cloud
    assert (run.ask(asked.instances({})), followed.machines()) == ((), ())
