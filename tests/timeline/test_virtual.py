"""A virtual clock: what is due runs in one order, at the moment at which it is due, and at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.timeline.virtual import Interrupted, VirtualBell, VirtualClock
from baseload.values import instant
from baseload.values.clock import Clock

START = instant.parse("2026-11-30T12:00:00Z")


def seconds(clock: Clock) -> float:
    return (clock.now() - START) / instant.SECOND


def test_sleepers_wake_in_the_order_of_time_then_priority_then_of_falling_asleep() -> None:
    clock, woken, asleep = VirtualClock(START), [], []

    async def sleeper(name: str, wait: float) -> None:
        asleep.append(name)
        await clock.sleep(wait)
        woken.append((seconds(clock), name))

    clock.start(sleeper("late", 3.5))
    clock.start(sleeper("second", 2))
    clock.start(sleeper("third", 2))
    clock.start(sleeper("first", 2), priority=-1)
    clock.run()

    assert asleep == ["first", "late", "second", "third"]
    assert woken == [(2, "first"), (2, "second"), (2, "third"), (3.5, "late")]


def test_who_sleeps_alone_goes_on_at_once_but_never_past_others_or_the_end() -> None:
    clock, seen = VirtualClock(START), []

    async def often() -> None:
        while True:
            await clock.sleep(1)
            seen.append((seconds(clock), "often"))

    async def seldom() -> None:
        for _ in range(2):
            await clock.sleep(2)
            seen.append((seconds(clock), "seldom"))

    clock.start(often())
    clock.start(seldom())
    clock.run(START + 4 * instant.SECOND)
    clock.run(START + 1000 * instant.SECOND + 1)

    told = [(1, "often"), (2, "seldom"), (2, "often"), (3, "often"), (4, "seldom"), (4, "often")]
    assert seen[:6] == told
    assert (len(seen), seconds(clock)) == (1002, 1000.000000001)


def test_a_run_ends_at_its_instant_and_goes_on_from_there() -> None:
    clock, ticks = VirtualClock(START), []

    async def ticker() -> None:
        while True:
            ticks.append(seconds(clock))
            await clock.sleep(10)

    clock.start(ticker())
    clock.run(START + 25 * instant.SECOND)
    assert (ticks, seconds(clock)) == ([0, 10, 20], 25)
    assert clock.next == START + 30 * instant.SECOND
    clock.run(START + 30 * instant.SECOND)
    assert ticks == [0, 10, 20, 30]


def test_a_bell_wakes_who_waits_before_his_time_and_his_timer_is_void() -> None:
    clock, told = VirtualClock(START), []
    bell = clock.bell()

    async def waiter() -> None:
        told.append((await bell.wait(60), seconds(clock)))
        told.append((await bell.wait(100), seconds(clock)))

    async def ringer() -> None:
        await clock.sleep(5)
        bell.ring()

    clock.start(waiter())
    clock.start(ringer())
    clock.run()

    assert told == [(True, 5), (False, 105)]


def test_a_ring_that_nobody_waited_for_is_remembered_once() -> None:
    clock, told = VirtualClock(START), []
    bell = clock.bell()

    async def waiter() -> None:
        bell.ring()
        bell.ring()
        told.append(await bell.wait(1))
        told.append(await bell.wait(1))

    clock.start(waiter())
    clock.run()

    assert told == [True, False]


def test_a_bell_that_nobody_rings_keeps_nobody_running() -> None:
    clock = VirtualClock(START)

    async def waiter(bell: VirtualBell) -> None:
        await bell.wait()
        raise AssertionError

    clock.start(waiter(clock.bell()))
    clock.run()

    assert seconds(clock) == 0


def test_what_runs_together_ends_with_the_last() -> None:
    clock, ends = VirtualClock(START), []

    async def child(wait: float) -> None:
        await clock.sleep(wait)

    async def parent() -> None:
        await clock.together(child(1), child(7), child(3))
        ends.append(seconds(clock))

    clock.start(parent())
    clock.run()

    assert ends == [7]


def test_where_one_fails_the_others_are_cancelled_and_its_error_is_raised() -> None:
    clock, told = VirtualClock(START), []

    async def failing() -> None:
        await clock.sleep(2)
        raise ValueError("broken")

    async def patient() -> None:
        try:
            await clock.sleep(100)
        finally:
            told.append(("cancelled", seconds(clock)))

    async def parent() -> None:
        try:
            await clock.together(patient(), failing())
        except ValueError as error:
            told.append((str(error), seconds(clock)))

    clock.start(parent())
    clock.run()

    assert told == [("cancelled", 2), ("broken", 2)]


def test_an_error_of_a_task_ends_the_run_at_its_moment() -> None:
    clock = VirtualClock(START)

    async def failing() -> None:
        await clock.sleep(2)
        raise ValueError("broken")

    clock.start(failing())
    with pytest.raises(ValueError, match="broken"):
        clock.run()
    assert seconds(clock) == 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 1), st.lists(st.integers(0, 5), max_size=4)), max_size=8))
def test_every_run_of_the_same_tasks_is_the_same(tasks: list[tuple[int, int, list[int]]]) -> None:
    def journal() -> list[tuple[float, int, int]]:
        clock, told = VirtualClock(START), []
        bells = [clock.bell() for _ in tasks]

        async def worker(number: int, wait: int, steps: list[int]) -> None:
            for step in steps:
                bells[step % len(bells)].ring()
                rung = await bells[number].wait(wait)
                told.append((seconds(clock), number, int(rung)))

        for number, (wait, priority, steps) in enumerate(tasks):
            clock.start(worker(number, wait, steps), priority=priority)
        clock.run()
        return told

    first = journal()
    assert journal() == first
    assert [at for at, _, _ in first] == sorted(at for at, _, _ in first)


def test_a_run_is_interrupted_in_the_midst_of_a_moment_that_never_ends() -> None:
    clock, turns = VirtualClock(START), []

    async def busy() -> None:
        while True:
            turns.append(clock.now())
            if len(turns) == 100:
                clock.interrupt()
            await clock.sleep(0)

    clock.start(busy(), priority=-100)
    clock.start(busy())
    with pytest.raises(Interrupted):
        clock.run(START + instant.SECOND)
    assert turns == [START] * 100
    clock.close()
