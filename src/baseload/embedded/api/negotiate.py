"""Which form of an answer a client takes: objects as they are, a Table, or metadata alone, in JSON or in YAML.

Answers are made in JSON, and become YAML at the end where that is preferred. Protobuf is never written: every client
that prefers it takes JSON too.
"""

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from baseload.embedded.api.refusals import NotAcceptable

COMPRESSED_FROM: Final = 128 * 1024
JSON: Final = "application/json"
YAML: Final = "application/yaml"
_PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
_ANY: Final = "application/*"
_MADE: Final = (JSON, YAML, "*/*")
_ALL: Final = (JSON, YAML, _PROTOBUF)
_STREAMED: Final = tuple(f"{media_type};stream=watch" for media_type in (JSON, _PROTOBUF))
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


def form(
    headers: Mapping[str, str], offered: tuple[Form, ...], *, is_custom: bool = False, of_many: bool = False
) -> Form:
    """The first form in Accept that is offered; of custom resources, and of many objects, a refusal has other words."""
    is_known = is_custom
    for media_type, told in _accepted(headers):
        is_known = is_known or media_type in (*_MADE, _PROTOBUF)
        wanted = Form(told.get("as", ""), told.get("g", ""), told.get("v", "")) if "as" in told else PLAIN
        if (media_type in _MADE or (is_custom and media_type == _ANY)) and wanted in offered:
            return wanted
    if is_known:
        raise NotAcceptable(f"only the following media types are accepted: {', '.join(_ALL)}")
    raise no_representation(*_ALL, *(_STREAMED if of_many else ()))


def no_representation(*offered: str) -> NotAcceptable:
    """No word in Accept is one that the path knows."""
    told = f"406: Not Acceptable\n\nAvailable representations: {', '.join(offered)}"
    return NotAcceptable(told, is_general=True)


def is_yaml(headers: Mapping[str, str]) -> bool:
    """Whether the client prefers YAML."""
    known = (media_type for media_type, _ in _accepted(headers) if media_type in (*_MADE, _ANY))
    return next(known, JSON) == YAML


def check_streams(headers: Mapping[str, str]) -> None:
    """Refuses a watch in YAML, of which there is none."""
    if is_yaml(headers):
        raise NotAcceptable(f"only the following media types are accepted: {', '.join(_STREAMED)}")


def _accepted(headers: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """What Accept names, the best first."""
    accept = headers.get("accept", "") or "*/*"
    found = []
    for part in accept.split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        found.append((media_type, dict(parameter.partition("=")[::2] for parameter in parameters)))
    yield from sorted(found, key=_quality, reverse=True) if "q=" in accept else found


def _quality(accepted: tuple[str, dict[str, str]]) -> float:
    try:
        return float(accepted[1].get("q", 1))
    except ValueError:
        return 1.0


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
