"""What can be set of a scheduler."""

from dataclasses import dataclass
from typing import Final

from baseload.decide.schedule.profile import DEFAULT, Profile


@dataclass(frozen=True, slots=True)
class Settings:
    """The defaults are kube-scheduler's, but for the time that a cycle takes, which depends on the machine."""

    profiles: tuple[Profile, ...] = (DEFAULT,)
    """By schedulerName; they share one queue"""
    cycle_seconds: float = 0.01
    """What passes from taking a pod off the queue to its binding; one pod at a time (cluster-actors 6.4: 5 to 20 ms)"""
    bind_timeout_seconds: int = 600
    """How long volumes may take to be bound (bindTimeoutSeconds)"""
    remembers: bool = True
    """Whether pods fail as their like did, where nothing changed; without, each is looked at anew, to the same end"""
    seed: int = 0
    """Decides among nodes that score alike"""


DEFAULTS: Final = Settings()
