"""A way that loses, doubles, delays and refuses by chance, before another way."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from random import Random

from baseload.kube.client import errors
from baseload.kube.client.errors import ApiError
from baseload.kube.client.port import Answer, Request, Way
from baseload.values.clock import Clock

BARE = b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"default"}}}'
WORDLESS = b'{"type":"ERROR","object":{}}'
ENDINGS: list[ApiError | bytes] = [
    errors.Unreachable("the watch broke"),
    errors.ServerFailed("etcd changed its leader"),
    b"",
    BARE,
]
# after these a collection is listed anew
FORGETTING: list[ApiError | bytes] = [errors.Gone("compacted"), errors.BadRequest("invalid resource version"), WORDLESS]


class Faulty:
    """As reliable as `trust` says: that share of all that goes over it is left alone."""

    def __init__(self, way: Way, clock: Clock, random: Random, trust: float) -> None:
        self._way, self._clock, self._random = way, clock, random
        self.trust = trust
        self.forgets = True

    @property
    def server(self) -> str:
        return self._way.server

    async def send(self, request: Request, seconds: float) -> Answer:
        await self._pause()
        if self._fails():
            raise self._error()
        answer = await self._way.send(request, seconds)
        if self._fails():
            raise errors.Unreachable("the answer was lost")
        return answer

    async def lines(self, request: Request, *, opening: float, idle: float) -> AsyncGenerator[bytes, None]:
        if self._fails():
            raise self._error()
        last: list[bytes] = []
        async with aclosing(self._way.lines(request, opening=opening, idle=idle)) as lines:
            async for line in lines:
                if self._fails():
                    for odd in self._ending(line):
                        yield odd
                    return
                yield line
                last.append(line)
                if self._fails():  # the last events once more, in their order
                    for again in last[-self._random.randint(1, 3) :]:
                        yield again
                await self._pause()

    async def close(self) -> None:
        await self._way.close()

    def _ending(self, line: bytes) -> Iterator[bytes]:
        """How a watch ends before its time: with an error, without a word, or with a line that is none."""
        end = self._random.choice([line[: len(line) // 2], *ENDINGS, *FORGETTING * self.forgets])
        if isinstance(end, ApiError):
            raise type(end)(str(end))
        if end:
            yield end

    def _fails(self) -> bool:
        return self._random.random() >= self.trust

    def _error(self) -> ApiError:
        busy = errors.TooManyRequests("later")
        busy.retry_after = 1
        return self._random.choice(
            [
                busy,
                errors.Unreachable("refused", was_sent=False),
                errors.Unreachable("reset"),
                errors.ServerFailed("starting"),
                errors.Timeout("slow"),
            ]
        )

    async def _pause(self) -> None:
        for _ in range(self._random.randint(0, 3)):
            await self._clock.sleep(0)
