"""Living through a scenario: all of it on one virtual clock, from its start to its end, and then the judgement."""

import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Final

import msgspec

from baseload.cloud.port import Cloud
from baseload.embedded.store.record import Record
from baseload.journal.record import Entry
from baseload.journal.write import Writer
from baseload.kube.client.port import Way
from baseload.replay import deadlocks, figures, judge
from baseload.replay.acts import Acts
from baseload.replay.between import Fate, Life, WatchedCloud, WatchedWay
from baseload.replay.happenings import WEATHERS, Happening
from baseload.replay.invariants import PRIORITY as LAST
from baseload.replay.invariants import Invariants
from baseload.replay.judge import Judgement
from baseload.replay.loads import Loads, Workload
from baseload.replay.notebook import Notebook
from baseload.replay.recount import Recounts
from baseload.replay.report import Judged, Report
from baseload.replay.scenario import Scenario
from baseload.replay.series import Book
from baseload.replay.weather import Weather
from baseload.replay.witness import PRIORITY, Witness
from baseload.replay.workloads import workload_of
from baseload.report import timeline
from baseload.timeline.virtual import Interrupted, VirtualClock
from baseload.values.instant import SECOND
from baseload.world.living import KARPENTER, Living

FIRST: Final = -10
"""The priority of what a scenario has happen: before everything else at its moment"""
STEPS: Final = 1000
"""Into so many parts a run is cut, after each of which it says how far it is"""
BEFORE: Final = 6  # lines of the journal that are shown of a failure, until its moment
AFTER: Final = 3
_IN_MEMORY: Final = 1 << 26


class Run:
    """One run of a scenario."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        journal: BinaryIO | None = None,
        until: int | None = None,
        has_timeline: bool = False,
        holds_invariants: bool = False,
    ) -> None:
        """`journal` gets the lines; `until` ends the run earlier, in nanoseconds from its start.

        Where sums are recounted, or it is asked for, invariants are looked at after every event.
        """
        self.scenario = scenario
        self._has_timeline = has_timeline
        self._length = scenario.duration if until is None else min(until, scenario.duration)
        self.clock = VirtualClock(scenario.start)
        life = scenario.life
        life = replace(life, scheduler=replace(life.scheduler, seed=life.seed))
        self.living = Living(self.clock, life, manifests=scenario.manifests)
        self._file = journal
        if journal is None and (scenario.expectations or has_timeline):
            self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # type: ignore[assignment]  # noqa: SIM115  # closed by `close`
            self._is_own = True
        else:
            self._is_own = False
        asked = (*figures.QUERIES, *(one.query for one in scenario.expectations))
        self.book = Book(asked, scenario.start)
        self.writer = None if self._file is None else Writer(self._file)
        self.notebook = Notebook(self.clock, self.book, self.writer)
        self.witness = Witness(self.living, self.notebook)
        self.fates = {name: Fate() for name in (KARPENTER,) if name in self.living.processes}
        self.recounts = Recounts(self.living)
        is_checked = holds_invariants or scenario.check_every is not None
        self.invariants = Invariants(self.living) if is_checked else None
        self.acts = self._acts()

    def run(self, progress: Callable[[int], None] = lambda _: None) -> Report:
        """Lives until the end, or until it is stopped; `progress` is told the thousandths that are done."""
        clock, start = self.clock, self.scenario.start
        self.living.start(clock)
        clock.start(self._happen(), name="scenario", priority=FIRST)
        clock.start(self.witness.run(), name="witness", priority=PRIORITY)
        if self.scenario.check_every is not None:
            clock.start(self.recounts.run(self.scenario.check_every), name="recount", priority=PRIORITY - 1)
        if self.invariants is not None:
            clock.start(self.invariants.run(), name="invariants", priority=LAST)
        try:
            for step in range(1, STEPS + 1):
                clock.run(start + self._length * step // STEPS)
                progress(step)
        except Interrupted:
            return self._report(is_stopped=True)
        return self._report(is_stopped=False)

    def stop(self) -> None:
        """Has `run` end before the next of what happens; a signal handler may call it."""
        self.clock.interrupt()

    def close(self) -> None:
        """Ends whatever runs, and lets go of the journal that nobody asked for."""
        self.clock.close()
        self.living.close()
        if self._is_own and self._file is not None:
            self._file.close()

    def _acts(self) -> Acts:
        living, weather = self.living, Weather(self.living)
        if any(one.do in WEATHERS for one in self.scenario.happenings):
            living.clock_of = weather.clock_of
        weather.start = self._start
        loads = Loads(self.clock, living.usage, self._workload, self._running)
        living.usage = loads.usage
        acts = Acts(living, self.notebook, loads=loads, weather=weather, fates=self.fates)
        acts.start = self._start

        def between(way: Way, cloud: Cloud) -> tuple[Way, Cloud]:
            life = Life(self.fates[KARPENTER], self.clock)
            watched: Any = WatchedCloud(cloud, life)  # what it does not change it hands on
            return WatchedWay(way, self.clock, life, weather.sky(KARPENTER)), watched

        living.between = between
        return acts

    def _start(self, coroutine: object) -> object:
        return self.clock.start(coroutine, name="scenario", priority=FIRST)  # type: ignore[arg-type]

    async def _happen(self) -> None:
        """Has each event happen at its moment; those of one moment in the order of the scenario."""
        for at, happening in _in_order(self.scenario.happenings):
            wait = self.scenario.start + at - self.clock.now()
            if wait > 0:
                await self.clock.sleep(wait / SECOND)
            applied = self.scenario.applied.get(happening.path)
            self._start(self.acts.carry_out(happening, applied))

    def _workload(self, pod: Record) -> Workload:
        return pod.namespace, workload_of(self.living.cluster.store, pod)[1]

    def _running(self, workload: Workload) -> int:
        return self.witness.pods.running.get(workload, 0)

    def _report(self, *, is_stopped: bool) -> Report:
        self.witness.finish()
        if self.invariants is not None:
            self.invariants.finish()
        if self.writer is not None:
            self.writer.flush()
        start, end = self.scenario.start, self.clock.now()
        judgements = [judge.judge(one, self.book.line(one.query), start, end) for one in self.scenario.expectations]
        around = self._around([one for one in judgements if one.verdict == "fails"])
        return Report(
            scenario=self.scenario.name,
            seed=self.scenario.seed,
            start=start,
            end=end,
            is_stopped=is_stopped,
            judged=tuple(Judged(one, around[one.moment] if one.verdict == "fails" else ()) for one in judgements),
            figures=self._figures(end),
            recounts=self.recounts.count,
            miscounts=tuple(self.recounts.found),
            changes_seen=None if self.invariants is None else self.invariants.count,
            broken=() if self.invariants is None else tuple(self.invariants.found),
            notes=(*deadlocks.notes(self.living), *self.witness.loops.notes()),
            timeline=self._timeline(),
        )

    def _timeline(self) -> tuple[str, ...]:
        if not self._has_timeline or self._file is None:
            return ()
        self._file.flush()
        self._file.seek(0)
        decode = msgspec.json.Decoder(Entry).decode
        return tuple(timeline.lines(map(decode, self._file), self.scenario.start))

    def _figures(self, end: int) -> dict[str, object]:
        written = {f"{name}.writes": fate.done for name, fate in self.fates.items()}
        return {**figures.figures(self.book, self.witness, end), **written}

    def _around(self, failed: list[Judgement]) -> dict[int, tuple[Entry, ...]]:
        """moment of a failure -> the lines of the journal until then and some after"""
        if not failed or self._file is None:
            return {one.moment: () for one in failed}
        self._file.flush()
        self._file.seek(0)
        wanted = sorted({one.moment for one in failed})
        return dict(zip(wanted, around(self._file, [self.scenario.start + at for at in wanted]), strict=True))


def around(lines: Iterable[bytes], moments: list[int]) -> list[tuple[Entry, ...]]:
    """For each of the rising moments the last lines until then, and the first ones after."""
    decode = msgspec.json.Decoder(Entry).decode
    before: deque[Entry] = deque(maxlen=BEFORE)
    found: list[list[Entry]] = []
    for line in lines:
        entry = decode(line)
        while len(found) < len(moments) and entry.moment > moments[len(found)]:
            found.append(list(before))
        for at, held in zip(moments, found, strict=False):
            if sum(one.moment > at for one in held) < AFTER:
                held.append(entry)
        before.append(entry)
    found += [list(before) for _ in range(len(moments) - len(found))]
    return [tuple(held) for held in found]


def _in_order(happenings: tuple[Happening, ...]) -> Iterator[tuple[int, Happening]]:
    moments = [(at, place) for place, one in enumerate(happenings) for at in one.moments]
    return ((at, happenings[place]) for at, place in sorted(moments))
