"""Kubernetes' verbs, over any way to a server.

A request has one deadline for all its tries. What can be tried again is (`retry`), with delays from the clock and the
chance that the client is given; what is raised in the end is one of `errors`. Nothing here is asyncio's.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Final

import msgspec

from baseload.kube.client import errors, objects, requests
from baseload.kube.client.errors import ApiError, Gone, ServerFailed
from baseload.kube.client.objects import Event, Object, Page, Version
from baseload.kube.client.port import Answer, Direct, Request, Resource, Way
from baseload.kube.client.requests import (
    DELETION,
    EVERYTHING,
    PATCHES,
    WRITING,
    Body,
    Deletion,
    JsonPatch,
    PatchKind,
    Selected,
    Writing,
)
from baseload.kube.client.retry import NEVER, Retry
from baseload.values import instant
from baseload.values.chance import Chance
from baseload.values.clock import Clock

DEADLINE: Final = 30.0  # seconds that a request has, all its tries together
PAGE: Final = 500  # objects in a page of a list, as client-go's pager has it
_IDLE: Final = 10.0  # seconds that a watch may be silent beyond the time after which the server ends it


class Client:
    """Whoever asks one server, under one name."""

    def __init__(
        self,
        way: Way,
        clock: Clock,
        chance: Chance,
        *,
        manager: str = "baseload",
        deadline: float = DEADLINE,
        retry: Retry | None = None,
    ) -> None:
        self.way, self.clock, self.chance = way, clock, chance
        self._direct = way if isinstance(way, Direct) else None
        self._manager, self._deadline, self._retry = manager, deadline, retry or Retry()

    # -- reading

    async def get(self, resource: Resource, name: str, *, namespace: str = "", subresource: str = "") -> Object:
        """One object, or one of its subresources."""
        return objects.read(await self._done(requests.get(resource, namespace, name, subresource)))

    async def pages(
        self, resource: Resource, selected: Selected = EVERYTHING, *, limit: int = PAGE, version: str = ""
    ) -> AsyncGenerator[Page, None]:
        """A list page by page, all of one version; raises Gone where that is let go of on the way.

        Without a version it is the present one; "0" lets a server answer from what it has at hand.
        """
        token = ""
        while True:
            asked = requests.page(resource, selected, limit=limit, token=token, version=version)
            page = objects.read_page(await self._done(asked))
            yield page
            if not page.token:
                return
            if page.token == token:
                raise ServerFailed(f"the list of {resource.qualified} comes to no end: a page names itself as the next")
            token = page.token

    async def list(
        self,
        resource: Resource,
        selected: Selected = EVERYTHING,
        *,
        limit: int = PAGE,
        version: str = "",
        on_page: Callable[[int], None] = lambda _: None,
    ) -> Page:
        """All objects of one version: read in pages, and at once where the version is let go of meanwhile.

        `on_page` is told how many objects each page has.
        """
        try:
            return await self._listed(self.pages(resource, selected, limit=limit, version=version), on_page)
        except Gone:
            return await self._listed(self.pages(resource, selected, limit=0), on_page)

    async def _listed(self, pages: AsyncGenerator[Page, None], on_page: Callable[[int], None]) -> Page:
        found: list[Object] = []
        async with aclosing(pages) as pages:
            async for page in pages:
                on_page(len(page.objects))
                found += page.objects
        return Page(found, page.version)

    async def watch(
        self,
        resource: Resource,
        selected: Selected = EVERYTHING,
        *,
        version: str = "",
        seconds: int = 300,
        initial: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """The changes after a version, with bookmarks, until the server ends it after so many seconds.

        Tried only once: a reflector is who resumes. Raises Gone where the version is no longer held.
        """
        batches = self.changes(resource, selected, version=version, seconds=seconds, initial=initial)
        async with aclosing(batches) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    def changes(
        self,
        resource: Resource,
        selected: Selected = EVERYTHING,
        *,
        version: str = "",
        seconds: int = 300,
        initial: bool = False,
    ) -> AsyncGenerator[Sequence[Event], None]:
        """The same, as many at a time as come together."""
        asked = requests.watch(resource, selected, version=version, seconds=seconds, initial=initial)
        return self._changes(asked, seconds) if self._direct is None else self._direct.events(asked)

    async def _changes(self, asked: Request, seconds: int) -> AsyncGenerator[Sequence[Event], None]:
        async with aclosing(self.way.lines(asked, opening=self._deadline, idle=seconds + _IDLE)) as lines:
            async for line in lines:
                yield (objects.read_event(line),)

    async def raw(self, path: str) -> bytes:
        """Whatever a path answers."""
        return await self._done(requests.raw(path))

    async def version(self) -> Version:
        """Which Kubernetes the server is."""
        return objects.read_version(await self._done(requests.raw("/version")))

    # -- writing

    async def create(
        self, resource: Resource, object: Body, *, namespace: str = "", writing: Writing = WRITING
    ) -> Object:
        """A new object, as the server keeps it."""
        asked = requests.create(resource, namespace, object, writing.query(self._manager))
        return objects.read(await self._done(asked))

    async def update(
        self,
        resource: Resource,
        name: str,
        object: Body,
        *,
        namespace: str = "",
        subresource: str = "",
        writing: Writing = WRITING,
    ) -> Object:
        """An object in place of the one that is there; with its resourceVersion only of the one that was read."""
        place = namespace, name, subresource
        return objects.read(await self._done(requests.update(resource, place, object, writing.query(self._manager))))

    async def patch(
        self,
        resource: Resource,
        name: str,
        change: Body | JsonPatch,
        *,
        kind: PatchKind,
        namespace: str = "",
        subresource: str = "",
        writing: Writing = WRITING,
    ) -> Object:
        """The object after a change; a JSON patch is a list of operations."""
        place, query = (namespace, name, subresource), writing.query(self._manager)
        body = msgspec.json.encode(change) if isinstance(change, list) else change
        return objects.read(await self._done(requests.patch(resource, place, body, PATCHES[kind], query)))

    async def apply(
        self,
        resource: Resource,
        name: str,
        configuration: Body,
        *,
        namespace: str = "",
        subresource: str = "",
        force: bool = False,
        writing: Writing = WRITING,
    ) -> Object:
        """Server-side apply; raises ApplyConflict where others manage a field, unless it is forced."""
        place, query = (namespace, name, subresource), writing.query(self._manager)
        query = {**query, "force": "true"} if force else query
        return objects.read(await self._done(requests.patch(resource, place, configuration, requests.APPLY, query)))

    async def scale(self, resource: Resource, name: str, replicas: int, *, namespace: str = "") -> Object:
        """Sets the number of replicas; the scale after that."""
        change = {"spec": {"replicas": replicas}}
        return await self.patch(resource, name, change, kind="merge", namespace=namespace, subresource="scale")

    async def delete(
        self, resource: Resource, name: str, *, namespace: str = "", options: Deletion = DELETION
    ) -> Object | None:
        """The object that is marked and waits for grace or finalizers; None where it is gone."""
        answer = objects.read(await self._done(requests.delete(resource, namespace, name, options)))
        return None if answer.kind == "Status" else answer

    async def delete_collection(
        self, resource: Resource, selected: Selected = EVERYTHING, options: Deletion = DELETION
    ) -> None:
        """Deletes all that is selected."""
        await self._done(requests.delete_collection(resource, selected, options))

    async def evict(self, name: str, *, namespace: str, options: Deletion = DELETION) -> None:
        """Evicts a pod; TooManyRequests where a disruption budget has nothing left, which callers wait for."""
        query = {"dryRun": "All"} if options.dry_run else {}
        await self._done(requests.evict(namespace, name, options, query), NEVER)

    async def bind(self, name: str, node: str, *, namespace: str, uid: str = "") -> None:
        """Puts a pod on a node; with the uid only that pod, not one that took its name since."""
        await self._done(requests.bind(namespace, name, node, uid, WRITING.query(self._manager)))

    async def close(self) -> None:
        """Gives back what the way holds."""
        await self.way.close()

    # -- asking

    async def _done(self, request: Request, retry: Retry | None = None) -> bytes:
        """The body of the answer to what was done."""
        retry = retry or self._retry
        end = self.clock.now() + int(self._deadline * instant.SECOND)
        tries = 0
        while True:
            tries += 1
            try:
                return _well(await self.way.send(request, (end - self.clock.now()) / instant.SECOND))
            except ApiError as error:
                wait = retry.wait(error, request, tries, self.chance)
                if wait is None or self.clock.now() + wait * instant.SECOND >= end:
                    raise
            await self.clock.sleep(wait)


def _well(answer: Answer) -> bytes:
    if not 200 <= answer.code < 300:
        raise errors.of_answer(answer.code, answer.body, answer.headers)
    return answer.body
