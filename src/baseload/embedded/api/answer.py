"""A whole answer, as against one that streams."""

from dataclasses import dataclass, field

import msgspec

TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    code: int
    body: bytes
    media_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


def json(tree: object, *, code: int = 200, media_type: str = "application/json") -> Answer:
    """A tree as an answer."""
    return Answer(code, msgspec.json.encode(tree), media_type)


def no_such_page() -> Answer:
    """What is answered outside of the API's groups to a path that is none."""
    return text("404 page not found\n", code=404)


def text(told: str, *, code: int = 200) -> Answer:
    """A text for people."""
    return Answer(code, told.encode(), TEXT)
