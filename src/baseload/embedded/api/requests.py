"""What a request is called in metrics: the labels of a real API server, read off its path, method and query.

Whatever is not named here (a path that nothing serves, /metrics itself) is not counted, so that nobody can make labels.
"""

from typing import Final, NamedTuple
from urllib.parse import parse_qs, unquote

from starlette.types import Scope

from baseload.embedded.api.kinds import Kinds
from baseload.embedded.api.options import is_yes


class Labels(NamedTuple):
    """The labels of a request, in the order in which metrics are written."""

    component: str = ""
    dry_run: str = ""
    group: str = ""
    resource: str = ""
    scope: str = ""
    subresource: str = ""
    verb: str = ""
    version: str = ""


_PLAIN: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_WRITES: Final = {"POST": "POST", "PUT": "PUT", "PATCH": "PATCH", "DELETE": "DELETE"}
_WRITTEN: Final = ("binding", "eviction", "finalize", "token")
_HEALTH: Final = ("healthz", "livez", "readyz")
_APPLY: Final = b"application/apply-patch"


def labels(scope: Scope, kinds: Kinds) -> Labels | None:
    """The labels of a request; None where it is not counted."""
    steps = scope["path"].strip("/").split("/")
    if steps[0] == "apis" and len(steps) > 3:
        return _of_resource(scope, kinds, steps[1], steps[2], steps[3:])
    if steps[0] == "api" and len(steps) > 2:
        return _of_resource(scope, kinds, "", steps[1], steps[2:])
    method = scope["method"] if scope["method"] in _PLAIN else "other"
    if len(steps) == 1 and steps[0] in ("api", "apis"):
        return Labels("apiserver", subresource=steps[0], verb=method)
    if len(steps) == 1 and steps[0] in _HEALTH:
        return Labels(subresource=f"/{steps[0]}", verb=method)
    if steps[:2] == ["openapi", "v3"]:
        return Labels(subresource="openapi/v3/" if len(steps) > 2 else "openapi/v3", verb=method)
    return None


def _of_resource(scope: Scope, kinds: Kinds, group: str, version: str, steps: list[str]) -> Labels | None:
    namespace = ""
    if steps[0] == "namespaces" and len(steps) > 1:
        namespace = steps[1]
        if len(steps) > 2 and (len(steps) > 3 or steps[2] not in ("status", "finalize")):
            steps = steps[2:]
    kind = kinds.find(group, version, steps[0])
    if kind is None:
        return None
    query: bytes = scope["query_string"]
    name, subresource = (*steps[1:3], "", "")[:2]
    if subresource and subresource not in kind.subresources and subresource not in kind.actions:
        return None
    is_watch = not name and b"watch" in query and _is_watch(query)
    if is_watch:
        name = _watched(query)
    is_action = subresource in kind.actions and subresource not in _WRITTEN
    verb = "CONNECT" if is_action else _verb(scope, is_watch=is_watch, is_of_one=bool(steps[1:]))
    dry_run = "All" if b"dryRun=All" in query else ""
    is_of_object = name or scope["method"] == "POST"
    reach = "resource" if is_of_object else "namespace" if namespace else "cluster"
    return Labels("apiserver", dry_run, group, steps[0], reach, subresource, verb, version)


def _verb(scope: Scope, *, is_watch: bool, is_of_one: bool) -> str:
    method = scope["method"]
    if method == "GET":
        if is_watch:
            return "WATCH"
        return "GET" if is_of_one else "LIST"
    if method == "PATCH" and any(name == b"content-type" and _APPLY in value for name, value in scope["headers"]):
        return "APPLY"
    if method == "DELETE" and not is_of_one:
        return "DELETECOLLECTION"
    return _WRITES.get(method, "other")


def _is_watch(query: bytes) -> bool:
    asked = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("watch")
    return asked is not None and is_yes(asked[-1])


def _watched(query: bytes) -> str:
    """The name that a watch is about, where it is about one object."""
    for part in query.decode("latin-1").split("&"):
        key, _, value = part.partition("=")
        if key == "fieldSelector":
            field, _, name = unquote(value).partition("=")
            return name if field == "metadata.name" else ""
    return ""
