"""What a path under /api or /apis names: a kind, and perhaps a namespace, an object and a subresource of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from baseload.embedded.api.kinds import Kinds, ServedKind
from baseload.embedded.api.refusals import no_such_path


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about."""

    kind: ServedKind
    namespace: str = ""  # "" for kinds without one, and for all of them
    name: str = ""
    subresource: str = ""


def find(kinds: Kinds, group: str, version: str, steps: Sequence[str]) -> Target:
    """The target of the steps of a path below a group's version."""
    namespace = ""
    if steps[0] == "namespaces" and len(steps) > 2 and (len(steps) > 3 or steps[2] not in ("status", "finalize")):
        namespace, steps = steps[1], steps[2:]
    kind = kinds.find(group, version, steps[0])
    if (
        kind is None
        or (len(steps) > 3 and steps[2] != "proxy")
        or "" in steps
        or (namespace and not kind.resource.namespaced)
    ):
        raise no_such_path()
    name, subresource = (*steps[1:3], "", "")[:2]
    if kind.resource.namespaced and name and not namespace:
        raise no_such_path()
    return Target(kind, namespace, name, subresource)
