"""Documents that change only with what is served: each has a tag, and whoever has it already is told so (304)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from baseload.embedded.api.answer import Answer


@dataclass(frozen=True, slots=True)
class Tagged:
    """A document and the tag of its content."""

    body: bytes
    tag: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tag", hashlib.sha512(self.body).hexdigest().upper())

    def answer(
        self, asked: Mapping[str, str], *, media_type: str = "application/json", cache: str = "no-cache, private"
    ) -> Answer:
        """The document, or word that it is still what the client has."""
        tag = f'"{self.tag}"'
        headers = {"etag": tag, "cache-control": cache, "vary": "Accept"}
        known = [part.strip().removeprefix("W/") for part in asked.get("if-none-match", "").split(",")]
        if tag in known or "*" in known:
            return Answer(304, b"", media_type, headers)
        return Answer(200, self.body, media_type, headers)
