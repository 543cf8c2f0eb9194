"""What stands in the cells of tables: how each is read from an object, in a real server's words."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from baseload.embedded.api import ages
from baseload.embedded.api.pod_rows import at, maps, text
from baseload.embedded.store.record import Json
from baseload.values import instant

Tree: TypeAlias = dict[str, Json]
Value: TypeAlias = Callable[[Tree, int], Json]

NONE: Final = "<none>"


@dataclass(frozen=True, slots=True)
class Cell:
    """One column; those with a priority above 0 are for `-o wide`."""

    name: str
    text: Value
    type: str = "string"
    priority: int = 0
    format: str = ""


def shown(value: Json) -> str:
    """A value as a cell prints it."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))


def path(path: str, absent: str = "") -> Value:
    return lambda tree, _: text(tree, path) or absent


def number(path: str, absent: int | None = 0) -> Value:
    def value(tree: Tree, _: int) -> Json:
        held = at(tree, path)
        return absent if held is None else held

    return value


def count(*paths: str) -> Value:
    """How many there are in maps or lists."""

    def value(tree: Tree, _: int) -> Json:
        return sum(len(held) for path in paths if isinstance(held := at(tree, path), dict | list))

    return value


def age(path: str = "metadata.creationTimestamp", absent: str = "<unknown>") -> Value:
    return lambda tree, now: ages.age(held, now) if (held := at(tree, path)) else absent


def containers(field: str, path: str = "spec.template.spec") -> Value:
    return lambda tree, _: ",".join(text(item, field) for item in maps(at(tree, path), "containers"))


def selector(path: str = "spec.selector") -> Value:
    return lambda tree, _: selector_text(at(tree, path))


def selector_text(selector: Json) -> str:
    """A label selector, its terms in the order of their keys."""
    if not isinstance(selector, dict):
        return NONE
    labels = selector.get("matchLabels", {} if "matchExpressions" in selector else selector)
    terms = [(key, f"{key}={value}") for key, value in labels.items()] if isinstance(labels, dict) else []
    terms += [(text(term, "key"), _requirement(term)) for term in maps(selector, "matchExpressions")]
    return ",".join(told for _, told in sorted(terms, key=lambda term: term[0])) or NONE


def _requirement(term: Tree) -> str:
    key, values = text(term, "key"), ",".join(sorted(map(shown, items(term.get("values")))))
    operators = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
    return operators.get(text(term, "operator"), f"!{key}")


def items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def ratio(ready: str, wanted: str) -> Value:
    return lambda tree, _: f"{at(tree, ready) or 0}/{at(tree, wanted) or 0}"


def node_status(tree: Tree, _: int) -> str:
    said = ""
    for condition in maps(at(tree, "status"), "conditions"):
        if condition.get("type") == "Ready":
            said = "Ready" if condition.get("status") == "True" else "NotReady"
    said = said or "Unknown"
    return f"{said},SchedulingDisabled" if at(tree, "spec.unschedulable") is True else said


def roles(tree: Tree, _: int) -> str:
    labels = at(tree, "metadata.labels")
    prefix = "node-role.kubernetes.io/"
    found = set()
    for key, value in labels.items() if isinstance(labels, dict) else ():
        if key.startswith(prefix) and len(key) > len(prefix):
            found.add(key[len(prefix) :])
        elif key == "kubernetes.io/role" and value:
            found.add(str(value))
    return ",".join(sorted(found)) or NONE


def address(type: str) -> Value:
    def value(tree: Tree, _: int) -> str:
        addresses = maps(at(tree, "status"), "addresses")
        return next((text(item, "address") for item in addresses if item.get("type") == type), NONE)

    return value


_ENDED: Final = ("Complete", "Failed")
_GOES_ON: Final = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def job_status(tree: Tree, _: int) -> str:
    """The condition of a job that says most of it."""
    conditions = maps(at(tree, "status"), "conditions")
    true = {text(condition, "type") for condition in conditions if condition.get("status") == "True"}
    told = next((type for type in _ENDED if type in true), "")
    if not told and at(tree, "metadata.deletionTimestamp"):
        return "Terminating"
    return told or next((type for type in _GOES_ON if type in true), "Running")


def completions(tree: Tree, _: int) -> str:
    done, wanted, parallel = (at(tree, path) for path in ("status.succeeded", "spec.completions", "spec.parallelism"))
    if wanted is not None:
        return f"{done or 0}/{wanted}"
    many = isinstance(parallel, int) and parallel > 1
    return f"{done or 0}/1 of {parallel}" if many else f"{done or 0}/1"


def took(tree: Tree, now: int) -> str:
    start, end = at(tree, "status.startTime"), at(tree, "status.completionTime")
    if not isinstance(start, str):
        return ""
    return ages.age(start, instant.parse(end) if isinstance(end, str) else now)


def reference(tree: Tree, _: int) -> str:
    return f"{text(tree, 'spec.scaleTargetRef.kind')}/{text(tree, 'spec.scaleTargetRef.name')}"


def role(tree: Tree, _: int) -> str:
    return f"{text(tree, 'roleRef.kind')}/{text(tree, 'roleRef.name')}"


def kernel(tree: Tree, _: int) -> str:
    """A node's kernel, with the architecture where it is known."""
    architecture = text(tree, "status.nodeInfo.architecture")
    version = text(tree, "status.nodeInfo.kernelVersion") or "<unknown>"
    return f"{version} ({architecture})" if architecture else version


def subjects(kind: str) -> Value:
    """The subjects of a binding that are of a kind, one after the other."""

    def value(tree: Tree, _: int) -> str:
        return ", ".join(_subject(held) for held in maps(tree, "subjects") if held.get("kind") == kind)

    return value


def _subject(subject: Tree) -> str:
    name, namespace = text(subject, "name"), text(subject, "namespace")
    return f"{namespace}/{name}" if subject.get("kind") == "ServiceAccount" and namespace else name


def controller(tree: Tree, _: int) -> str:
    """Who controls an object, as KIND.GROUP/NAME."""
    owners = maps(at(tree, "metadata"), "ownerReferences")
    owner = next((held for held in owners if held.get("controller") is True), None)
    if owner is None:
        return NONE
    group = text(owner, "apiVersion").rpartition("/")[0]
    kind = f"{text(owner, 'kind')}.{group}" if group else text(owner, "kind")
    return f"{kind.lower()}/{text(owner, 'name')}"


def amounts(of: str) -> Value:
    def value(tree: Tree, _: int) -> str:
        hard, used = at(tree, "status.hard"), at(tree, "status.used")
        if not isinstance(hard, dict):
            return ""
        told = used if isinstance(used, dict) else {}
        names = [name for name in sorted(hard) if name.startswith("limits.") == (of == "limits")]
        return ", ".join(f"{name}: {shown(told.get(name, '0'))}/{shown(hard[name])}" for name in names)

    return value


def default_class(mark: str) -> Value:
    """The name of a class, and whether the mark makes it the default."""

    def value(tree: Tree, _: int) -> str:
        name, annotations = text(tree, "metadata.name"), at(tree, "metadata.annotations")
        is_default = isinstance(annotations, dict) and annotations.get(mark) == "true"
        return f"{name} (default)" if is_default else name

    return value


_MODES: Final = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def modes(path: str) -> Value:
    """Access modes in short, in their usual order."""

    def value(tree: Tree, _: int) -> str:
        held = items(at(tree, path))
        return ",".join(short for mode, short in _MODES.items() if mode in held)

    return value


def bound(value: Value) -> Value:
    """What a claim has from its volume: nothing before it has one."""
    return lambda tree, now: value(tree, now) if text(tree, "spec.volumeName") else ""


def bound_claim(tree: Tree, _: int) -> str:
    claim = at(tree, "spec.claimRef")
    return f"{text(claim, 'namespace')}/{text(claim, 'name')}" if isinstance(claim, dict) else ""


def phase(tree: Tree, _: int) -> str:
    return "Terminating" if at(tree, "metadata.deletionTimestamp") else text(tree, "status.phase")


def truth(path: str, *, absent: bool = False) -> Value:
    def value(tree: Tree, _: int) -> bool:
        held = at(tree, path)
        return held if isinstance(held, bool) else absent

    return value


def active(tree: Tree, _: int) -> int:
    return len(items(at(tree, "status.active")))
