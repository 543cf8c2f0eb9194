"""A live cluster as an input: the kinds that a decision looks at, listed and nothing else.

All kinds are listed at once, each in pages of one version, by GET alone; Secrets are none of them. A kind that the
cluster does not have is no fault and is said; what may not be listed is, with the rule that would allow it.
"""

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from baseload.kube.client import kubeconfig
from baseload.kube.client.client import Client
from baseload.kube.client.errors import ApiError, Forbidden, NotFound, Unauthorized
from baseload.kube.client.kubeconfig import Access
from baseload.kube.client.objects import Object
from baseload.kube.client.port import Resource
from baseload.kube.client.retry import Retry
from baseload.kube.kinds import KINDS, Kind
from baseload.kube.reading import without_nulls
from baseload.kube.sources import Source
from baseload.timeline.wall import WallClock
from baseload.values.errors import BadInput, Fault, Unreachable
from baseload.world import clients

_PATIENCE: Final = Retry(tries=3)  # somebody waits at a terminal
_CORE: Final = ("NodePool", "NodeClaim")
_AT_ONCE: Final = 6  # lists under way: a server's fair share for one client


@dataclass(frozen=True, slots=True)
class Live:
    """What was read from a cluster."""

    texts: tuple[Source, ...]
    notes: tuple[str, ...]
    absent: tuple[str, ...]  # kinds that the cluster does not have: Kind of version


@dataclass(slots=True)
class _Reading:
    """One reading under way."""

    client: Client
    told: Callable[[str], None]
    listed: dict[Kind, list[Object]] = field(default_factory=dict)
    absent: list[Kind] = field(default_factory=list)
    refused: list[tuple[Kind, Forbidden]] = field(default_factory=list)
    count: int = 0
    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def list(self, kind: Kind) -> None:
        """All objects of a kind."""
        resource = Resource.of(kind)
        async with self.room:
            try:
                page = await self.client.list(resource, on_page=self._counted)
            except NotFound:
                self.absent.append(kind)
            except Forbidden as error:
                if await self._is_served(resource):
                    self.refused.append((kind, error))
                else:
                    self.absent.append(kind)
            else:
                self.listed[kind] = page.objects

    async def _is_served(self, resource: Resource) -> bool:
        """Whether the server has a kind; who may not list it is refused either way."""
        try:
            found = await self.client.raw(resource.root)
        except NotFound:
            return False
        except Forbidden:
            return True
        return _served(found).has(resource.plural)

    def _counted(self, objects: int) -> None:
        self.count += objects
        self.told(f"reading the cluster: {self.count} objects")


class _Name(msgspec.Struct):
    name: str = ""
    version: str = ""


class _Served(msgspec.Struct):
    """The kinds of a version, or the versions of a group."""

    resources: tuple[_Name, ...] = ()
    versions: tuple[_Name, ...] = ()

    def has(self, plural: str) -> bool:
        return any(resource.name == plural for resource in self.resources)


def _served(raw: bytes) -> _Served:
    """What a server says of a version or a group; nothing where it says something else."""
    try:
        return msgspec.convert(without_nulls(msgspec.json.decode(raw)), _Served)
    except msgspec.MsgspecError:
        return _Served()


def read(
    kinds: Iterable[object],
    context: str | None,
    file: str | None,
    told: Callable[[str], None] = lambda _: None,
) -> Live:
    """The objects of the kinds with those readings, and all NodeClasses, of the cluster of a context.

    Raises BadInput where the kubeconfig or the rights do not do, Unreachable where no answer comes.
    """
    readings = set(kinds)
    wanted = [kind for kind in KINDS.values() if kind.reading in readings or kind.name.endswith("NodeClass")]
    access = kubeconfig.find(context, None if file is None else Path(file))
    try:
        return asyncio.run(_read(wanted, access, told))
    except Unauthorized as error:
        message = f"the server does not know who asks: {error}"
        allowed = "log in again, or mend the user of the context"
        raise BadInput([Fault(message, object=_name(access), allowed=allowed)]) from error
    except ApiError as error:
        raise Unreachable(f"{_name(access)}: {error}") from error


async def _read(kinds: Sequence[Kind], access: Access, told: Callable[[str], None]) -> Live:
    clock = WallClock()
    client = clients.over_http(access, clock, random.SystemRandom(), retry=_PATIENCE)
    reading = _Reading(client, told)
    try:
        told(f"reaching {client.way.server}")
        version = await _version(client)
        await clock.together(*(reading.list(kind) for kind in kinds))
        if reading.refused:
            raise _refused(access, reading.refused)
        missing = [kind for kind in kinds if kind in reading.absent]
        listed = {
            kind: reading.listed[kind] for kind in kinds if kind in reading.listed
        }  # whichever was answered first
        notes = [_read_from(access, client, version, listed), *await _karpenter(client, missing)]
    finally:
        await client.close()
    texts = [_text(access, kind, objects) for kind, objects in listed.items()]
    return Live(tuple(texts), tuple(notes), tuple(f"{kind.name} of {kind.api_version}" for kind in missing))


async def _version(client: Client) -> str:
    try:
        return f"Kubernetes {(await client.version()).text}"
    except Forbidden:
        return "a Kubernetes that does not tell its version"


async def _karpenter(client: Client, missing: Sequence[Kind]) -> list[str]:
    """What to say where Karpenter is not there, or only in another version."""
    core = [kind for kind in missing if kind.name in _CORE]
    if not core:
        return []
    group, wanted = core[0].group, core[0].api_version
    try:
        found = _served(await client.raw(f"/apis/{group}"))
    except (NotFound, Forbidden):
        return [f"Karpenter is not installed in the cluster: it has no {' and no '.join(k.name for k in core)}"]
    versions = ", ".join(f"{group}/{served.version}" for served in found.versions)
    if not versions:
        return ["the cluster does not say in which versions it has Karpenter's kinds: none of them count"]
    return [f"the cluster has Karpenter's kinds in {versions}, and {wanted} is what is read: none of them count"]


def _read_from(access: Access, client: Client, version: str, listed: dict[Kind, list[Object]]) -> str:
    counts = ", ".join(_count(len(objects), kind) for kind, objects in listed.items() if objects)
    return f"read from {_name(access)} ({client.way.server}, {version}): {counts or 'nothing'}"


def _count(number: int, kind: Kind) -> str:
    return f"{number} {kind.name if number == 1 else kind.plural}"


def _text(access: Access, kind: Kind, objects: Sequence[Object]) -> Source:
    items = b",".join(object.raw for object in objects)
    return Source(f"{_name(access)}: {kind.plural}", b'{"kind":"List","apiVersion":"v1","items":[%b]}' % items)


def _refused(access: Access, refused: Sequence[tuple[Kind, Forbidden]]) -> BadInput:
    by_group: dict[str, list[str]] = {}
    for kind, _ in sorted(refused, key=lambda it: (it[0].group, it[0].plural)):
        by_group.setdefault(kind.group, []).append(kind.plural)
    rules = ["as a ClusterRole that is bound to whoever asks:", "rules:"]
    for group, plurals in by_group.items():
        rules += [f'- apiGroups: ["{group}"]', f"  resources: [{', '.join(plurals)}]", "  verbs: [list]"]
    names = ", ".join(sorted(Resource.of(kind).qualified for kind, _ in refused))
    message = f"may not list {names}: {refused[0][1]}"
    return BadInput([Fault(message, object=_name(access), mend=tuple(rules))])


def _name(access: Access) -> str:
    return f"context {access.context}" if access.context else "the cluster of this pod"
