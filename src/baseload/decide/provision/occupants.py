"""What the pods of one node come to: for fitting, and for what is left of the node."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.running import Bound
from baseload.decide.provision.readings import Readings
from baseload.kube.types.core import Pod
from baseload.model.requests import Amounts, add
from baseload.model.view import has_claims, is_daemon


class Occupant(NamedTuple):
    """One of them."""

    bound: Bound
    asks: Mapping[str, int]
    is_daemon: bool
    has_claims: bool  # volumes that are objects of their own
    ports: tuple[HostPort, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Occupants:
    """The pods of a node that stay there, in the order of the view, and what they take."""

    pods: tuple[Pod, ...] = ()
    each: tuple[Occupant, ...] = ()  # aligned to pods
    running: tuple[Bound, ...] = ()  # likewise
    used: Mapping[str, int] = field(default_factory=dict)
    by_daemons: Mapping[str, int] = field(default_factory=dict)
    have_claims: bool = False

    @property
    def daemons(self) -> list[Pod]:
        return [pod for pod, one in zip(self.pods, self.each, strict=True) if one.is_daemon]

    @property
    def ports(self) -> tuple[HostPort, ...]:
        return tuple(port for one in self.each for port in one.ports)


NOBODY: Final = Occupants()


def occupants(pods: Sequence[Pod], readings: Readings, before: Occupants | None = None) -> Occupants:
    """Of some pods of one node. What was read of them when others were there, `before`, is not read again."""
    known = dict(zip(map(id, before.pods), before.each, strict=True)) if before else {}
    each = tuple(known.get(id(pod)) or _occupant(pod, readings) for pod in pods)
    used: Amounts = {}
    by_daemons: Amounts = {}
    for one in each:
        add(used, one.asks)
        if one.is_daemon:
            add(by_daemons, one.asks)
    running = tuple(one.bound for one in each)
    return Occupants(tuple(pods), each, running, used, by_daemons, any(one.has_claims for one in each))


def _occupant(pod: Pod, readings: Readings) -> Occupant:
    listens = any(port.host_port for container in pod.spec.containers for port in container.ports)
    return Occupant(
        Bound(readings.running(pod), pod.spec.node_name, not pod.metadata.deletion_timestamp),
        readings.requests(pod),
        is_daemon(pod),
        has_claims(pod),
        readings.constraints(pod).ports if listens else (),
    )
