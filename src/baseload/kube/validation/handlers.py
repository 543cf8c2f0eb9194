"""Probes, and what is done when a container starts and before it stops."""

from typing import Any, Final

from baseload.kube.validation import names
from baseload.kube.validation.fault import Faults, Tree, among, forbidden, invalid, not_negative, required
from baseload.kube.validation.names import each
from baseload.kube.validation.remembered import once

_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")


def handler(given: Tree, path: str, grace: int | None) -> Faults:
    """Exactly one way to act."""
    found = 0
    for name in _HANDLERS:
        action = given.get(name)
        if action is None:
            continue
        if found:
            yield forbidden(f"{path}.{name}", "may not specify more than 1 handler type")
            continue
        found += 1
        yield from _action(name, action, f"{path}.{name}", grace)
    if not found:
        yield required(path, "must specify a handler type")


def _action(name: str, action: Tree, path: str, grace: int | None) -> Faults:
    match name:
        case "exec":
            if not action.get("command"):
                yield required(f"{path}.command")
        case "httpGet":
            yield from _http(action, path)
        case "tcpSocket":
            yield from names.port(f"{path}.port", action.get("port", 0))
        case "grpc":
            yield from names.port_number(f"{path}.port", action.get("port", 0))
        case "sleep":
            seconds = action.get("seconds", 0)
            if grace is not None and not 0 <= seconds <= grace:
                why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                yield invalid(path, seconds, why)


def _http(action: Tree, path: str) -> Faults:
    if not action.get("path"):
        yield required(f"{path}.path")
    yield from names.port(f"{path}.port", action.get("port", 0))
    yield from among(f"{path}.scheme", action.get("scheme", ""), ("HTTP", "HTTPS"))
    for sent in action.get("httpHeaders", ()):
        yield from each(names.header(sent.get("name", "")), f"{path}.httpHeaders", sent.get("name", ""))


def probes(container: Tree, path: str, grace: int | None) -> Faults:
    """The probes of a container."""
    if (given := container.get("livenessProbe")) is not None:
        yield from _probe(given, f"{path}.livenessProbe", grace)
        yield from _once(given, f"{path}.livenessProbe")
    if (given := container.get("readinessProbe")) is not None:
        yield from _probe(given, f"{path}.readinessProbe", grace)
        if (told := given.get("terminationGracePeriodSeconds")) is not None:
            at = f"{path}.readinessProbe.terminationGracePeriodSeconds"
            yield invalid(at, told, "must not be set for readinessProbes")
    if (given := container.get("startupProbe")) is not None:
        yield from _probe(given, f"{path}.startupProbe", grace)
        yield from _once(given, f"{path}.startupProbe")


def _once(given: Tree, path: str) -> Faults:
    if given.get("successThreshold") != 1:
        yield invalid(f"{path}.successThreshold", given.get("successThreshold"), "must be 1")


@once
def _probe(given: Tree, path: str, grace: int | None) -> Faults:
    yield from handler(given, path, grace)
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        yield from not_negative(f"{path}.{name}", given.get(name))
    told: Any = given.get("terminationGracePeriodSeconds")
    if told is not None and told <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", told, "must be greater than 0")


@once
def lifecycle(given: Tree, path: str, grace: int | None) -> Faults:
    """What is done after a container started and before it stops."""
    for name in ("postStart", "preStop"):
        if (found := given.get(name)) is not None:
            yield from handler(found, f"{path}.{name}", grace)
