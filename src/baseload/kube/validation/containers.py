"""The containers of a pod."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from baseload.kube.validation import handlers, names, resources, security, variables, volumes
from baseload.kube.validation.fault import (
    Faults,
    Tree,
    among,
    duplicate,
    forbidden,
    invalid,
    not_found,
    required,
    unsupported,
)
from baseload.kube.validation.names import each, needed
from baseload.kube.validation.remembered import once

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PULLS: Final = ("Always", "IfNotPresent", "Never")
_MESSAGES: Final = ("File", "FallbackToLogsOnError")
_RESTARTS: Final = ("Always", "Never", "OnFailure")
_NOT_INITIAL: Final = "may not be set for init containers without restartPolicy=Always"
_DEBUGS_WITHOUT: Final = ("lifecycle", "livenessProbe", "ports", "readinessProbe", "startupProbe")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the containers of a pod share."""

    volumes: dict[str, Tree]
    claims: frozenset[str]
    grace: int | None


def all_of(spec: Tree, path: str, around: Surroundings) -> Faults:
    """The containers, the initial ones and those that were added to debug."""
    main = spec.get("containers") or ()
    if not main:
        yield required(f"{path}.containers")
    yield from _main(main, f"{path}.containers", around)
    taken = {one.get("name", "") for one in main}
    if initial := spec.get("initContainers"):
        yield from _initial(initial, f"{path}.initContainers", around, taken)
    if added := spec.get("ephemeralContainers"):
        yield from _added(added, f"{path}.ephemeralContainers", around, taken)


def _main(given: Any, path: str, around: Surroundings) -> Faults:
    seen: set[str] = set()
    for index, container in enumerate(given):
        at = f"{path}[{index}]"
        yield from _common(container, at, around)
        name = container.get("name", "")
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
        if (lifecycle := container.get("lifecycle")) is not None:
            yield from handlers.lifecycle(lifecycle, f"{at}.lifecycle", around.grace)
        yield from handlers.probes(container, at, around.grace)
        yield from _restart(container, at)
    yield from _host_ports(given, path)


def _initial(given: list[Tree], path: str, around: Surroundings, taken: set[str]) -> Faults:
    for index, container in enumerate(given):
        at = f"{path}[{index}]"
        yield from _common(container, at, around)
        yield from _restart(container, at)
        name = container.get("name", "")
        if name in taken:
            yield duplicate(f"{at}.name", name)
        elif name:
            taken.add(name)
        yield from _host_ports([container], path)
        if container.get("restartPolicy") == "Always":
            if (lifecycle := container.get("lifecycle")) is not None:
                yield from handlers.lifecycle(lifecycle, f"{at}.lifecycle", around.grace)
            yield from handlers.probes(container, at, around.grace)
            continue
        for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(field) is not None:
                yield forbidden(f"{at}.{field}", _NOT_INITIAL)


def _added(given: list[Tree], path: str, around: Surroundings, taken: set[str]) -> Faults:
    for index, container in enumerate(given):
        at, name = f"{path}[{index}]", container.get("name", "")
        yield from _common(container, at, around)
        if name in taken:
            yield duplicate(f"{at}.name", name)
        taken.add(name)
        target = container.get("targetContainerName")
        if target and target not in taken - {name}:
            yield not_found(f"{at}.targetContainerName", target)
        for field in _DEBUGS_WITHOUT:
            if container.get(field):
                yield forbidden(f"{at}.{field}", "cannot be set for an Ephemeral Container")


def _restart(container: Tree, at: str) -> Faults:
    policy = container.get("restartPolicy")
    if policy is not None and policy not in _RESTARTS:
        yield unsupported(f"{at}.restartPolicy", policy, _RESTARTS)


def _common(container: Tree, at: str, around: Surroundings) -> Faults:
    """What all kinds of containers have."""
    yield from needed(names.dns_label, container.get("name", ""), f"{at}.name")
    image = container.get("image", "")
    if not image:
        yield required(f"{at}.image")
    elif image.strip() != image:
        yield invalid(f"{at}.image", image, "must not have leading or trailing whitespace")
    yield from among(f"{at}.terminationMessagePolicy", container.get("terminationMessagePolicy"), _MESSAGES)
    for field, rule in _PARTS:
        if given := container.get(field):
            yield from rule(given, f"{at}.{field}")
    if container.get("volumeMounts") or container.get("volumeDevices"):
        yield from volumes.mounts(container, around.volumes, f"{at}.volumeMounts")
        yield from volumes.devices(container, around.volumes, f"{at}.volumeDevices")
    yield from among(f"{at}.imagePullPolicy", container.get("imagePullPolicy"), _PULLS)
    if given := container.get("resources"):
        yield from resources.requirements(given, f"{at}.resources", around.claims)
    if (context := container.get("securityContext")) is not None:
        yield from security.of_container(context, f"{at}.securityContext")


@once
def _ports(given: list[Tree], path: str) -> Faults:
    seen: set[str] = set()
    for index, port in enumerate(given):
        at = f"{path}[{index}]"
        if name := port.get("name"):
            wrong = names.port_name(name)
            yield from each(wrong, f"{at}.name", name)
            if not wrong and name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
        if number := port.get("containerPort"):
            yield from names.port_number(f"{at}.containerPort", number)
        else:
            yield required(f"{at}.containerPort")
        if number := port.get("hostPort"):
            yield from names.port_number(f"{at}.hostPort", number)
        if port.get("protocol") not in _PROTOCOLS:
            yield unsupported(f"{at}.protocol", port.get("protocol"), _PROTOCOLS)


_PARTS: Final[tuple[tuple[str, Callable[[Any, str], Faults]], ...]] = (
    ("ports", _ports),
    ("env", variables.variables),
    ("envFrom", variables.from_all),
)


def _host_ports(given: Any, path: str) -> Faults:
    seen: set[str] = set()
    for index, container in enumerate(given):
        for place, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            told = f"{port.get('protocol')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if told in seen:
                yield duplicate(f"{path}[{index}].ports[{place}].hostPort", told)
            seen.add(told)


def on_host_network(spec: Tree, path: str) -> Faults:
    """Ports of a pod that uses its node's network."""
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            for place, port in enumerate(container.get("ports", ())):
                if port.get("hostPort", 0) not in (0, port.get("containerPort")):
                    at = f"{path}.{field}[{index}].ports[{place}].hostPort"
                    yield invalid(at, port["hostPort"], "must match `containerPort` when `hostNetwork` is true")
