"""What containers read of their pod, of ConfigMaps and of Secrets, as variables or as files."""

import re
from typing import Final

from baseload.kube.validation import names
from baseload.kube.validation.fault import Faults, Tree, invalid, required, unsupported
from baseload.kube.validation.names import each
from baseload.kube.validation.resources import amount
from baseload.values import quantity

_OF_VARIABLES: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
OF_FILES: Final = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_FIELDS: Final = frozenset((*_OF_VARIABLES, *OF_FILES, "spec.restartPolicy", "spec.schedulerName", "status.phase"))
_RESOURCES: Final = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE: Final = ("requests.hugepages-", "limits.hugepages-")
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_MANY: Final = "may not have more than one field specified at a time"
_DIVISORS: Final = {
    "cpu": ("1m", "1"),
    "memory": ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"),
}
_DIVISORS_SAID: Final = {
    "cpu": "values 1m and 1",
    "memory": "values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei",
}


def variables(given: list[Tree], path: str) -> Faults:
    """The environment of a container."""
    are_named = _are_named(given)  # as nearly all are
    for index, variable in enumerate(given):
        if are_named and "valueFrom" not in variable:
            continue
        at, name = f"{path}[{index}]", variable.get("name", "")
        yield from names.needed(names.variable, name, f"{at}.name")
        if (source := variable.get("valueFrom")) is not None:
            yield from _source(source, f"{at}.valueFrom", has_value=bool(variable.get("value")))


def _are_named(given: list[Tree]) -> bool:
    """Whether all variables have sound names."""
    told = [variable.get("name", "") for variable in given]
    return all(told) and not any(map(names.variable, told))


def _source(source: Tree, path: str, *, has_value: bool) -> Faults:
    named = [name for name in _SOURCES if source.get(name) is not None]
    for name in named:
        yield from _reference(name, source[name], f"{path}.{name}")
    if not named:
        *some, last = (f"`{name}`" for name in _SOURCES)
        yield invalid(path, "", f"must specify one of: {', '.join(some)} or {last}")
    elif has_value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(named) > 1:
        yield invalid(path, "", _MANY)


def _reference(name: str, given: Tree, path: str) -> Faults:
    match name:
        case "fieldRef":
            yield from field(given, path, _OF_VARIABLES)
        case "resourceFieldRef":
            yield from resource(given, path, names_container=False)
        case "configMapKeyRef" | "secretKeyRef":
            yield from each(names.subdomain(given.get("name", "")), f"{path}.name", given.get("name", ""))
            yield from names.needed(names.config_key, given.get("key", ""), f"{path}.key")


def field(given: Tree, path: str, supported: tuple[str, ...]) -> Faults:
    """A field of the pod."""
    told = given.get("fieldPath", "")
    if not told:
        yield required(f"{path}.fieldPath")
        return
    subscripted = re.fullmatch(r"(.*)\['(.*)'\]", told)
    if subscripted:
        whole, key = subscripted.groups()
        if whole in ("metadata.annotations", "metadata.labels"):
            yield from each(names.qualified(key.lower() if whole.endswith("annotations") else key), path, key)
        else:
            why = f"error converting fieldPath: field label does not support subscript: {told}"
            yield invalid(f"{path}.fieldPath", told, why)
    elif told not in _FIELDS:
        yield invalid(f"{path}.fieldPath", told, f"error converting fieldPath: field label not supported: {told}")
    elif told not in supported:
        yield unsupported(f"{path}.fieldPath", told, supported)


def resource(given: Tree, path: str, *, names_container: bool) -> Faults:
    """What a container requests or may use."""
    told = given.get("resource", "")
    if names_container and not given.get("containerName"):
        yield required(f"{path}.containerName")
    elif not told:
        yield required(f"{path}.resource")
    elif told not in _RESOURCES and not told.startswith(_HUGE):
        yield unsupported(f"{path}.resource", told, _RESOURCES)
    yield from _divisor(told, given.get("divisor", "0"), path)


def _divisor(resource: str, divisor: str, path: str) -> Faults:
    kind = resource.partition(".")[2]
    if not amount(divisor) or not kind:
        return
    key = "cpu" if kind == "cpu" else "memory"
    if amount(divisor) not in map(quantity.parse, _DIVISORS[key]):
        said = f"only divisor's {_DIVISORS_SAID[key]} are supported with the {kind} resource"
        yield invalid(f"{path}.divisor", resource, said)


def from_all(given: list[Tree], path: str) -> Faults:
    """All keys of a ConfigMap or a Secret as variables."""
    for index, source in enumerate(given):
        at = f"{path}[{index}]"
        if prefix := source.get("prefix"):
            yield from each(names.variable(prefix), f"{at}.prefix", prefix)
        named = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
        for name in named:
            yield from names.needed(names.subdomain, source[name].get("name", ""), f"{at}.{name}.name")
        if not named:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(named) > 1:
            yield invalid(path, "", _MANY)
