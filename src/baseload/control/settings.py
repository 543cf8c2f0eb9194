"""What users may set of the controllers, under Karpenter's own names where it has one."""

from dataclasses import dataclass, field

from baseload.decide.provision.options import Options


@dataclass(frozen=True, slots=True)
class Settings:
    """How the controllers work; durations are seconds."""

    cluster_name: str = "baseload"
    batch_idle: float = 1.0
    """BATCH_IDLE_DURATION: a batch of pods ends so long after its last new one."""
    batch_longest: float = 10.0
    """BATCH_MAX_DURATION: and so long after its first one at the latest."""
    interruption_queue: bool = True
    """INTERRUPTION_QUEUE: whether the queue of interruptions is followed."""
    options: Options = field(default_factory=Options)
    workers: int = 10
    """Claims and nodes that are worked on at a time."""
