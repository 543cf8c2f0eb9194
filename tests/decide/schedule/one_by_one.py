"""The queue read literally: every pod by itself, and looked at each time (cluster-actors 1)."""

from collections.abc import Iterable
from typing import Literal

from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.queue import STALE, SWEEP, WINDOW, Hint, Queue, Waiting, backoff

State = Literal["active", "backoff", "error", "asleep", "gated", "in flight"]


class OneByOne(Queue):
    """Does what `Queue` does, pod by pod."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, Waiting] = {}
        self.states: dict[str, State] = {}
        self.number = self.swept = 0

    @property
    def may_wake(self) -> bool:
        return True

    def __contains__(self, uid: str) -> bool:
        return uid in self.held

    def get(self, uid: str) -> Waiting | None:
        return self.held.get(uid)

    def all(self) -> Iterable[Waiting]:
        return self.held.values()

    def add(self, pod: Pod, now: int, *, gated: bool = False) -> Waiting:
        self.remove(pod.uid)
        self.number += 1
        entry = self.held[pod.uid] = Waiting(pod, now, self.number, where="gated" if gated else "active")
        self.states[pod.uid] = "gated" if gated else "active"
        return entry

    def remove(self, uid: str) -> None:
        self.held.pop(uid, None)
        self.states.pop(uid, None)

    def pop(self, now: int) -> Waiting | None:
        self.flush(now)
        active = self.those("active")
        waiting = self.those("backoff")
        if not active and not waiting:
            return None
        by_age = min(active, key=lambda e: (-e.pod.priority, e.added, e.number), default=None)
        entry = by_age or min(waiting, key=lambda e: (window_of(e), -e.pod.priority, e.added, e.number))
        self.states[entry.pod.uid] = "in flight"
        entry.attempts += 1
        return entry

    def reject(self, entry: Waiting, plugins: frozenset[str], now: int) -> bool:
        if self.held.get(entry.pod.uid) is not entry:
            return False
        entry.added, entry.plugins = now, plugins
        if plugins:
            entry.rejections, entry.errors = entry.rejections + 1, 0
        else:
            entry.errors += 1
        self.states[entry.pod.uid] = "asleep" if plugins else "error"
        return True

    def wake(self, hint: Hint, now: int) -> int:
        woken = [e for e in self.those("asleep") if e.plugins & set(hint.plugins) and hint.wakes(e)]
        for entry in woken:
            self.go_on(entry, now)
        return len(woken)

    def flush(self, now: int) -> None:
        for entry in (*self.those("backoff"), *self.those("error")):
            if window_of(entry) < now - now % WINDOW:
                self.states[entry.pod.uid] = "active"
        tick = now - now % SWEEP
        if tick > self.swept:
            self.swept = tick
            for entry in self.those("asleep"):
                if tick - entry.added > STALE:
                    self.go_on(entry, now)

    def due(self, now: int) -> int | None:
        if self.those("active") or self.those("backoff"):
            return now
        times = [window_of(entry) + WINDOW for entry in self.those("error")]
        for entry in self.those("asleep"):
            due = max(entry.added + STALE + 1, self.swept + SWEEP)
            times.append(-(-due // SWEEP) * SWEEP)
        return max(min(times), now) if times else None

    def those(self, state: State) -> list[Waiting]:
        return [entry for uid, entry in self.held.items() if self.states[uid] == state]

    def go_on(self, entry: Waiting, now: int) -> None:
        self.states[entry.pod.uid] = "backoff" if window_of(entry) >= now - now % WINDOW else "active"


def window_of(entry: Waiting) -> int:
    """The window in which its back-off ends."""
    end = entry.added + backoff(entry.errors or entry.rejections)
    return end - end % WINDOW
