"""What is asked of a running container, a port or a kubelet: here nothing runs, and the answer says so.

The request is checked as a Kubernetes server checks it, in its words: the container, the options, whether the pod has a
node. Then a log is one line that tells that there is none, with success, so that `kubectl logs` and what loops over it
goes on; everything that needs a process or a port is refused (501) in a line that kubectl prints as it stands.
"""

from collections.abc import Mapping
from typing import Final

from baseload.embedded.api import options
from baseload.embedded.api.answer import Answer
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.pod_rows import at, maps, text
from baseload.embedded.api.refusals import NotServed, Unavailable, no_such_method
from baseload.embedded.api.target import Target
from baseload.embedded.api.versions import tree_of
from baseload.embedded.store.errors import BadRequest, Cause, Invalid, NotFound
from baseload.embedded.store.record import Record
from baseload.values import instant

_OPTIONS: Final = "PodLogOptions"
_NOTHING: Final = {"exec": "run a command in", "attach": "attach to", "portforward": "forward a port to"}
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_LEAST: Final = {"tailLines": 0, "sinceSeconds": 1, "limitBytes": 1}
_PULL: Final = ("ErrImagePull", "ImagePullBackOff")


def answer(cluster: Cluster, target: Target, call: Call) -> Answer:
    """The answer to a request for a log, a stream or a proxy."""
    if target.subresource == "proxy":
        raise _proxy(cluster, target)
    if call.method not in (("GET",) if target.subresource == "log" else ("GET", "POST")):
        raise no_such_method()
    if target.subresource == "log":
        return _log(cluster, target, call)
    pod = cluster.store.get(target.kind.resource, target.namespace, target.name)
    if target.subresource != "portforward":
        _container(tree_of(pod), call)
    if not pod.node:
        raise BadRequest(f"pod {pod.name} does not have a host assigned")
    raise NotServed(f"{_simulated(pod)}: it runs no container to {_NOTHING[target.subresource]}")


def _log(cluster: Cluster, target: Target, call: Call) -> Answer:
    asked = _asked(target.name, call)
    pod = cluster.store.get(target.kind.resource, target.namespace, target.name)
    tree = tree_of(pod)
    container = _container(tree, call)
    if not pod.node:
        return Answer(204, b"", "text/plain")
    if call.flag("previous"):
        raise BadRequest(f'previous terminated container "{container}" in pod "{pod.name}" not found')
    if why := _waits(tree, container):
        raise BadRequest(f'container "{container}" in pod "{pod.name}" is waiting to start: {why}')
    line = f"{_simulated(pod)}: it runs no container and writes no log\n"
    if call.flag("timestamps"):
        line = f"{instant.format(cluster.clock.now())} {line}"
    told = b"" if asked.get("tailLines") == 0 else line.encode()[: asked.get("limitBytes")]
    return Answer(200, told, "text/plain")


def _asked(name: str, call: Call) -> Mapping[str, int]:
    """The numbers that say how much of a log is wanted."""
    numbers = {field: options.integer(call.query[field]) for field in _LEAST if call.query.get(field)}
    for field, number in numbers.items():
        if number < _LEAST[field]:
            bound = "greater than 0" if _LEAST[field] else "greater than or equal to 0"
            message = f"Invalid value: {number}: must be {bound}"
            raise _refused(name, Cause("FieldValueInvalid", message, field))
    if "sinceSeconds" in numbers and call.query.get("sinceTime"):
        why = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        raise _refused(name, options.forbidden("[]", why))
    return numbers


def _refused(name: str, cause: Cause) -> Invalid:
    return options.invalid(_OPTIONS, cause, group="", name=name)


def _container(pod: Tree, call: Call) -> str:
    """The container that is meant; refuses one that the pod does not have, and none where there are several."""
    name = text(pod, "metadata.name")
    all_names = [text(container, "name") for field in _CONTAINERS for container in maps(pod.get("spec"), field)]
    asked = call.query.get("container", "")
    if not asked:
        if len(all_names) != 1:
            names = " ".join(all_names)
            raise BadRequest(f"a container name must be specified for pod {name}, choose one of: [{names}]")
        return all_names[0]
    if asked not in all_names:
        raise BadRequest(f"container {asked} is not valid for pod {name}")
    return asked


def _waits(pod: Tree, container: str) -> str:
    """Why a container has not started, as its pod's status tells; "" where it does not."""
    for field in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for told in maps(pod.get("status"), field):
            if told.get("name") == container and at(told, "state.waiting") is not None:
                reason = text(told, "state.waiting.reason")
                return "trying and failing to pull image" if reason in _PULL else reason
    return ""


def _proxy(cluster: Cluster, target: Target) -> NotServed | Unavailable | NotFound:
    """Why nothing is reached through the server."""
    resource = target.kind.resource
    if resource.kind == "Service":
        name = target.name.split(":")[1 if target.name.count(":") == 2 else 0]
        return Unavailable(f'no endpoints available for service "{name}"')
    found = cluster.store.get(resource, target.namespace, target.name.split(":")[0])
    if resource.kind == "Node":
        return NotServed(f"node {found.name} is simulated: it has no kubelet to ask")
    return NotServed(f"{_simulated(found)}: nothing answers on its ports")


def _simulated(pod: Record) -> str:
    return f"pod {pod.namespace}/{pod.name} is simulated"
