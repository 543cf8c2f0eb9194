"""When a batch of pods begins and ends (provisioning spec 1.2)."""

from collections.abc import Sequence

from baseload.control.batcher import Batcher
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant
from baseload.values.instant import SECOND

START = instant.parse("2026-11-30T12:00:00Z")


def windows(*asked: tuple[float, str]) -> Sequence[float]:
    """When the windows closed, in seconds, if these asked at these moments."""
    clock = VirtualClock(START)
    batcher, closed = Batcher(clock, idle=1, longest=10), []

    async def wait() -> None:
        while True:
            await batcher.window()
            closed.append((clock.now() - START) / SECOND)

    async def ask() -> None:
        for at, who in asked:
            await clock.sleep(at - (clock.now() - START) / SECOND)
            batcher.put(who)

    waiting = clock.start(wait())
    clock.start(ask())
    clock.run(START + 100 * SECOND)
    waiting.cancel()
    return closed


def test_a_window_closes_a_second_after_the_last_new_one() -> None:
    assert windows((5, "a"), (5.8, "b"), (6.6, "c")) == [7.6]


def test_who_was_seen_in_the_window_does_not_prolong_it() -> None:
    assert windows((5, "a"), (5.8, "a")) == [6]


def test_a_window_lasts_10_seconds_at_most() -> None:
    asked = [(5 + number * 0.5, f"p{number}") for number in range(22)]

    assert windows(*asked) == [15, 16.5]


def test_who_was_seen_opens_the_next_window_again() -> None:
    assert windows((5, "a"), (20, "a")) == [6, 21]
