"""What a kubelet reads in a pod's spec, beyond what places the pod; read once for all pods that share it."""

from typing import Final

from baseload.decide.node.probes import Probe
from baseload.kube.types.core import ResourceRequirements
from baseload.kube.types.meta import Wire
from baseload.values.instant import SECOND


class Sleep(Wire, frozen=True):
    seconds: int = 0


class Handler(Wire, frozen=True):
    sleep: Sleep | None = None


class Lifecycle(Wire, frozen=True):
    pre_stop: Handler | None = None


class WrittenProbe(Wire, frozen=True):
    initial_delay_seconds: int = 0
    period_seconds: int = 10
    timeout_seconds: int = 1
    success_threshold: int = 1
    failure_threshold: int = 3
    termination_grace_period_seconds: int | None = None


class Container(Wire, frozen=True):
    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    lifecycle: Lifecycle | None = None
    readiness_probe: WrittenProbe | None = None
    liveness_probe: WrittenProbe | None = None
    startup_probe: WrittenProbe | None = None


class Gate(Wire, frozen=True):
    condition_type: str = ""


class Spec(Wire, frozen=True):
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    restart_policy: str = "Always"
    readiness_gates: tuple[Gate, ...] = ()
    active_deadline_seconds: int | None = None
    termination_grace_period_seconds: int | None = None
    host_network: bool = False


class NodeSpec(Wire, frozen=True):
    taints: tuple["Taint", ...] = ()


class Taint(Wire, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a static pod's mirror"""


def probe_of(written: WrittenProbe | None) -> Probe | None:
    """A probe as the decisions have it; what is written as 0 has its default."""
    if written is None:
        return None
    grace = written.termination_grace_period_seconds
    return Probe(
        written.initial_delay_seconds * SECOND,
        (written.period_seconds or 10) * SECOND,
        (written.timeout_seconds or 1) * SECOND,
        written.success_threshold or 1,
        written.failure_threshold or 3,
        None if grace is None else grace * SECOND,
    )


def pre_stop_of(container: Container) -> int:
    """How long the preStop hook sleeps, in nanoseconds; hooks that run something take no time of their own."""
    hook = container.lifecycle.pre_stop if container.lifecycle else None
    return hook.sleep.seconds * SECOND if hook and hook.sleep else 0
