"""The scheduler's coroutine: hear what happened, take the next pod, let a cycle's time pass, place it."""

from typing import Final

from baseload.decide.schedule.engine import Engine
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.scheduler.attempt import Attempts
from baseload.embedded.actors.scheduler.model import Model
from baseload.embedded.actors.scheduler.settings import DEFAULTS, Settings
from baseload.embedded.actors.scheduler.storage import Claims
from baseload.embedded.actors.series import Series
from baseload.embedded.api.cluster import Cluster
from baseload.values import instant
from baseload.values.clock import FOREVER, Clock

MANAGER: Final = "kube-scheduler"
_TIDY: Final = 1 << 10  # kinds of pods that come until what is remembered of those that are gone is dropped
_LOOK: Final = 1 << 8  # cycles after which that is looked for


class Scheduler:
    """A kube-scheduler beside an embedded API."""

    def __init__(self, cluster: Cluster, clock: Clock, settings: Settings = DEFAULTS) -> None:
        client = self._client = ActorClient(cluster, MANAGER)
        profiles = {profile.scheduler_name: profile for profile in settings.profiles}
        self._series: Final = Series(client, settings.profiles[0].scheduler_name)
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
            self._series,
            self.model,
            self.engines,
            self._claims,
            bind_timeout_seconds=settings.bind_timeout_seconds,
            remembers=settings.remembers,
        )
        self.cycles = 0
        self._kinds = _TIDY

    async def run(self) -> None:
        """Schedules until the end."""
        model, clock, attempts, pop = self.model, self._clock, self._attempts, self.model.queue.pop
        cycle, events, bindings = self._settings.cycle_seconds, self._series, self._claims.bindings
        model.begin()
        while True:
            if model.has_news:
                model.hear()
            now = clock.now()
            if bindings:
                attempts.look()
            if now >= events.next:
                events.tend()
            entry = pop(now)
            if entry is None:
                await self._bell.wait(self._rest())
                continue
            await clock.sleep(cycle)
            if model.has_news:
                model.hear()
            attempts.run(entry)
            self.cycles += 1
            if not self.cycles % _LOOK and model.cluster.kinds > self._kinds:
                self._forget()

    def close(self) -> None:
        """It hears of nothing any more."""
        self._client.close()

    def _rest(self) -> float:
        """How long nothing is to be done, in seconds."""
        now = self._clock.now()
        due = self.model.queue.due(now), self._claims.next(), self._series.due()
        times = [time for time in due if time is not None]
        return max(min(times) - now, 0) / instant.SECOND if times else FOREVER

    def _forget(self) -> None:
        self.model.readings.forget()
        self.model.cluster.forget(entry.pod.kind for entry in self.model.queue.all())
        self._attempts.forget()
        for engine in self.engines.values():
            engine.forget()
        self._kinds = 2 * self.model.cluster.kinds + _TIDY
