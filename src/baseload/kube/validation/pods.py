"""Pods, and the templates that pods are made from."""

from typing import Final

from baseload.kube.validation import affinity, containers, metadata, names, pod_changes, resources, security, volumes
from baseload.kube.validation.containers import Surroundings
from baseload.kube.validation.fault import Faults, Tree, among, duplicate, forbidden, invalid, required, unsupported
from baseload.kube.validation.names import each

_RESTARTS: Final = ("Always", "OnFailure", "Never")
_DNS: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_SYSTEMS: Final = ("linux", "windows")
_MOST: Final = 2**31 - 1
_MIRROR: Final = "kubernetes.io/config.mirror"
_NOT_ON_WINDOWS: Final = ("hostPID", "hostIPC", "hostUsers", "shareProcessNamespace")


def pod(tree: Tree, old: Tree | None) -> Faults:
    """A Pod."""
    spec_of = tree.get("spec", {})
    yield from _mirror(tree)
    yield from spec(spec_of, "spec")
    if old is not None:
        yield from pod_changes.pod(tree, old)
        return
    if spec_of.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec_of.get("nodeName") and spec_of.get("schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def _mirror(tree: Tree) -> Faults:
    told = tree.get("metadata", {}).get("annotations", {}).get(_MIRROR)
    if told is not None and not tree.get("spec", {}).get("nodeName"):
        path = f"metadata.annotations[{_MIRROR}]"
        yield invalid(path, told, "must set spec.nodeName if mirror pod annotation is set")


def template(given: Tree, path: str) -> Faults:
    """A template of pods; the paths of its metadata leave out that word."""
    held = given.get("metadata", {})
    if labels := held.get("labels"):
        yield from names.labels(labels, f"{path}.labels")
    if annotations := held.get("annotations"):
        yield from metadata.annotations(annotations, f"{path}.annotations")
    yield from spec(given.get("spec", {}), f"{path}.spec")
    if given.get("spec", {}).get("ephemeralContainers"):
        yield forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def pod_template(tree: Tree, old: Tree | None) -> Faults:
    """A PodTemplate."""
    yield from template(tree.get("template", {}), "template")


def spec(given: Tree, path: str) -> Faults:
    """The spec of a pod, in the order in which a server looks at it."""
    sound, faults = volumes.volumes(given.get("volumes", []), f"{path}.volumes")
    yield from faults
    claims = frozenset(one.get("name", "") for one in given.get("resourceClaims", ()))
    around = Surroundings(sound, claims, given.get("terminationGracePeriodSeconds"))
    yield from containers.all_of(given, path, around)
    yield from resources.of_pod(given, path)
    if given.get("hostNetwork"):
        yield from containers.on_host_network(given, path)
    yield from among(f"{path}.restartPolicy", given.get("restartPolicy"), _RESTARTS)
    yield from among(f"{path}.dnsPolicy", given.get("dnsPolicy"), _DNS)
    if selector := given.get("nodeSelector"):
        yield from names.labels(selector, f"{path}.nodeSelector")
    if context := given.get("securityContext"):
        yield from security.of_pod(context, f"{path}.securityContext")
    yield from security.processes(given, path)
    if (wanted := given.get("affinity")) is not None:
        yield from affinity.affinity(wanted, f"{path}.affinity")
    yield from _dns(given, path)
    yield from _gates(given, path)
    if constraints := given.get("topologySpreadConstraints"):
        yield from affinity.spread(constraints, f"{path}.topologySpreadConstraints")
    yield from security.users(given, path)
    yield from _identity(given, path)
    if tolerations := given.get("tolerations"):
        yield from affinity.tolerations(tolerations, f"{path}.tolerations")
    yield from _rest(given, path)


def _dns(given: Tree, path: str) -> Faults:
    config = given.get("dnsConfig")
    at = f"{path}.dnsConfig"
    if given.get("dnsPolicy") == "None":
        if config is None:
            yield required(at, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            yield required(f"{at}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
    if config is None:
        return
    for index, server in enumerate(config.get("nameservers", ())):
        if names.address(server) is None:
            yield invalid(f"{at}.nameservers[{index}]", server, names.IP_SAYS)
    for index, search in enumerate(config.get("searches", ())):
        yield from each(names.underscored_subdomain(search.rstrip(".")), f"{at}.searches[{index}]", search)
    for index, option in enumerate(config.get("options", ())):
        if not option.get("name"):
            yield required(f"{at}.options[{index}]", "must not be empty")


def _gates(given: Tree, path: str) -> Faults:
    for index, gate in enumerate(given.get("readinessGates", ())):
        told = gate.get("conditionType", "")
        yield from each(names.qualified(told), f"{path}.readinessGates[{index}].conditionType", told)
    seen: set[str] = set()
    for index, gate in enumerate(given.get("schedulingGates", ())):
        at, told = f"{path}.schedulingGates[{index}]", gate.get("name", "")
        yield from each(names.qualified(told), at, told)
        if told in seen:
            yield duplicate(at, told)
        seen.add(told)


def _identity(given: Tree, path: str) -> Faults:
    """Names and how long the pod may run."""
    for field in ("serviceAccountName", "nodeName"):
        if told := given.get(field):
            yield from each(names.subdomain(told), f"{path}.{field}", told)
    seconds = given.get("activeDeadlineSeconds")
    if seconds is not None and not 1 <= seconds <= _MOST:
        yield invalid(f"{path}.activeDeadlineSeconds", seconds, f"must be between 1 and {_MOST}, inclusive")
    for field in ("hostname", "subdomain"):
        if told := given.get(field):
            yield from each(names.dns_label(told), f"{path}.{field}", told)


def _rest(given: Tree, path: str) -> Faults:
    for index, alias in enumerate(given.get("hostAliases", ())):
        at = f"{path}.hostAliases[{index}]"
        if names.address(alias.get("ip", "")) is None:
            yield invalid(f"{at}.ip", alias.get("ip", ""), names.IP_SAYS)
        for place, host in enumerate(alias.get("hostnames", ())):
            yield from each(names.subdomain(host), f"{at}.hostnames[{place}]", host)
    for field in ("priorityClassName", "runtimeClassName"):
        if told := given.get(field):
            yield from each(names.subdomain(told), f"{path}.{field}", told)
    policy = given.get("preemptionPolicy")
    if policy is not None and policy not in ("PreemptLowerPriority", "Never"):
        yield unsupported(f"{path}.preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))
    if overhead := given.get("overhead"):
        yield from resources.amounts(overhead, f"{path}.overhead.limits")
    yield from _system(given, path)


def _system(given: Tree, path: str) -> Faults:
    told = given.get("os")
    if told is None:
        return
    name = told.get("name", "")
    if not name:
        yield required(f"{path}.os.name")
    elif name not in _SYSTEMS:
        yield unsupported(f"{path}.os", name, _SYSTEMS)
    elif name == "windows":
        for field in _NOT_ON_WINDOWS:
            if given.get(field):
                yield forbidden(f"{path}.{field}", "cannot be set for a windows pod")
