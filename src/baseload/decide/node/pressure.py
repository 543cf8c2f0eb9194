"""What becomes of a machine whose pods use more than it has: a model of ours, with its numbers to be set.

No part of Kubernetes computes this. The kernel squeezes the page cache, binaries are read from disk again and again,
and everything gets slow; the kubelet is one of the things that get slow. The model keeps what post-mortems agree on:
nothing is felt down to 8 % of memory left; below, the slow-down grows with the cube of the squeeze, so that there is
hardly a way between fine and dead (cluster-actors spec 24). Memory is in bytes, durations in seconds.
"""

from dataclasses import dataclass
from typing import Final, Literal

from baseload.decide.node.eviction import MIB, THRESHOLD

Verdict = Literal["healthy", "tight", "thrashing", "evicting", "down"]


@dataclass(frozen=True, slots=True)
class PressureSettings:
    """The numbers of the model (24.9); what they are called in 24.2 stands beside them."""

    system_memory: int = 450 * MIB
    """The working set of kernel, runtime and kubelet without a pod (S)."""
    system_memory_per_pod: int = 6 * MIB
    """What each pod costs them outside its own containers: shim, pause, logs (S)."""
    squeezed_from: float = 0.08
    """The share of memory left at which it begins to be felt (theta = 0)."""
    squeezed_to: float = 0.02
    """The share left at which it is at its worst (theta = 1)."""
    slow_down: float = 300.0
    """How many times slower kubelet and runtime are at the worst, beyond once (phi)."""
    probe_slow_down: float = 20.0
    """How many times slower containers answer probes at the worst, beyond once (phi_app)."""
    relist: float = 0.05
    """Seconds of one look at all containers (PLEG), before any."""
    relist_per_container: float = 0.01
    relist_limit: float = 180.0
    """A look that takes longer makes the node NotReady: PLEG is not healthy."""
    renewal: float = 10.0
    """Seconds between two renewals of the lease, undisturbed (H)."""
    renewal_per_slow_down: float = 0.2
    renewal_limit: float = 50.0
    """Renewals that are farther apart make the node Unknown: the lifecycle controller's grace period."""
    pods_cpu_share: float = 0.75
    """How much of the cpu demanded over the cores pods feel, as the system keeps its share (psi)."""
    eviction_threshold: int = THRESHOLD
    """memory.available below which pods are evicted; the same counts for all pods together."""


DEFAULTS: Final = PressureSettings()


@dataclass(frozen=True, slots=True)
class Load:
    """What is on a machine."""

    memory: int  # as the kernel reports it (M)
    reserved: int  # for Kubernetes and the system (R)
    pods: int
    containers: float
    used: int  # by the pods, their working sets (W)
    cores: float = 1.0  # what the machine can give, its baseline where credits are out (C)
    cpu: float = 0.0  # what the pods would use (D)


@dataclass(frozen=True, slots=True)
class Strain:
    """What it comes to."""

    system: int  # S
    available: int  # memory.available (A)
    pods_available: int  # allocatableMemory.available (A_pods)
    squeeze: float  # theta, 0 to 1
    stretch: float  # psi: pods take so many times as long for their work
    slowness: float  # phi: kubelet and runtime take so many times as long
    probe_slowness: float  # phi_app
    relist: float  # T_pleg
    renewal: float  # H
    is_evicting: bool
    is_relist_bad: bool
    is_silent: bool
    verdict: Verdict


def strain(load: Load, settings: PressureSettings = DEFAULTS) -> Strain:
    """How a machine fares under a load."""
    system = settings.system_memory + settings.system_memory_per_pod * load.pods
    available = load.memory - system - load.used
    pods_available = load.memory - load.reserved - load.used
    left = available / load.memory
    squeeze = min(max((settings.squeezed_from - left) / (settings.squeezed_from - settings.squeezed_to), 0.0), 1.0)
    slowness = 1.0 + settings.slow_down * squeeze * squeeze * squeeze
    stretch = max(1.0, load.cpu / load.cores * settings.pods_cpu_share)
    relist = (settings.relist + settings.relist_per_container * load.containers) * slowness
    renewal = settings.renewal + settings.renewal_per_slow_down * (slowness - 1.0)
    is_evicting = available < settings.eviction_threshold or pods_available < settings.eviction_threshold
    is_relist_bad, is_silent = relist > settings.relist_limit, renewal > settings.renewal_limit
    return Strain(
        system,
        available,
        pods_available,
        squeeze,
        stretch,
        slowness,
        1.0 + settings.probe_slow_down * squeeze * squeeze * stretch,
        relist,
        renewal,
        is_evicting,
        is_relist_bad,
        is_silent,
        _verdict(squeeze, is_evicting=is_evicting, is_down=is_relist_bad or is_silent),
    )


def _verdict(squeeze: float, *, is_evicting: bool, is_down: bool) -> Verdict:
    if is_down:
        return "down"
    if is_evicting:
        return "evicting"
    if squeeze > 2 / 3:
        return "thrashing"
    return "tight" if squeeze else "healthy"
