"""A time that jumps: coroutines on one heap of moments, run one after the other with nothing between two moments.

What is due at one moment runs in the order of (time, priority, sequence): the priority is the task's own, the sequence
counts what was put on the heap. So a run is repeated exactly, whatever the machine does meanwhile. A task is resumed by
what it waits for; a timer that it no longer waits for is void, which its turn tells. A task that sleeps to a moment
before which nothing else is due goes on at once: the clock is put forward, and the heap is left alone.
"""

import heapq
import types
from collections.abc import Coroutine, Generator
from typing import Any, Final, Literal

from baseload.values import instant
from baseload.values.clock import FOREVER

Step = Coroutine[Any, Any, None]
_BEFORE_ALL: Final = -(1 << 60)


class Cancelled(BaseException):
    """What a task that is cancelled meets where it waits."""


class Interrupted(Exception):
    """The run was to end, wherever it was."""


class Task:
    """A coroutine that runs through time, by its name and its priority among what is due at one moment."""

    __slots__ = ("children", "coroutine", "error", "is_done", "name", "parent", "priority", "turn")

    def __init__(self, coroutine: Step, name: str, priority: int, parent: "Task | None") -> None:
        self.coroutine, self.name, self.priority, self.parent = coroutine, name, priority, parent
        self.turn = 0  # how often it was resumed: what was arranged for an earlier turn is void
        self.children = 0  # of its `together` that have not ended
        self.is_done = False
        self.error: BaseException | None = None

    def cancel(self) -> None:
        """Ends it where it waits; what it does at its end must not wait again."""
        if self.is_done:
            return
        self.is_done = True
        # Thrown in, not closed: an async generator that is closed from outside counts as running for ever.
        try:
            self.coroutine.throw(Cancelled())
        except (Cancelled, StopIteration):
            return
        self.coroutine.close()
        raise RuntimeError(f"the task {self.name!r} was cancelled and waits again")


@types.coroutine
def _pause(until: int | None) -> Generator[int | None, bool, bool]:
    """A task yields until when it waits; it is resumed then, or earlier by whoever knows its turn."""
    return (yield until)


class VirtualBell:
    """A bell of a virtual clock; one task at a time waits for it."""

    __slots__ = ("_clock", "_rung", "_waiting")

    def __init__(self, clock: "VirtualClock") -> None:
        self._clock = clock
        self._rung = False
        self._waiting: tuple[Task, int] | None = None

    def ring(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and waiting[0].turn == waiting[1] and not waiting[0].is_done:
            self._clock.resume(waiting[0], self._clock.now(), rung=True)
        else:
            self._rung = True

    @types.coroutine
    def wait(self, seconds: float = FOREVER) -> Generator[int | None, bool, bool]:
        if self._rung:
            self._rung = False
            return True
        clock = self._clock
        task = clock.current
        self._waiting = task, task.turn
        return (yield None if seconds == FOREVER else clock.now() + nanoseconds(seconds))


class VirtualClock:
    """The clock of a run that begins at an instant (nanoseconds since the epoch)."""

    def __init__(self, start: int) -> None:
        self._now = start
        self._heap: list[tuple[int, int, int, Task, int, bool]] = []
        self._sequence = 0
        self._running: Task | None = None
        self._failed: Task | None = None
        self._roots: dict[Task, None] = {}
        self._limit: int | None = None  # the end of this run
        self.steps = 0  # resumptions so far, from sleeps that were none too

    def now(self) -> int:
        return self._now

    @property
    def current(self) -> Task:
        """The task that runs."""
        assert self._running is not None, "only a task of this clock can wait for it"
        return self._running

    async def sleep(self, seconds: float) -> None:
        until = self._now + nanoseconds(seconds)
        heap = self._heap
        if (heap and heap[0][0] <= until) or (self._limit is not None and until > self._limit):
            await _pause(until)
        else:
            self._now = until
            self.steps += 1

    def bell(self) -> VirtualBell:
        return VirtualBell(self)

    def start(self, coroutine: Step, *, name: str = "", priority: int = 0) -> Task:
        """Has a task run, from this moment on; an error in it ends the run."""
        task = Task(coroutine, name, priority, None)
        self._roots[task] = None
        return self._started(task)

    def close(self) -> None:
        """Ends all tasks where they wait, the last that was started first."""
        while self._roots:
            self._roots.popitem()[0].cancel()

    async def together(self, *tasks: Step) -> None:
        parent = self.current
        children = [Task(task, parent.name, parent.priority, parent) for task in tasks]
        parent.children = len(children)
        for child in children:
            self._started(child)
        try:
            while parent.children:
                await _pause(None)
        finally:
            for child in children:
                child.cancel()
        for child in children:
            if child.error is not None:
                raise child.error

    def run(self, until: int | Literal["idle"] = "idle") -> None:
        """Runs what is due up to an instant, which it then is; or until there is nothing left to wait for.

        Raises what a task raises, at the moment at which it does.
        """
        heap = self._heap
        limit = self._limit = None if until == "idle" else until
        while heap and (limit is None or heap[0][0] <= limit):
            at, _, _, task, turn, rung = heapq.heappop(heap)
            if task.turn == turn and not task.is_done:
                self._now = at
                self._resume(task, rung)
                if self._failed is not None:
                    failed, self._failed = self._failed, None
                    assert failed.error is not None
                    raise failed.error
        if limit is not None:
            self._now = max(self._now, limit)

    def interrupt(self) -> None:
        """Has the run that goes on raise Interrupted before anything else; a signal handler may call it."""
        self.start(_interrupt(), name="interruption", priority=_BEFORE_ALL)

    @property
    def next(self) -> int | None:
        """When something is due next; None where nothing is."""
        heap = self._heap
        while heap and (heap[0][3].turn != heap[0][4] or heap[0][3].is_done):
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def resume(self, task: Task, at: int, *, rung: bool = False) -> None:
        """Has a task go on at an instant, if it still waits where it waits now."""
        self._sequence += 1
        heapq.heappush(self._heap, (at, task.priority, self._sequence, task, task.turn, rung))

    def _started(self, task: Task) -> Task:
        self.resume(task, self._now)
        return task

    def _resume(self, task: Task, rung: bool) -> None:
        self.steps += 1
        task.turn += 1
        before, self._running = self._running, task
        try:
            until: int | None = task.coroutine.send(rung if task.turn > 1 else None)
        except StopIteration:
            self._ended(task, None)
        except Exception as error:  # noqa: BLE001  # whoever waits for the task, or runs the clock, is told
            self._ended(task, error)
        else:
            if until is not None:
                self.resume(task, until if until > self._now else self._now)
        finally:
            self._running = before

    def _ended(self, task: Task, error: BaseException | None) -> None:
        task.is_done, task.error = True, error
        parent = task.parent
        if parent is None:
            self._roots.pop(task, None)
            self._failed = task if error is not None else self._failed
            return
        parent.children = 0 if error is not None else parent.children - 1
        if not parent.children and not parent.is_done:
            self.resume(parent, self._now)


async def _interrupt() -> None:
    raise Interrupted


def nanoseconds(seconds: float) -> int:
    """A duration as the heap counts it; less than nothing is nothing."""
    return round(seconds * instant.SECOND) if seconds > 0 else 0
