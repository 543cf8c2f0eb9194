"""Batches of pods: the first one opens a window, which closes when no new one comes (provisioning spec 1.2)."""

from collections.abc import Hashable
from typing import Final

from baseload.values.clock import Clock
from baseload.values.instant import SECOND

_LONG: Final = 3600.0


class Batcher:
    """What asks for a pass; who was seen in a window neither opens nor prolongs it again."""

    def __init__(self, clock: Clock, *, idle: float, longest: float) -> None:
        self._clock, self._idle, self._longest = clock, idle, longest
        self._bell = clock.bell()
        self._seen: dict[Hashable, None] = {}

    def put(self, who: Hashable) -> None:
        if who not in self._seen:
            self._seen[who] = None
            self._bell.ring()

    async def window(self) -> None:
        """Waits for a batch, and begins the next one."""
        while not self._seen:
            await self._bell.wait(_LONG)
        ends = self._clock.now() + round(self._longest * SECOND)
        while (left := (ends - self._clock.now()) / SECOND) > 0:
            if not await self._bell.wait(min(self._idle, left)):
                break
        self._seen.clear()
