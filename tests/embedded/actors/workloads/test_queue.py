"""The work queue: each key once, at its moment, later after each failure."""

from baseload.embedded.actors.workloads.queue import WorkQueue, retry_after
from baseload.values.instant import SECOND


def test_a_key_that_is_added_twice_is_looked_at_once() -> None:
    queue = WorkQueue()
    for key in ("b", "a", "b"):
        queue.add(key)

    assert queue.next(0) == 0
    assert queue.take(0) == ["b", "a"]
    assert queue.next(0) is None


def test_a_key_comes_at_the_earliest_of_its_moments_and_only_then() -> None:
    queue = WorkQueue()
    queue.add_at("a", 20)
    queue.add_at("a", 10)
    queue.add_at("a", 30)

    assert queue.next(0) == 10
    assert [queue.take(moment) for moment in (9, 10, 40)] == [[], ["a"], []]


def test_failures_put_a_key_off_from_5_ms_on_twice_as_long_each_time_up_to_1000_s() -> None:
    waits = [retry_after(failures) / SECOND for failures in range(1, 21)]

    assert waits[:4] == [0.005, 0.01, 0.02, 0.04]
    assert waits[-3:] == [655.36, 1000, 1000]


def test_a_success_makes_the_next_failure_the_first() -> None:
    queue = WorkQueue()
    queue.failed("a", 0)
    queue.failed("a", SECOND)
    queue.forget("a")
    queue.take(10 * SECOND)
    queue.failed("a", 10 * SECOND)

    assert queue.next(0) == 10 * SECOND + 5_000_000
