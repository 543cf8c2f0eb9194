"""Security contexts of pods and containers."""

import re
from typing import Final

from baseload.kube.validation import go_structs
from baseload.kube.validation.fault import Faults, Tree, among, duplicate, forbidden, invalid, required, unsupported
from baseload.kube.validation.remembered import once

_MOST: Final = 2**31 - 1
_ID_SAYS: Final = f"must be between 0 and {_MOST}, inclusive"
_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL: Final = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"


def _ids(given: Tree, path: str, *fields: str) -> Faults:
    for field in fields:
        if (number := given.get(field)) is not None and not 0 <= number <= _MOST:
            yield invalid(f"{path}.{field}", number, _ID_SAYS)


@once
def of_container(given: Tree, path: str) -> Faults:
    """The security context of a container."""
    yield from _ids(given, path, "runAsUser", "runAsGroup")
    if (mount := given.get("procMount")) is not None and mount not in ("Default", "Unmasked"):
        yield unsupported(f"{path}.procMount", mount, ("Default", "Unmasked"))
    if (profile := given.get("seccompProfile")) is not None:
        yield from _seccomp(profile, f"{path}.seccompProfile")
    if given.get("allowPrivilegeEscalation") is False:
        if given.get("privileged"):
            why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield invalid(path, go_structs.printed("SecurityContext", given), why)
        if any(one in ("CAP_SYS_ADMIN",) for one in given.get("capabilities", {}).get("add", ())):
            why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield invalid(path, go_structs.printed("SecurityContext", given), why)
    if (profile := given.get("appArmorProfile")) is not None:
        yield from _app_armor(profile, f"{path}.appArmorProfile")


def _seccomp(given: Tree, path: str) -> Faults:
    kind, profile = given.get("type", ""), given.get("localhostProfile")
    if not kind:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        yield unsupported(f"{path}.type", kind, _PROFILES)
    if kind == "Localhost":
        if not profile:
            yield required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
    elif profile is not None and kind in _PROFILES:
        told = {"Type": kind, "LocalhostProfile": profile}
        yield invalid(f"{path}.localhostProfile", told, "can only be set when seccomp type is Localhost")


def _app_armor(given: Tree, path: str) -> Faults:
    kind, profile = given.get("type", ""), given.get("localhostProfile")
    if not kind:
        yield required(f"{path}.type", "type is required when appArmorProfile is set")
    elif kind not in _PROFILES:
        yield unsupported(f"{path}.type", kind, _PROFILES)
    if kind == "Localhost" and not profile:
        yield required(f"{path}.localhostProfile", "must be set when AppArmor type is Localhost")
    elif kind in _PROFILES[1:] and profile is not None:
        yield invalid(f"{path}.localhostProfile", profile, "can only be set when AppArmor type is Localhost")


@once
def of_pod(given: Tree, path: str) -> Faults:
    """The security context of a pod."""
    yield from _ids(given, path, "fsGroup", "runAsUser", "runAsGroup")
    for index, number in enumerate(given.get("supplementalGroups", ())):
        if not 0 <= number <= _MOST:
            yield invalid(f"{path}.supplementalGroups[{index}]", number, _ID_SAYS)
    if (policy := given.get("supplementalGroupsPolicy")) is not None:
        yield from among(f"{path}.supplementalGroupsPolicy", policy, ("Merge", "Strict"))
    if given.get("sysctls"):
        yield from _sysctls(given["sysctls"], f"{path}.sysctls")
    if (policy := given.get("fsGroupChangePolicy")) is not None:
        yield from among(f"{path}.fsGroupChangePolicy", policy, ("Always", "OnRootMismatch"))
    if (profile := given.get("seccompProfile")) is not None:
        yield from _seccomp(profile, f"{path}.seccompProfile")
    if (profile := given.get("appArmorProfile")) is not None:
        yield from _app_armor(profile, f"{path}.appArmorProfile")


def _sysctls(given: list[Tree], path: str) -> Faults:
    seen: set[str] = set()
    for index, sysctl in enumerate(given):
        at, name = f"{path}[{index}].name", sysctl.get("name", "")
        if not name:
            yield required(at)
        elif len(name) > 253 or not re.match(_SYSCTL, name):
            yield invalid(at, name, f"must have at most 253 characters and match regex {_SYSCTL}")
        elif name in seen:
            yield duplicate(at, name)
        seen.add(name)


def processes(spec: Tree, path: str) -> Faults:
    """Which of the host's namespaces a pod may share, and with what."""
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{path}.shareProcessNamespace", True, why)


def users(spec: Tree, path: str) -> Faults:
    """A pod with users of its own shares nothing of its host."""
    if spec.get("hostUsers") is not False:
        return
    for name, told in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(name):
            yield forbidden(f"{path}.{told}", "when `hostUsers` is false")
