"""Keys that wait for work: each once, when it is due, and with one worker at a time."""

from baseload.act.queue import Queue
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant
from baseload.values.instant import SECOND

START = instant.parse("2026-11-30T12:00:00Z")


class Works:
    """A queue whose workers need so many seconds for a key, which then rests."""

    def __init__(self, *, workers: int = 1, needs: float = 0.0, rests: float = 0.0) -> None:
        self.clock = VirtualClock(START)
        self.queue: Queue[str] = Queue(self.clock)
        self.taken: list[tuple[float, str]] = []
        self._tasks = [self.clock.start(self._work(needs, rests)) for _ in range(workers)]

    async def _work(self, needs: float, rests: float) -> None:
        while True:
            key = await self.queue.take()
            self.taken.append(((self.clock.now() - START) / SECOND, key))
            await self.clock.sleep(needs)
            self.queue.rest(key, rests)
            self.queue.done(key)

    def run(self, until: float) -> None:
        self.clock.run(START + round(until * SECOND))

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()


def test_a_key_is_taken_once_when_it_is_due_and_earlier_counts() -> None:
    works = Works()
    works.queue.add("late", 10)
    works.queue.add("a", 5)
    works.queue.add("a", 2)
    works.queue.add("a", 7)
    works.run(60)
    works.close()

    assert works.taken == [(2, "a"), (10, "late")]


def test_what_is_added_while_it_is_worked_on_counts_afterwards() -> None:
    works = Works(workers=2, needs=3)
    works.queue.add("a")
    works.run(1)
    works.queue.add("a")
    works.queue.add("b")
    works.run(60)
    works.close()

    assert works.taken == [(0, "a"), (1, "b"), (3, "a")]
    assert len(works.queue) == 0


def test_workers_share_what_is_due() -> None:
    works = Works(workers=2, needs=1)
    works.run(0.5)
    for key in "abcd":
        works.queue.add(key)
    works.run(60)
    works.close()

    assert works.taken == [(0.5, "a"), (0.5, "b"), (1.5, "c"), (1.5, "d")]


def test_a_key_that_rests_is_taken_afterwards_whatever_was_added_meanwhile() -> None:
    works = Works(needs=0.25, rests=1)
    works.queue.add("a")
    works.run(0.1)
    works.queue.add("a")  # while it is worked on
    works.run(0.5)
    works.queue.add("a")
    works.queue.add("b")
    works.run(10)
    works.queue.add("a")  # it has rested
    works.run(60)
    works.close()

    assert works.taken == [(0, "a"), (0.5, "b"), (1.25, "a"), (10, "a")]
