"""Which form of an answer a client takes: JSON as it is, a Table, or metadata alone.

Answers are JSON throughout: every client that prefers another encoding takes JSON too.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from baseload.embedded.api.refusals import NotAcceptable

COMPRESSED_FROM: Final = 128 * 1024
_JSON: Final = ("application/json", "application/*", "*/*")
_META: Final = "meta.k8s.io"
_BY_HAND: Final = ("curl", "Wget", "Mozilla/5.0")
_YES: Final = ("1", "t", "T", "true", "True", "TRUE")


@dataclass(frozen=True, slots=True)
class Form:
    """A form of an answer: `kind` is "" for objects as they are."""

    kind: str = ""  # Table, PartialObjectMetadata, PartialObjectMetadataList, APIGroupDiscoveryList
    group: str = ""
    version: str = ""

    @property
    def media_type(self) -> str:
        if not self.kind:
            return "application/json"
        return f"application/json;g={self.group};v={self.version};as={self.kind}"


PLAIN: Final = Form()


def form(headers: Mapping[str, str], offered: tuple[Form, ...]) -> Form:
    """The first form in Accept that is offered."""
    accept = headers.get("accept", "") or "*/*"
    for part in accept.split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        told = dict(parameter.partition("=")[::2] for parameter in parameters)
        if media_type not in _JSON:
            continue
        wanted = Form(told.get("as", ""), told.get("g", ""), told.get("v", "")) if "as" in told else PLAIN
        if wanted in offered:
            return wanted
    wording = "only the following media types are accepted: application/json"
    raise NotAcceptable(wording)


TABLES: Final = (
    PLAIN,
    Form("Table", _META, "v1"),
    Form("PartialObjectMetadata", _META, "v1"),
    Form("PartialObjectMetadataList", _META, "v1"),
)


def indented(body: bytes, headers: Mapping[str, str], query: Mapping[str, str]) -> bytes:
    """JSON laid out for people, where it is asked for or the client is one that people use by hand."""
    asked = query.get("pretty")
    is_for_people = headers.get("user-agent", "").startswith(_BY_HAND) if asked is None else asked in _YES
    return msgspec.json.format(body, indent=2) if is_for_people and body else body


def compressed(body: bytes, headers: Mapping[str, str]) -> tuple[bytes, dict[str, str]]:
    """A large body as gzip where the client takes that."""
    if len(body) < COMPRESSED_FROM or "gzip" not in headers.get("accept-encoding", ""):
        return body, {}
    return gzip.compress(body, compresslevel=1), {"content-encoding": "gzip", "vary": "Accept-Encoding"}
