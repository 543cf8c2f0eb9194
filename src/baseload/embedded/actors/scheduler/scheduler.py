"""The scheduler's coroutine: hear what happened, take the next pod, let a cycle's time pass, place it."""

from typing import Final

from baseload.decide.schedule.engine import Engine
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.recorder import Recorder
from baseload.embedded.actors.scheduler.attempt import Attempts
from baseload.embedded.actors.scheduler.model import Model
from baseload.embedded.actors.scheduler.settings import DEFAULTS, Settings
from baseload.embedded.actors.scheduler.storage import Claims
from baseload.embedded.api.cluster import Cluster
from baseload.values import instant
from baseload.values.clock import Clock

MANAGER: Final = "kube-scheduler"
_TIDY: Final = 1 << 14  # cycles after which what is remembered of kinds that are gone is dropped
_IDLE: Final = 3600.0  # seconds, at most, without a look at the queue


class Scheduler:
    """A kube-scheduler beside an embedded API."""

    def __init__(self, cluster: Cluster, clock: Clock, settings: Settings = DEFAULTS) -> None:
        client = ActorClient(cluster, MANAGER)
        profiles = {profile.scheduler_name: profile for profile in settings.profiles}
        recorder = Recorder(client, settings.profiles[0].scheduler_name)
        self._clock: Final = clock
        self._settings: Final = settings
        self._bell: Final = clock.bell()
        self.model: Final = Model(client, clock, self._bell, profiles)
        self.engines: Final = {
            name: Engine(self.model.cluster, profile, seed=settings.seed) for name, profile in profiles.items()
        }
        self._claims: Final = Claims(client, self.model.cluster)
        self._attempts: Final = Attempts(
            client,
            clock,
            recorder,
            self.model,
            self.engines,
            self._claims,
            bind_timeout_seconds=settings.bind_timeout_seconds,
        )
        self.cycles = 0

    async def run(self) -> None:
        """Schedules until the end."""
        model, clock = self.model, self._clock
        model.begin()
        while True:
            model.hear()
            self._attempts.look()
            entry = model.queue.pop(clock.now())
            if entry is None:
                await self._bell.wait(self._rest())
                continue
            await clock.sleep(self._settings.cycle_seconds)
            model.hear()
            self._attempts.run(entry)
            self.cycles += 1
            if self.cycles % _TIDY == 0:
                self._forget()

    def _rest(self) -> float:
        """How long nothing is to be done, in seconds."""
        now = self._clock.now()
        times = [time for time in (self.model.queue.due(now), self._claims.next()) if time is not None]
        return max(min(times) - now, 0) / instant.SECOND if times else _IDLE

    def _forget(self) -> None:
        self.model.readings.forget()
        self.model.cluster.forget(entry.pod.kind for entry in self.model.queue.all())
        self._attempts.forget()
        for engine in self.engines.values():
            engine.forget()
