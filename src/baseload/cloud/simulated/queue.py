"""The interruption queue: what is received is hidden for a while and comes again unless it is deleted.

Messages that nobody received in time are dropped. The order is that of the moments from which they can be received.
"""

import heapq
from dataclasses import dataclass

from baseload.cloud.errors import NotFound
from baseload.cloud.port import Message
from baseload.cloud.simulated.draws import Streams
from baseload.cloud.simulated.settings import QueueSettings
from baseload.values import instant
from baseload.values.clock import Bell, Clock


@dataclass(slots=True)
class Held:
    """A message in the queue."""

    number: int
    body: str
    expires: int
    visible: int
    times: int = 0


class Queue:
    """The messages by number; a heap says which can be received first."""

    def __init__(self, settings: QueueSettings, streams: Streams, clock: Clock) -> None:
        self._settings, self._streams, self._clock = settings, streams, clock
        self._held: dict[int, Held] = {}
        self._order: list[tuple[int, int]] = []  # (visible from, number)
        self._number = 0
        self._waiting: list[Bell] = []

    def __len__(self) -> int:
        return len(self._held)

    def kept(self) -> list[Held]:
        return list(self._held.values())

    def put_back(self, kept: list[Held]) -> None:
        self._held = {held.number: held for held in kept}
        self._order = sorted((held.visible, held.number) for held in kept)
        self._number = max(self._held, default=0)

    def put(self, body: str, now: int) -> None:
        if not self._settings.exists:
            return
        self._drop(now)
        self._number += 1
        visible = now + (self._settings.delay.at(self._streams.share("queue")) or 0)
        self._held[self._number] = Held(self._number, body, now + self._settings.retention, visible)
        heapq.heappush(self._order, (visible, self._number))
        for bell in self._waiting:
            bell.ring()

    def receive(self, most: int, now: int) -> tuple[Message, ...]:
        """Up to so many that are visible, each hidden from now on; NotFound where there is no queue."""
        if not self._settings.exists:
            raise NotFound("The specified queue does not exist.", code="AWS.SimpleQueueService.NonExistentQueue")
        self._drop(now)
        taken: list[Message] = []
        while self._order and len(taken) < most and self._order[0][0] <= now:
            visible, number = heapq.heappop(self._order)
            held = self._held.get(number)
            if held is not None and held.visible == visible:
                held.visible = now + self._settings.visibility
                held.times += 1
                heapq.heappush(self._order, (held.visible, number))
                taken.append(Message(f"{number}-{held.times}", held.body))
        return tuple(taken)

    def delete(self, receipt: str) -> None:
        """By any of its receipts; of what is gone already nothing is said."""
        number = receipt.partition("-")[0]
        if number.isdecimal():
            self._held.pop(int(number), None)

    async def wait(self, until: int) -> None:
        """Until something may have become visible, or a moment."""
        now = self._clock.now()
        soonest = min(until, self._order[0][0]) if self._order else until
        bell = self._clock.bell()
        self._waiting.append(bell)
        try:
            await bell.wait(max(soonest - now, 0) / instant.SECOND)
        finally:
            self._waiting.remove(bell)

    def _drop(self, now: int) -> None:
        """Forgets what is too old; the messages stand in the order of their age."""
        while self._held:
            oldest = next(iter(self._held.values()))
            if oldest.expires > now:
                break
            del self._held[oldest.number]
        while self._order and self._order[0][1] not in self._held:
            heapq.heappop(self._order)
