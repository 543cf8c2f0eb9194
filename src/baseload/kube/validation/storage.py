"""Volumes, the classes that they come from, and the drivers that provide them."""

from typing import Any, Final

from baseload.kube.validation import affinity, claims, difference, names, resources, volumes
from baseload.kube.validation.fault import (
    Faults,
    Tree,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_negative,
    required,
    unsupported,
)
from baseload.kube.validation.names import each

_NOT_SOURCES: Final = frozenset(
    (
        "capacity",
        "accessModes",
        "claimRef",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "mountOptions",
        "volumeMode",
        "nodeAffinity",
        "volumeAttributesClassName",
    )
)
_RECLAIM: Final = ("Delete", "Recycle", "Retain")
_BINDING: Final = ("Immediate", "WaitForFirstConsumer")
_SOURCE_FIXED: Final = "spec.persistentvolumesource is immutable after creation"


def volume(tree: Tree, old: Tree | None) -> Faults:
    """A PersistentVolume."""
    spec = tree.get("spec", {})
    yield from claims.access_modes(spec.get("accessModes"), "spec.accessModes", "")
    yield from _capacity(spec.get("capacity"))
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy not in _RECLAIM:
        yield unsupported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM)
    if (wanted := spec.get("nodeAffinity")) is not None:
        if wanted.get("required") is None:
            yield required("spec.nodeAffinity.required", "must specify required node constraints")
        else:
            yield from affinity.node_selector(wanted["required"], "spec.nodeAffinity.required")
    yield from _sources(spec)
    if name := spec.get("storageClassName"):
        yield from each(names.subdomain(name), "spec.storageClassName", name)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in claims.VOLUME_MODES:
        yield unsupported("spec.volumeMode", mode, claims.VOLUME_MODES)
    if old is not None:
        yield from _changes(spec, old.get("spec", {}))


def _capacity(given: Tree | None) -> Faults:
    if not given:
        yield required("spec.capacity")
    if not given or list(given) != ["storage"]:
        yield unsupported("spec.capacity", given, ("storage",))
    for name, amount in sorted((given or {}).items()):
        if name == "storage" and resources.amount(amount) <= 0:
            yield invalid(f"spec.capacity[{name}]", str(amount), "must be greater than zero")


def _sources(spec: Tree) -> Faults:
    named = [name for name in (*volumes.ORDER, "local") if spec.get(name) is not None]
    for name in named[1:]:
        yield forbidden(f"spec.{name}", "may not specify more than 1 volume type")
    if not named:
        yield required("spec", "must specify a volume type")
        return
    name, told = named[0], spec[named[0]]
    match name:
        case "hostPath":
            yield from volumes.host_path(told, "spec.hostPath")
        case "csi":
            yield from volumes.driver(told.get("driver", ""), "spec.csi.driver")
            if not told.get("volumeHandle"):
                yield required("spec.csi.volumeHandle")
        case "local":
            if not told.get("path"):
                yield required("spec.local.path")
            if spec.get("nodeAffinity") is None:
                yield required("spec.nodeAffinity", "Local volume requires node affinity")
        case _:
            yield from volumes.source({name: told}, "spec")


def _changes(spec: Tree, old: Tree) -> Faults:
    sources = [{name: value for name, value in one.items() if name not in _NOT_SOURCES} for one in (old, spec)]
    if sources[0] != sources[1]:
        shown = difference.of("PersistentVolumeSource", *sources)
        yield forbidden("spec.persistentvolumesource", f"{_SOURCE_FIXED}\n{shown}")
    if spec.get("volumeMode") != old.get("volumeMode"):
        yield immutable("volumeMode", spec.get("volumeMode"))


def storage_class(tree: Tree, old: Tree | None) -> Faults:
    """A StorageClass."""
    provisioner = tree.get("provisioner", "")
    if not provisioner:
        yield required("provisioner")
    else:
        yield from each(names.qualified(provisioner.lower()), "provisioner", provisioner.lower())
    for key in tree.get("parameters", {}):
        if not key:
            yield invalid("parameters", "", "field can not be empty.")
    policy, mode = tree.get("reclaimPolicy"), tree.get("volumeBindingMode")
    if policy not in ("Delete", "Retain"):
        yield unsupported("reclaimPolicy", policy, ("Delete", "Retain"))
    if mode not in _BINDING:
        yield unsupported("volumeBindingMode", mode, _BINDING)
    yield from _topologies(tree.get("allowedTopologies", ()))
    if old is not None:
        for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            if (tree.get(field) or None) != (old.get(field) or None):
                yield immutable(field, None)


def _topologies(given: Any) -> Faults:
    for index, term in enumerate(given):
        expressions = term.get("matchLabelExpressions", ())
        if not expressions:
            yield duplicate(f"allowedTopologies[{index}].matchLabelExpressions", "")
        seen: set[str] = set()
        for place, expression in enumerate(expressions):
            at, key = f"allowedTopologies[{index}].matchLabelExpressions[{place}]", expression.get("key", "")
            yield from _topology(expression, at)
            yield from each(names.qualified(key), f"{at}.key", key)
            if key in seen:
                yield duplicate(f"{at}.key", key)
            seen.add(key)


def _topology(expression: Tree, at: str) -> Faults:
    values = expression.get("values", ())
    if not values:
        yield required(f"{at}.values")
    for index, value in enumerate(values):
        if value in values[:index]:
            yield duplicate(f"{at}.values[{index}]", value)


def csi_driver(tree: Tree, old: Tree | None) -> Faults:
    """A CSIDriver."""
    spec = tree.get("spec", {})
    policy = spec.get("fsGroupPolicy")
    known = ("File", "None", "ReadWriteOnceWithFSType")
    if policy is not None and policy not in known:
        yield unsupported("spec.fsGroupPolicy", policy, known)
    seen: set[str] = set()
    for index, asked in enumerate(spec.get("tokenRequests", ())):
        at, audience = f"spec.tokenRequests[{index}]", asked.get("audience", "")
        if audience in seen:
            yield duplicate(f"{at}.audience", audience)
        seen.add(audience)
        if (seconds := asked.get("expirationSeconds")) is not None and seconds < 600:
            yield invalid(f"{at}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    for mode in spec.get("volumeLifecycleModes", ()):
        if mode not in ("Persistent", "Ephemeral"):
            yield unsupported("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))
    if old is not None:
        before = old.get("spec", {})
        if spec.get("attachRequired") != before.get("attachRequired"):
            yield immutable("spec.attachedRequired", spec.get("attachRequired"))
        if spec.get("volumeLifecycleModes") != before.get("volumeLifecycleModes"):
            yield immutable("spec.volumeLifecycleModes", spec.get("volumeLifecycleModes"))


def csi_node(tree: Tree, old: Tree | None) -> Faults:
    """A CSINode."""
    seen: set[str] = set()
    for index, driver in enumerate(tree.get("spec", {}).get("drivers", ())):
        at, name = f"spec.drivers[{index}]", driver.get("name", "")
        yield from volumes.driver(name, f"{at}.name")
        if not driver.get("nodeID"):
            yield required(f"{at}.nodeID")
        yield from not_negative(f"{at}.allocatable.count", driver.get("allocatable", {}).get("count"))
        keys = driver.get("topologyKeys", ())
        for place, key in enumerate(keys):
            yield from each(names.qualified(key), at, key)
            if key in keys[:place]:
                yield duplicate(at, key)
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
    if old is not None:
        yield from _drivers(tree.get("spec", {}).get("drivers", ()), old.get("spec", {}).get("drivers", ()))


def _drivers(new: Any, old: Any) -> Faults:
    """A driver may come and go, not change but for how many volumes it takes."""
    known = {driver.get("name"): driver for driver in old}
    for driver in new:
        before = known.get(driver.get("name"))
        if before is not None and _fixed(driver) != _fixed(before):
            yield immutable("spec.drivers", _fixed(driver) | {"Allocatable": driver.get("allocatable")})


def _fixed(driver: Tree) -> Tree:
    return {"Name": driver.get("name"), "NodeID": driver.get("nodeID"), "TopologyKeys": driver.get("topologyKeys")}


def attachment(tree: Tree, old: Tree | None) -> Faults:
    """A VolumeAttachment."""
    spec = tree.get("spec", {})
    source = spec.get("source", {})
    node, attacher = spec.get("nodeName", ""), spec.get("attacher", "")
    if not source.get("persistentVolumeName") and source.get("inlineVolumeSpec") is None:
        why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        yield required("spec.source", why)
    elif source.get("persistentVolumeName") and source.get("inlineVolumeSpec") is not None:
        yield forbidden("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
    yield from each(names.subdomain(node), "spec.nodeName", node)
    if not attacher:
        yield required("spec.attacher")
    else:
        yield from each(names.any_case_subdomain(attacher), "spec.attacher", attacher)
    if old is not None and spec != old.get("spec"):
        yield immutable("spec", None)
