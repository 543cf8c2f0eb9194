"""The machine's time, and one that goes faster."""

import asyncio

from baseload.timeline.wall import ScaledClock
from baseload.values import instant

START = instant.parse("2026-11-30T12:00:00Z")


def test_on_a_scaled_clock_a_minute_is_a_minute() -> None:
    clock = ScaledClock(START, speed=6000)

    async def run() -> None:
        await clock.sleep(60)

    asyncio.run(run())

    assert clock.now() - START >= 60 * instant.SECOND


def test_a_bell_of_a_scaled_clock_waits_on_that_clock() -> None:
    clock = ScaledClock(START, speed=6000)

    async def run() -> tuple[bool, bool]:
        bell = clock.bell()
        silent = await bell.wait(60)
        bell.ring()
        return silent, await bell.wait(60)

    assert asyncio.run(run()) == (False, True)
    assert clock.now() - START >= 60 * instant.SECOND
