"""One request, read: what it is about, what it asks for, and its body as far as it is JSON or YAML."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, cast

from starlette.datastructures import QueryParams

from baseload.embedded.api import json_body, options, protobuf_body, selector_words
from baseload.embedded.api.identity import ADMIN, Identity
from baseload.embedded.api.refusals import Unsupported, not_registered, of_other_kind
from baseload.embedded.store.deletion import Options, Propagation
from baseload.embedded.store.errors import BadRequest
from baseload.embedded.store.listing import Asked, Match
from baseload.embedded.store.parse import version_of
from baseload.embedded.store.record import Json
from baseload.embedded.store.selection import Selection
from baseload.kube import yaml_reader
from baseload.kube.sources import Source
from baseload.values import selector

Validation = Literal["Strict", "Warn", "Ignore"]
Tree = dict[str, Json]

JSON: Final = "application/json"
APPLY: Final = "application/apply-patch+yaml"
YAML: Final = ("application/yaml", APPLY)
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
_OPTIONS: Final = "DeleteOptions"
_NO_YAML: Final = re.compile(
    r"is not YAML: (?:(?P<doing>while [a-z]+) [^:]*: )?(?P<problem>.*): line (?P<line>[0-9]+), column [0-9]+"
)


class Unreadable(BadRequest):
    """A body that is not what its type says."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request without its path."""

    method: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)  # names in small letters
    body: bytes = b""
    warnings: list[str] = field(default_factory=list)  # for the answer's Warning headers
    identity: Identity = ADMIN  # who asks

    def flag(self, name: str) -> bool:
        """A yes or no in the query."""
        return name in self.query and options.is_yes(self.query[name])

    def each(self, name: str) -> list[str]:
        """All values of an option that may be repeated."""
        query = self.query
        return query.getlist(name) if isinstance(query, QueryParams) else [query[name]] * (name in query)

    def number(self, name: str) -> int:
        """A whole number in the query; 0 where there is none."""
        text = self.query.get(name, "")
        return options.integer(text) if text else 0

    @property
    def media_type(self) -> str:
        """The body's type, without parameters; JSON where nothing is said."""
        return _media_type(self.headers.get("content-type", JSON))

    @property
    def manager(self) -> str:
        """Who writes, as managedFields names him."""
        return self.query.get("fieldManager") or self.headers.get("user-agent", "").partition("/")[0] or "unknown"

    @property
    def is_dry_run(self) -> bool:
        return bool(self.query.get("dryRun"))

    @property
    def validation(self) -> Validation:
        return cast(Validation, self.query.get("fieldValidation") or "Warn")

    def selection(self, namespace: str, name: str = "") -> Selection:
        """What a list or a watch is about; a name narrows it to one object."""
        told, about = self.query.get("labelSelector", ""), self.query.get("fieldSelector", "")
        try:
            labels = selector.parse(told)
        except selector.SelectorError as error:
            raise BadRequest(selector_words.of_labels(told) or str(error)) from error
        try:
            fields = selector.parse_fields(about)
        except selector.SelectorError as error:
            raise BadRequest(selector_words.of_fields(about) or str(error)) from error
        if name:
            fields = selector.FieldSelector((*fields.terms, ("metadata.name", True, name)))
        return Selection(namespace, labels, fields)

    def version(self) -> int | None:
        """The resourceVersion in the query; None where there is none."""
        text = self.query.get("resourceVersion", "")
        return options.version(text) if text else None

    def asked(self) -> Asked:
        """What a list asks for beside the selection."""
        match = self.query.get("resourceVersionMatch", "")
        return Asked(max(0, self.number("limit")), self.query.get("continue", ""), self.version(), cast(Match, match))

    def tree(self, api_version: str = "", kind: str = "") -> Tree:
        """The body as an object; one in protobuf may leave it to the caller to say of which kind it is."""
        if self.media_type == PROTOBUF:
            return protobuf_body.tree(self.body, api_version, kind)
        value = decoded(self.body, self.media_type)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise Unreadable(f"couldn't get version/kind; json parse error: {json_body.no_object(value)}")
        return value

    def object(self, api_version: str, kind: str) -> Tree:
        """The body as an object of one kind; refuses any other."""
        tree = self.tree(api_version, kind)
        if tree.get("kind") not in (None, "", kind):
            raise of_other_kind(str(tree.get("apiVersion") or api_version), str(tree["kind"]), api_version, kind)
        return tree

    def _told_options(self) -> Tree:
        """DeleteOptions as the body has them."""
        if not self.body.strip():
            return {}
        told = self.tree("v1", _OPTIONS)
        if told.get("kind") not in (None, "", _OPTIONS):
            raise BadRequest(not_registered(str(told.get("apiVersion") or "v1"), str(told["kind"])))
        return told

    def options(self) -> Options:
        """DeleteOptions, from the body or the query."""
        told = self._told_options()
        preconditions = told.get("preconditions")
        held = preconditions if isinstance(preconditions, dict) else {}
        grace = told.get("gracePeriodSeconds", self.query.get("gracePeriodSeconds"))
        policy = told.get("propagationPolicy") or self.query.get("propagationPolicy")
        orphans = told.get("orphanDependents") or self.flag("orphanDependents")
        options.check_delete(policy, sets_orphans=bool(orphans))
        if policy is None and orphans:
            policy = "Orphan"
        return Options(
            _seconds(grace),
            cast("Propagation | None", policy),
            str(held.get("uid") or ""),
            _version(str(held.get("resourceVersion") or "")),
        )

    def is_dry_delete(self) -> bool:
        """Whether a delete only asks what would be."""
        told = self._told_options().get("dryRun") or self.query.get("dryRun") or []
        values = told if isinstance(told, list) else [told]
        if causes := [cause for value in values for cause in options.dry_run(str(value))]:
            raise options.invalid(_OPTIONS, *causes)
        return bool(values)


def _version(text: str) -> int:
    """The resourceVersion that a precondition names; a text that is none is that of no object."""
    return version_of(text) if not text or (text.isascii() and text.isdecimal() and len(text) < 20) else -1


@lru_cache(maxsize=64)
def _media_type(told: str) -> str:
    return told.partition(";")[0].strip().lower() or JSON


def unsupported(*accepted: str) -> Unsupported:
    """A body of a type that is not read where it was sent."""
    wording = "the body of the request was in an unknown format - accepted media types include: "
    return Unsupported(wording + ", ".join(accepted))


def _seconds(value: Json) -> int | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = options.integer(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadRequest("json: cannot unmarshal into Go struct field DeleteOptions.gracePeriodSeconds of type int64")
    return value if value >= 0 else 1  # as short as can be


def decoded(body: bytes, media_type: str) -> Json:
    """A body of one of the types that are read."""
    if media_type in YAML and not body.lstrip().startswith(b"{"):
        return _yaml(body)
    if media_type not in (*YAML, JSON) and not media_type.endswith("-patch+json"):
        raise unsupported(JSON, YAML[0])
    try:
        return json_body.read(body)
    except json_body.NoJson as error:
        if media_type in YAML:
            return _yaml(body)  # a map in braces need not be JSON
        raise Unreadable(f"couldn't get version/kind; json parse error: {error}") from error
    except RecursionError as error:
        raise BadRequest("the body is nested too deeply") from error


def _in_go(message: str) -> str:
    """What is wrong with YAML as Go's reader says it: without what it was doing, and in lines from none on."""
    found = _NO_YAML.fullmatch(message)
    if found is None:
        return f"yaml: {message}"
    before = int(found["line"]) - 1
    line = before + 1 if found["doing"] == "while scanning" else before
    return f"yaml: line {line}: {found['problem']}" if before else f"yaml: {found['problem']}"


def _yaml(body: bytes) -> Json:
    try:
        text = body.decode().encode()
    except UnicodeDecodeError as error:
        raise Unreadable("yaml: invalid leading UTF-8 octet") from error
    values, faults = yaml_reader.read(Source("body", text))
    if faults:
        raise Unreadable(_in_go(faults[0].message))
    if len(values) != 1:
        raise BadRequest("the body must hold one object")
    return cast(Json, values[0][1])
