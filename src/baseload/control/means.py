"""What every controller of nodes has: the cluster as it is observed, and the hands to change it and its machines."""

from dataclasses import dataclass

from baseload.act.events import Events
from baseload.act.instances import Instances
from baseload.act.objects import Objects
from baseload.control.observed import Observed
from baseload.control.settings import Settings
from baseload.values.clock import Clock


@dataclass(frozen=True, slots=True)
class Means:
    """Of one process, for one cluster."""

    observed: Observed
    objects: Objects
    instances: Instances
    events: Events
    settings: Settings

    @property
    def clock(self) -> Clock:
        return self.objects.client.clock
