"""What pods, and the templates of pods, take where a client leaves a field out."""

from collections.abc import Mapping
from typing import Final

from baseload.embedded.api.admission.amounts import settle_all
from baseload.embedded.api.admission.images import pull_policy
from baseload.embedded.api.admission.tree import Tree, child, fill, fill_empty, held, maps
from baseload.embedded.api.admission.volume_defaults import field_reference, volume
from baseload.embedded.store.record import Json
from baseload.values import quantity

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_KINDS_OF_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_SHARED: Final = ("cpu", "memory")  # what can be asked for a pod as a whole, besides huge pages
_ALWAYS: Final[Mapping[str, Json]] = {"terminationGracePeriodSeconds": 30, "securityContext": {}}
_NEVER_EMPTY: Final[Mapping[str, Json]] = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
}


def template(tree: Tree) -> None:
    """A template of pods."""
    fill(tree, {"metadata": {}})
    pod_spec(child(tree, "spec"))


def pod_spec(spec: Tree) -> None:
    """The spec of a pod or of a template."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    fill(spec, _ALWAYS)
    fill_empty(spec, _NEVER_EMPTY)
    for found in maps(spec, "volumes"):
        volume(found)
    for name in _KINDS_OF_CONTAINERS:
        for container in maps(spec, name):
            _container(container)
    settle_all(spec, "overhead")
    settle_all(held(spec, "resources"), "requests", "limits")


def pod(tree: Tree) -> None:
    """A pod, which asks for what it is limited to; a template of it does not."""
    spec = child(tree, "spec")
    pod_spec(spec)
    fill(spec, {"enableServiceLinks": True})
    grace = spec["terminationGracePeriodSeconds"]
    if isinstance(grace, int) and grace < 0:
        spec["terminationGracePeriodSeconds"] = 1
    for name in ("containers", "initContainers"):
        for container in maps(spec, name):
            _ask_for_limits(held(container, "resources"))
            if spec.get("hostNetwork"):
                _take_host_ports(container)
    _ask_for_all(spec)


def _container(container: Tree) -> None:
    fill_empty(
        container,
        {
            "imagePullPolicy": pull_policy(str(container.get("image") or "")),
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        },
    )
    fill(container, {"resources": {}})
    settle_all(held(container, "resources"), "requests", "limits")
    for port in maps(container, "ports"):
        fill_empty(port, {"protocol": "TCP"})
    for name in _PROBES:
        if isinstance(probe := container.get(name), dict):
            _probe(probe)
    for handler in held(container, "lifecycle").values():
        if isinstance(handler, dict):
            _http(handler)
    for variable in maps(container, "env"):
        if "valueFrom" in variable:
            field_reference(held(variable, "valueFrom"))


def _probe(probe: Tree) -> None:
    fill_empty(probe, _PROBE)
    _http(probe)
    if isinstance(grpc := probe.get("grpc"), dict):
        fill(grpc, {"service": ""})


def _http(handler: Tree) -> None:
    if isinstance(get := handler.get("httpGet"), dict):
        fill_empty(get, {"path": "/", "scheme": "HTTP"})


def _ask_for_limits(resources: Tree) -> None:
    limits = resources.get("limits")
    if isinstance(limits, dict) and isinstance(child(resources, "requests"), dict):
        requests = child(resources, "requests")
        for name, limit in limits.items():
            requests.setdefault(name, limit)


def _take_host_ports(container: Tree) -> None:
    for port in maps(container, "ports"):
        fill_empty(port, {"hostPort": port.get("containerPort")})


def _ask_for_all(spec: Tree) -> None:
    """The requests of a pod that is limited as a whole: what its containers ask for together, else the limit."""
    resources = held(spec, "resources")
    limits = held(resources, "limits")
    if not limits:
        return
    requests = dict(held(resources, "requests"))
    for name in _SHARED:
        if name not in requests and (total := _asked(spec, name)) is not None:
            requests[name] = total
    for name, limit in limits.items():
        if name in _SHARED or name.startswith("hugepages-"):
            requests.setdefault(name, limit)
    if requests:
        resources["requests"] = requests


def _asked(spec: Tree, name: str) -> Json:
    """What the containers of a pod ask for together; None where none asks."""
    total, form = None, "DecimalSI"
    for container in maps(spec, "containers"):
        asked = held(container, "resources", "requests").get(name)
        if isinstance(asked, str):
            try:
                amount = quantity.parse(asked)
            except quantity.QuantityError:
                return None
            form = quantity.format_of(asked) if total is None else form
            total = amount if total is None else total + amount
    return None if total is None else quantity.format(total, "BinarySI" if form == "BinarySI" else "DecimalSI")
