"""What the pods of one node come to: for fitting, and for what is left of the node."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.running import Bound
from baseload.decide.provision.readings import Readings
from baseload.kube.types.core import Pod
from baseload.model.requests import Amounts, add
from baseload.model.view import has_claims, is_daemon


@dataclass(frozen=True, slots=True, eq=False)
class Occupants:
    """The pods of a node that stay there, in the order of the view, and what they take."""

    pods: tuple[Pod, ...] = ()
    running: tuple[Bound, ...] = ()  # aligned to pods
    used: Mapping[str, int] = field(default_factory=dict)
    by_daemons: Mapping[str, int] = field(default_factory=dict)
    daemons: tuple[Pod, ...] = ()
    ports: tuple[HostPort, ...] = ()
    have_claims: bool = False  # whether they have volumes that are objects of their own


NOBODY: Final = Occupants()


def occupants(pods: Sequence[Pod], readings: Readings, before: Occupants | None = None) -> Occupants:
    """Of some pods of one node. What was read of them when others were there, `before`, is not read again."""
    used: Amounts = {}
    by_daemons: Amounts = {}
    ports: list[HostPort] = []
    for pod in pods:
        asked = readings.requests(pod)
        add(used, asked)
        if is_daemon(pod):
            add(by_daemons, asked)
        if any(port.host_port for container in pod.spec.containers for port in container.ports):
            ports += readings.constraints(pod).ports
    return Occupants(
        pods=tuple(pods),
        running=tuple(_bound(pods, readings, before)),
        used=used,
        by_daemons=by_daemons,
        daemons=tuple(filter(is_daemon, pods)),
        ports=tuple(ports),
        have_claims=any(map(has_claims, pods)),
    )


def _bound(pods: Iterable[Pod], readings: Readings, before: Occupants | None) -> Iterable[Bound]:
    known = {id(pod): bound for pod, bound in zip(before.pods, before.running, strict=True)} if before else {}
    for pod in pods:
        yield known.get(id(pod)) or Bound(
            readings.running(pod), pod.spec.node_name, not pod.metadata.deletion_timestamp
        )
