"""What a client needs of a way to a server, and the values that go over it.

A way only carries: it knows no verbs, tries nothing again, and raises an ApiError of its own only where no answer came
(Unreachable, Timeout) or where a stream was refused.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable
from urllib.parse import quote

from baseload.kube.client.errors import BadRequest
from baseload.kube.kinds import Kind

if TYPE_CHECKING:
    from baseload.kube.client.objects import Event

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Resource:
    """A collection of a server's, as paths name it."""

    group: str  # "" is the core group
    version: str
    plural: str

    @staticmethod
    def of(kind: Kind) -> "Resource":
        """The collection of a kind that is known here."""
        return Resource(kind.group, kind.api_version.rpartition("/")[2], kind.plural)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """pods, deployments.apps"""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def root(self) -> str:
        """Where the version of the group is found."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Where the collection, an object in it or a part of one is found."""
        within = f"/namespaces/{_segment(namespace)}" if namespace else ""
        below = "".join(f"/{_segment(step)}" for step in (name, subresource) if step)
        return f"{self.root}{within}/{self.plural}{below}"


def _segment(text: str) -> str:
    """A name as one step of a path; a name that would be more, or none, is refused as client-go refuses it."""
    if text in (".", ".."):
        raise BadRequest(f"invalid resource name \"{text}\": may not be '{text}'")
    for character in "/%":
        if character in text:
            raise BadRequest(f"invalid resource name \"{text}\": may not contain '{character}'")
    return quote(text, safe="")


@dataclass(frozen=True, slots=True)
class Request:
    """A request, whoever it is sent to."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = JSON


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answers, whether it did what was asked or not; the headers' names are in small letters."""

    code: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Way(Protocol):
    """A way to one server."""

    @property
    def server(self) -> str:
        """The server as messages name it."""
        ...

    async def send(self, request: Request, seconds: float) -> Answer:
        """Sends and waits so long; Unreachable or Timeout where no answer comes."""
        ...

    def lines(self, request: Request, *, opening: float, idle: float) -> AsyncGenerator[bytes, None]:
        """The lines of an answer without end, each whole; ends where the server ends it.

        Waits `opening` seconds for the beginning and `idle` for each piece. Raises what `send` raises, what a refusal
        stands for, and Unreachable where the connection breaks or a line does.
        """
        ...

    async def close(self) -> None:
        """Gives back what the way holds."""
        ...


@runtime_checkable
class Passable(Protocol):
    """A way within the process, which may be gone without sending anything."""

    async def passed(self, seconds: float) -> None:
        """Waits as a request that changes something would. Raises what `send` raises where no answer comes."""
        ...


@runtime_checkable
class Direct(Protocol):
    """A way within the process, on which the events of a watch need not become lines."""

    def events(self, request: Request) -> AsyncGenerator[Sequence["Event"], None]:
        """What `lines` would tell, as many events at a time as there are. Raises what it raises."""
        ...
