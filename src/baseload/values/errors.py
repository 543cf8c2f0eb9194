"""Every error that baseload raises on purpose, and what its catcher owes.

BaseloadError
    BadInput        what the user gave cannot be used: exit status 2, one line a fault, nothing on stdout
    Unreachable     a cluster or a cloud did not answer: exit status 3
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one input: where it stands, what is wrong, what would be right."""

    message: str
    file: str = ""
    document: int | None = None  # 1 for the first document of a file; None where the file has no documents
    path: str = ""  # Kubernetes field path, e.g. spec.template.spec.containers[0].resources
    allowed: str = ""  # what is allowed instead; "" where the message says it all
    object: str = ""  # e.g. NodePool default, Pod default/web-1
    mend: tuple[str, ...] = ()  # the lines of a manifest that would mend it, shown below the fault

    def __str__(self) -> str:
        where = self.file if self.document is None else f"{self.file}, document {self.document}"
        parts = [part for part in (where, self.object, self.path) if part]
        text = ": ".join([*parts, self.message])
        return f"{text} ({self.allowed})" if self.allowed else text


def quoted(text: str) -> str:
    """A text of the input as messages quote it, shortened where it is long."""
    return f'"{text}"' if len(text) <= 60 else f'"{text[:60]}..."'


class BaseloadError(Exception):
    """The root of everything raised on purpose."""


class BadInput(BaseloadError):
    """What the user gave cannot be used; `faults` lists every reason, in the order of the input."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


class Unreachable(BaseloadError):
    """A cluster or a cloud did not answer; the message names which and why."""
