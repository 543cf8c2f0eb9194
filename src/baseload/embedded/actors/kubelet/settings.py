"""What can be set of kubelets."""

from dataclasses import dataclass, field
from typing import Final

from baseload.decide.node import backoff
from baseload.decide.node.pressure import PressureSettings
from baseload.values.instant import SECOND


@dataclass(frozen=True, slots=True)
class KubeletSettings:
    """Durations in nanoseconds."""

    sees_after: int = 50 * 10**6
    """From a binding until the kubelet admits the pod (cluster-actors spec 19.10)."""
    longest_restart_delay: int = backoff.LONGEST
    """crashLoopBackOff.maxContainerRestartPeriod."""
    tells_normal_events: bool = True
    """Whether Pulled, Created, Started and Killing are told; warnings always are."""
    adopts_nodes: bool = False
    """Whether a Node that somebody creates gets a machine as large as its status says, and so runs pods."""
    pressure: PressureSettings = field(default_factory=PressureSettings)
    pressure_tick: int = SECOND
    """How often a machine that is short of memory is looked at, while what its pods use changes."""
    writes_every_renewal: bool = False
    """Whether each renewal of a Lease is written when it comes, though nobody looks (tests compare with it)."""
    version: str = "v1.37.2"


DEFAULTS: Final = KubeletSettings()
