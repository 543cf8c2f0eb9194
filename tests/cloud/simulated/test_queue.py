"""The interruption queue: what is received comes again unless it is deleted."""

import pytest

from baseload.cloud.errors import NotFound
from tests.cloud.simulated.clouds import START, Run


def put(run: Run, *bodies: str) -> None:
    for body in bodies:
        run.cloud.region.queue.put(body, run.clock.now())


def received(run: Run, most: int = 10) -> list[str]:
    return [message.body for message in run.ask(run.cloud.receive(most=most, seconds=0))]


def test_a_received_message_is_hidden_and_comes_again_unless_it_is_deleted() -> None:
    run = Run(queue={"visibility": "20s"})
    put(run, "one", "two")
    first, second = run.ask(run.cloud.receive(seconds=0))
    assert received(run) == []
    run.ask(run.cloud.delete_message(first.receipt))
    run.until(30)

    (again,) = run.ask(run.cloud.receive(seconds=0))
    assert (again.body, second.body) == ("two", "two")
    assert again.receipt != second.receipt
    run.ask(run.cloud.delete_message(second.receipt))
    run.until(60)
    assert received(run) == []


def test_no_more_are_received_than_asked_for_in_their_order() -> None:
    run = Run()
    put(run, *"abcde")
    assert (received(run, 2), received(run, 2), received(run, 2)) == (["a", "b"], ["c", "d"], ["e"])


def test_whoever_waits_is_answered_when_a_message_comes_or_his_time_is_over() -> None:
    run = Run(latencies={"ReceiveMessage": "0s"})
    answered: list[tuple[float, int]] = []

    async def receiving(seconds: float) -> None:
        messages = await run.cloud.receive(seconds=seconds)
        answered.append((run.seconds, len(messages)))

    run.clock.start(receiving(5))
    run.clock.start(receiving(20))
    run.until(8)
    put(run, "late")
    run.until(60)
    assert answered == [(5, 0), (8, 1)]


def test_a_message_can_be_late() -> None:
    run = Run(queue={"delay": "10s"})
    put(run, "late")
    assert received(run) == []
    messages = run.ask(run.cloud.receive(seconds=20))
    assert ([message.body for message in messages], run.seconds) == (["late"], 10)


def test_what_nobody_receives_in_time_is_dropped() -> None:
    run = Run(queue={"retention": "1m"})
    put(run, "old")
    run.until(59)
    put(run, "new")
    run.until(61)
    assert received(run) == ["new"]
    assert len(run.cloud.region.queue) == 1
    assert run.clock.now() > START


def test_without_a_queue_nothing_is_kept_and_receiving_says_so() -> None:
    run = Run(queue={"exists": False})
    put(run, "lost")
    with pytest.raises(NotFound, match=r"The specified queue does not exist\."):
        run.ask(run.cloud.receive())
    assert len(run.cloud.region.queue) == 0
