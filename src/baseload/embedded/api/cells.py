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


def count(path: str) -> Value:
    def value(tree: Tree, _: int) -> Json:
        held = at(tree, path)
        return len(held) if isinstance(held, dict | list) else 0

    return value


def age(path: str = "metadata.creationTimestamp", absent: str = "<unknown>") -> Value:
    return lambda tree, now: ages.age(held, now) if (held := at(tree, path)) else absent


def containers(field: str, path: str = "spec.template.spec") -> Value:
    return lambda tree, _: ",".join(text(item, field) for item in maps(at(tree, path), "containers"))


def selector(path: str = "spec.selector") -> Value:
    return lambda tree, _: selector_text(at(tree, path))


def selector_text(selector: Json) -> str:
    if not isinstance(selector, dict):
        return NONE
    labels = selector.get("matchLabels", {} if "matchExpressions" in selector else selector)
    terms = [f"{key}={value}" for key, value in labels.items()] if isinstance(labels, dict) else []
    for term in maps(selector, "matchExpressions"):
        key, values = text(term, "key"), ",".join(map(shown, items(term.get("values"))))
        operators = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        terms.append(operators.get(text(term, "operator"), f"!{key}"))
    return ",".join(terms) or NONE


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


def external(tree: Tree, _: int) -> str:
    spec = at(tree, "spec")
    listed = [shown(item) for item in items(at(spec, "externalIPs"))]
    kind = text(spec, "type")
    if kind == "ExternalName":
        return text(spec, "externalName")
    if kind == "LoadBalancer":
        ingress = maps(at(tree, "status.loadBalancer"), "ingress")
        listed = [text(item, "ip") or text(item, "hostname") for item in ingress] + listed
        return ",".join(listed) or "<pending>"
    return ",".join(listed) or NONE


def ports(tree: Tree, _: int) -> str:
    return ",".join(map(port, maps(at(tree, "spec"), "ports"))) or NONE


def port(port: Tree) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node}/{text(port, 'protocol')}"


def job_status(tree: Tree, _: int) -> str:
    for condition in maps(at(tree, "status"), "conditions"):
        if condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed", "Suspended"):
            return text(condition, "type")
        if condition.get("status") == "True" and condition.get("type") == "FailureTarget":
            return "FailureTarget"
    return "Terminating" if at(tree, "metadata.deletionTimestamp") else "Running"


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


def involved(tree: Tree, _: int) -> str:
    return f"{text(tree, 'involvedObject.kind').lower()}/{text(tree, 'involvedObject.name')}"


def last_seen(tree: Tree, now: int) -> str:
    moments = ("series.lastObservedTime", "lastTimestamp", "eventTime", "firstTimestamp", "metadata.creationTimestamp")
    return ages.age(next((at(tree, path) for path in moments if at(tree, path)), None), now)


def amounts(of: str) -> Value:
    def value(tree: Tree, _: int) -> str:
        hard, used = at(tree, "status.hard"), at(tree, "status.used")
        if not isinstance(hard, dict):
            return ""
        told = used if isinstance(used, dict) else {}
        names = [name for name in sorted(hard) if name.startswith("limits.") == (of == "limits")]
        return ", ".join(f"{name}: {shown(told.get(name, '0'))}/{shown(hard[name])}" for name in names)

    return value


def default_class(tree: Tree, _: int) -> str:
    name = text(tree, "metadata.name")
    annotations = at(tree, "metadata.annotations")
    mark = "storageclass.kubernetes.io/is-default-class"
    is_default = isinstance(annotations, dict) and annotations.get(mark) == "true"
    return f"{name} (default)" if is_default else name


def modes(tree: Tree, _: int) -> str:
    short = {
        "ReadWriteOnce": "RWO",
        "ReadOnlyMany": "ROX",
        "ReadWriteMany": "RWX",
        "ReadWriteOncePod": "RWOP",
    }
    modes = [shown(mode) for mode in items(at(tree, "spec.accessModes"))]
    return ",".join(short.get(mode, mode) for mode in dict.fromkeys(modes))


def bound_claim(tree: Tree, _: int) -> str:
    claim = at(tree, "spec.claimRef")
    return f"{text(claim, 'namespace')}/{text(claim, 'name')}" if isinstance(claim, dict) else ""


def phase(tree: Tree, _: int) -> str:
    return "Terminating" if at(tree, "metadata.deletionTimestamp") else text(tree, "status.phase")


def bool(path: str) -> Value:
    return lambda tree, _: "true" if at(tree, path) is True else "false"


def hosts(tree: Tree, _: int) -> str:
    return ",".join(filter(None, (text(rule, "host") for rule in maps(at(tree, "spec"), "rules")))) or "*"


def load_balancer(tree: Tree, _: int) -> str:
    ingress = maps(at(tree, "status.loadBalancer"), "ingress")
    return ",".join(text(item, "ip") or text(item, "hostname") for item in ingress)


def active(tree: Tree, _: int) -> int:
    return len(items(at(tree, "status.active")))
