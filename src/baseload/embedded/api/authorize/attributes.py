"""What a request is about, as rules name it: a verb on a resource, or on a path that is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.embedded.api.options import is_yes
from baseload.values import selector

_VERBS: Final = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_OF_NAMESPACES: Final = ("status", "finalize")


@dataclass(frozen=True, slots=True)
class Attributes:
    """One thing to do; with a path, it is on no resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def combined(self) -> str:
        """The resource with its subresource, as rules and refusals write it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def of_request(method: str, path: str, steps: Sequence[str], query: Mapping[str, str]) -> Attributes:
    """The attributes of a request, whether or not its path is served."""
    match steps:
        case ["api", _, resource, *rest]:
            return _of_resource(method, "", [resource, *rest], query)
        case ["apis", group, _, resource, *rest]:
            return _of_resource(method, group, [resource, *rest], query)
    return Attributes(method.lower(), path=path or "/")


def _of_resource(method: str, group: str, steps: Sequence[str], query: Mapping[str, str]) -> Attributes:
    namespace = ""
    if steps[0] == "namespaces" and len(steps) > 1:
        namespace = steps[1]
        if len(steps) > 2 and steps[2] not in _OF_NAMESPACES:
            steps = steps[2:]
    resource, name, subresource = (*steps, "", "")[:3]
    verb = _VERBS.get(method, "")
    if not name:
        if verb == "get":
            is_watch = "watch" in query and is_yes(query["watch"])
            verb, name = "watch" if is_watch else "list", _named(query)
        elif verb == "delete":
            verb = "deletecollection"
    return Attributes(verb, group, resource, subresource, namespace, name)


def _named(query: Mapping[str, str]) -> str:
    """The name that a field selector asks for: a list of that object alone is a request for it."""
    try:
        terms = selector.parse_fields(query.get("fieldSelector", "")).terms
    except selector.SelectorError:
        return ""
    return next((value for key, is_equal, value in terms if key == "metadata.name" and is_equal), "")
