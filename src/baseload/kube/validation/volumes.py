"""The volumes of pods, and the sources that persistent volumes share with them."""

from collections.abc import Callable
from typing import Any, Final

from baseload.kube.validation import claims, names, variables
from baseload.kube.validation.fault import (
    Fault,
    Faults,
    Tree,
    among,
    duplicate,
    forbidden,
    invalid,
    not_found,
    required,
)
from baseload.kube.validation.names import each
from baseload.kube.validation.remembered import once
from baseload.kube.validation.resources import amount

ORDER: Final = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
)
"""In which a server looks at them; one after the first is one too many"""
_MISNAMED: Final = {"gcePersistentDisk": "persistentDisk"}  # in paths of what is in it
_MANY: Final = "may not specify more than 1 volume type"
_MODE_SAYS: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_HOST_PATHS: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "gitRepo": ("repository",),
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "secret": ("secretName",),
    "configMap": ("name",),
    "persistentVolumeClaim": ("claimName",),
    "nfs": ("server", "path"),
    "iscsi": ("targetPortal", "iqn"),
    "glusterfs": ("endpoints", "path"),
    "rbd": ("monitors", "image"),
    "cinder": ("volumeID",),
    "cephfs": ("monitors",),
    "quobyte": ("registry", "volume"),
    "flexVolume": ("driver",),
    "azureFile": ("secretName", "shareName"),
    "vsphereVolume": ("volumePath",),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "image": ("reference",),
}


def volumes(given: list[Tree], path: str) -> tuple[dict[str, Tree], Faults]:
    """The sound volumes of a pod by their names, and what is wrong with the others."""
    sound: dict[str, Tree] = {}
    faults: list[Fault] = []
    for index, volume in enumerate(given):
        at, name = f"{path}[{index}]", volume.get("name", "")
        found = [*source(volume, at), *names.needed(names.dns_label, name, f"{at}.name")]
        if name in sound:
            found.append(duplicate(f"{at}.name", name))
        if found:
            faults += found
        else:
            sound[name] = volume
    return sound, iter(faults)


@once
def source(volume: Tree, path: str) -> Faults:
    """What holds the data of a volume: one thing."""
    found = 0
    for name in ORDER:
        if (told := volume.get(name)) is None:
            continue
        if found:
            yield forbidden(f"{path}.{name}", _MANY)
            continue
        found += 1
        yield from _of(name, told, f"{path}.{_MISNAMED.get(name, name)}")
    if not found:
        yield required(path, "must specify a volume type")


def _of(name: str, told: Tree, path: str) -> Faults:
    for field in _NEEDS.get(name, ()):
        if not told.get(field):
            yield required(f"{path}.{field}")
    if (rule := _RULES.get(name)) is not None:
        yield from rule(told, path)


def _empty(told: Tree, path: str) -> Faults:
    if "sizeLimit" in told and amount(told["sizeLimit"]) < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _disk(told: Tree, path: str) -> Faults:
    if not 0 <= told.get("partition", 0) <= 255:
        yield invalid(f"{path}.partition", told["partition"], "must be between 1 and 255, inclusive")


def _files(told: Tree, path: str) -> Faults:
    yield from _mode(told, "defaultMode", path)
    yield from _items(told, path)


def _nfs(told: Tree, path: str) -> Faults:
    if not told.get("path", "").startswith("/"):
        yield invalid(f"{path}.path", told.get("path", ""), "must be an absolute path")


def _downward(told: Tree, path: str) -> Faults:
    yield from _mode(told, "defaultMode", path)
    for item in told.get("items", ()):
        yield from _file(item, path)


def _csi(told: Tree, path: str) -> Faults:
    yield from driver(told.get("driver", ""), f"{path}.driver")


def host_path(told: Tree, path: str) -> Faults:
    """A path on the node."""
    if not told.get("path"):
        yield required(f"{path}.path")
        return
    yield from no_steps_back(told["path"], f"{path}.path")
    yield from among(f"{path}.type", told.get("type", ""), _HOST_PATHS)


def no_steps_back(text: str, path: str) -> Faults:
    """A path that never goes up."""
    if ".." in text.split("/"):
        yield invalid(path, text, "must not contain '..'")


def descending(text: str, path: str) -> Faults:
    """A path below another."""
    if text.startswith("/"):
        yield invalid(path, text, "must be a relative path")
    yield from no_steps_back(text, path)


def _inside(text: str, path: str) -> Faults:
    yield from descending(text, path)
    if text.startswith("..") and not text.startswith("../"):
        yield invalid(path, text, "must not start with '..'")


def _mode(told: Tree, field: str, path: str) -> Faults:
    if not 0 <= told.get(field, 0) <= 0o777:
        yield invalid(f"{path}.{field}", told[field], _MODE_SAYS)


def _items(told: Tree, path: str) -> Faults:
    for index, item in enumerate(told.get("items", ())):
        at = f"{path}.items[{index}]"
        for field in ("key", "path"):
            if not item.get(field):
                yield required(f"{at}.{field}")
        yield from _inside(item.get("path", ""), f"{at}.path")
        yield from _mode(item, "mode", at)


def _file(item: Tree, path: str) -> Faults:
    """A file with a field of the pod in it; its place in the list is not told."""
    if not item.get("path"):
        yield required(f"{path}.path")
    yield from _inside(item.get("path", ""), f"{path}.path")
    if item.get("fieldRef") is not None:
        yield from variables.field(item["fieldRef"], f"{path}.fieldRef", variables.OF_FILES)
        if item.get("resourceFieldRef") is not None:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif item.get("resourceFieldRef") is not None:
        yield from variables.resource(item["resourceFieldRef"], f"{path}.resourceFieldRef", names_container=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(item, "mode", path)


def _projected(told: Tree, path: str) -> Faults:
    yield from _mode(told, "defaultMode", path)
    paths: set[str] = set()
    for index, one in enumerate(told.get("sources") or ()):
        at = f"{path}.sources[{index}]"
        kinds = [name for name in ("secret", "configMap", "downwardAPI", "serviceAccountToken") if one.get(name)]
        for extra in kinds[1:]:
            yield forbidden(f"{at}.{extra}", _MANY)
        for name in ("secret", "configMap"):
            if (found := one.get(name)) is not None:
                if not found.get("name"):
                    yield required(f"{at}.{name}.name")
                yield from _items(found, f"{at}.{name}")
                yield from _once(found.get("items", ()), paths, path, found.get("name", ""))
        if (found := one.get("downwardAPI")) is not None:
            for item in found.get("items", ()):
                yield from _file(item, f"{at}.downwardAPI")
            yield from _once(found.get("items", ()), paths, path, "downwardAPI")
        if (found := one.get("serviceAccountToken")) is not None:
            yield from _token(found, at, path)


def _once(items: Any, paths: set[str], path: str, name: str) -> Faults:
    for item in items:
        if item.get("path") and item["path"] in paths:
            yield invalid(path, name, "conflicting duplicate paths")
        paths.add(item.get("path", ""))


def _token(found: Tree, at: str, path: str) -> Faults:
    seconds = found.get("expirationSeconds", 3600)
    if seconds < 600:
        why = "may not specify a duration less than 10 minutes"
        yield invalid(f"{at}.serviceAccountToken.expirationSeconds", seconds, why)
    if seconds > 2**32:
        why = "may not specify a duration larger than 2^32 seconds"
        yield invalid(f"{at}.serviceAccountToken.expirationSeconds", seconds, why)
    if not found.get("path"):
        yield required(f"{path}.path")
    else:
        yield from _inside(found["path"], f"{path}.path")


def _ephemeral(told: Tree, path: str) -> Faults:
    template = told.get("volumeClaimTemplate")
    if template is None:
        yield required(f"{path}.volumeClaimTemplate")
        return
    at = f"{path}.volumeClaimTemplate"
    if labels := template.get("metadata", {}).get("labels"):
        yield from names.labels(labels, f"{at}.metadata.labels")
    yield from claims.spec(template.get("spec", {}), f"{at}.spec")


_RULES: Final[dict[str, Callable[[Tree, str], Faults]]] = {
    "emptyDir": _empty,
    "hostPath": host_path,
    "gcePersistentDisk": _disk,
    "awsElasticBlockStore": _disk,
    "secret": _files,
    "configMap": _files,
    "nfs": _nfs,
    "downwardAPI": _downward,
    "projected": _projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
}


_FEW_SAY: Final = frozenset(("subPath", "subPathExpr", "mountPropagation", "recursiveReadOnly"))
"""Fields of a mount that most mounts do not have"""


def mounts(container: Tree, known: dict[str, Tree], path: str) -> Faults:
    """Where a container sees the volumes of its pod."""
    seen: set[str] = set()
    devices = {one.get("name"): one.get("devicePath") for one in container.get("volumeDevices", ())}
    for index, mount in enumerate(container.get("volumeMounts", ())):
        at, name, where = f"{path}[{index}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{at}.name")
        if name not in known:
            yield not_found(f"{at}.name", name)
        if not where:
            yield required(f"{at}.mountPath")
        if where in seen:
            yield invalid(f"{at}.mountPath", where, "must be unique")
        seen.add(where)
        if name in devices:
            yield invalid(f"{at}.name", name, "must not already exist in volumeDevices")
        if where in devices.values():
            yield invalid(f"{at}.mountPath", where, "must not already exist as a path in volumeDevices")
        if not _FEW_SAY.isdisjoint(mount):
            yield from _sub_paths(mount, at, path)
            yield from _propagation(mount, container, path)


def _sub_paths(mount: Tree, at: str, path: str) -> Faults:
    if within := mount.get("subPath"):
        yield from descending(within, f"{path}.subPath")
    if expression := mount.get("subPathExpr"):
        if within:
            yield invalid(f"{at}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
        yield from descending(expression, f"{path}.subPathExpr")


def _propagation(mount: Tree, container: Tree, path: str) -> Faults:
    told = mount.get("mountPropagation")
    if told is not None:
        at = f"{path}.mountPropagation"
        yield from among(at, told, ("Bidirectional", "HostToContainer", "None"))
        if told == "Bidirectional" and not container.get("securityContext", {}).get("privileged"):
            yield forbidden(at, "Bidirectional mount propagation is available only to privileged containers")
    recursive = mount.get("recursiveReadOnly")
    if recursive is not None:
        at = f"{path}.recursiveReadOnly"
        yield from among(at, recursive, ("Disabled", "Enabled", "IfPossible"))
        if recursive in ("Enabled", "IfPossible") and not mount.get("readOnly"):
            yield forbidden(at, "may only be specified when readOnly is true")


def devices(container: Tree, known: dict[str, Tree], path: str) -> Faults:
    """The volumes that a container sees as devices."""
    seen: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices", ())):
        at, name, where = f"{path}[{index}]", device.get("name", ""), device.get("devicePath", "")
        if not name:
            yield required(f"{at}.name")
        if name not in known:
            yield not_found(f"{at}.name", name)
        elif not {"persistentVolumeClaim", "ephemeral"} & known[name].keys():
            why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{at}.name", name, why)
        if not where:
            yield required(f"{at}.devicePath")
        if where in seen:
            yield invalid(f"{at}.devicePath", where, "must be unique")
        seen.add(where)
        if where:
            yield from no_steps_back(where, f"{at}.devicePath")


def driver(name: str, path: str) -> Faults:
    """The name of a CSI driver."""
    if not name:
        yield required(path)
        return
    if len(name) > 63:
        yield Fault(path, "Too long: may not be more than 63 bytes")
    yield from each(names.subdomain(name.lower()), path, name)
