"""Interruptions: the queue of what is going to happen to instances, and what the cloud's checks say of them (spec 26).

A claim whose machine is about to go is deleted at once, so that its pods are planned for and its node is drained while
there is time. A message that was seen to is taken from the queue; one that could not be comes again.
"""

from collections.abc import Iterable
from typing import Final

from baseload.act.offerings import Offerings
from baseload.cloud.errors import CloudError, Unauthorized
from baseload.cloud.port import Cloud, Message
from baseload.control.controller import FIRST, LONGEST
from baseload.control.means import Means
from baseload.decide.lifecycle import interruption
from baseload.decide.lifecycle.interruption import Notice
from baseload.kube.client.errors import ApiError, NotFound
from baseload.kube.types.karpenter import NodeClaim

CHECKED_EVERY: Final = 60.0  # seconds between two looks at the status of instances


class Interruption:
    """The controller of interruptions."""

    def __init__(self, means: Means, cloud: Cloud, offerings: Offerings) -> None:
        self._observed, self._objects, self._events = means.observed, means.objects, means.events
        self._clock, self._cloud, self._offerings = means.clock, cloud, offerings
        self._follows_queue = means.settings.interruption_queue

    async def run(self) -> None:
        """Works for ever."""
        tasks = [self._check()]
        if self._follows_queue:
            tasks.append(self._follow())
        await self._clock.together(*tasks)

    async def _follow(self) -> None:
        """Polls the queue; what fails is tried again, ever later."""
        failures = 0
        while True:
            try:
                messages = await self._cloud.receive()
                all_well = await self._handle(messages)
            except CloudError:
                all_well = False
            failures = 0 if all_well else failures + 1
            if failures:
                await self._clock.sleep(min(FIRST * 2 ** min(failures - 1, 10), LONGEST))

    async def _handle(self, messages: tuple[Message, ...]) -> bool:
        """Sees to messages, all at once; whether none failed."""
        failed: list[Message] = []

        async def one(message: Message) -> None:
            try:
                notice = interruption.notice_of(message.body)
                if notice is not None:
                    await self._act((notice,))
                await self._cloud.delete_message(message.receipt)
            except (ApiError, CloudError):
                failed.append(message)

        if messages:
            await self._clock.together(*(one(message) for message in messages))
        return not failed

    async def _check(self) -> None:
        """Asks for the status of instances each minute, until it is told that it may not."""
        failures = 0
        while True:
            try:
                await self._act(interruption.notices_of(await self._cloud.statuses(), self._clock.now()))
            except Unauthorized:
                return
            except (ApiError, CloudError):
                failures += 1
                await self._clock.sleep(min(FIRST * 2 ** min(failures - 1, 10), LONGEST))
            else:
                failures = 0
                await self._clock.sleep(CHECKED_EVERY)

    async def _act(self, notices: Iterable[Notice]) -> None:
        claims: dict[str, list[NodeClaim]] | None = None
        for notice in notices:
            if claims is None:
                claims = {}
                for claim in self._observed.claims():
                    claims.setdefault(claim.status.provider_id.rpartition("/")[2], []).append(claim)
            for id in notice.instances:
                for claim in claims.get(id, ()) if id else ():
                    await self._interrupt(claim, notice)

    async def _interrupt(self, claim: NodeClaim, notice: Notice) -> None:
        nodes = self._observed.nodes_of(claim.status.provider_id)[:1]
        self._events.tell(claim, interruption.told(notice.kind))
        for node in nodes:
            self._events.tell(node, interruption.told(notice.kind))
        offering = interruption.refused(claim, notice.kind)
        if offering is not None:
            self._offerings.shut(offering)
        if not interruption.ends(notice.kind):
            return
        try:
            dated = await self._objects.write(claim, interruption.made_to_end(claim, notice.kind, self._clock.now()))
            if claim.metadata.deletion_timestamp:
                return
            await self._objects.delete(dated)
        except NotFound:
            return
        self._events.tell(claim, interruption.deleted("NodeClaim"))
        for node in nodes:
            self._events.tell(node, interruption.deleted("Node"))
