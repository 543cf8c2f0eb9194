"""A container of a pod: what it is now, and what will become of it and when.

Nothing runs, so all is known when it starts: when its probes succeed, when it ends, when its use reaches its limit.
That is its agenda, a short list of moments. Only what comes from outside changes it: a machine on which probes get no
answer in time, a kill, a stop.
"""

from typing import Literal

from baseload.decide.node import backoff
from baseload.decide.node.backoff import Backoff
from baseload.decide.node.behaviour import Behaviour
from baseload.decide.node.ending import Ending
from baseload.decide.node.phases import Container, State
from baseload.decide.node.probes import Probe
from baseload.embedded.actors.kubelet.script import ContainerPlan

What = Literal["started", "ready", "unready", "exit", "oom", "unhealthy", "stopped", "restart"]
"""What comes: its start-up probe has succeeded, it is ready or not any more, it ends by itself, the kernel kills it, a
probe has failed for good, its stop is over, its back-off is over"""
Step = tuple[int, What, str]
"""When, what, and what is to be said of it"""


class ContainerRun:
    """One container on its node."""

    __slots__ = (
        "agenda",
        "answers_from",
        "backoff",
        "code",
        "end_reason",
        "ended",
        "is_ready",
        "is_stalled",
        "is_started",
        "last_code",
        "last_ended",
        "last_reason",
        "last_started",
        "number",
        "own",
        "plan",
        "restarts",
        "silent_from",
        "started",
        "state",
        "waits_for",
        "waits_why",
    )

    def __init__(self, plan: ContainerPlan, own: Behaviour, waits_for: str) -> None:
        self.plan, self.own = plan, own
        self.state: State = "waiting"
        self.waits_for = waits_for
        self.waits_why = ""
        self.started, self.ended, self.code, self.end_reason = 0, 0, 0, ""
        self.last_started, self.last_ended, self.last_code, self.last_reason = 0, 0, 0, ""
        self.restarts, self.number = 0, 0
        self.is_ready = self.is_started = self.is_stalled = False
        self.backoff: Backoff | None = None
        self.answers_from = 0  # ages, in nanoseconds
        self.silent_from: int | None = None
        self.agenda: list[Step] = []

    @property
    def seen_code(self) -> int | None:
        """The exit code of its last end."""
        return self.code if self.state == "terminated" else self.last_code if self.last_ended else None

    @property
    def seen(self) -> Container:
        """It as phases and conditions see it."""
        return Container(self.plan.name, self.plan.role, self.state, self.seen_code, self.is_ready, self.is_started)

    @property
    def next(self) -> int | None:
        return self.agenda[0][0] if self.agenda else None

    def memory_at(self, now: int) -> int:
        """What it uses now, in nano-units of bytes."""
        return self.own.memory_at(now - self.started, self.plan.memory_request)

    def cpu_at(self, now: int) -> int:
        return self.own.cpu.at(now - self.started, self.plan.cpu_request)

    def is_changing(self, now: int) -> bool:
        """Whether what it uses of memory still changes."""
        return now - self.started < self.own.memory.moments[-1]

    def begin(self, now: int) -> None:
        """Starts it, or starts it again."""
        self.state, self.started, self.waits_for = "running", now, ""
        self.waits_why = ""
        self.number += 1
        self.answers_from, self.silent_from = self.own.answers_after, self.own.hangs_after
        if self.is_stalled:
            self.silent_from = 0
        self.is_started = self.plan.startup is None
        self.is_ready = False
        self._arrange(now)
        if self.plan.role == "init":
            self.agenda = [(now + self.own.init_takes, "exit", "")]

    def go_on(self, now: int, since: int, restarts: int, *, is_ready: bool) -> None:
        """It runs already, since then; one that is not ready counts as begun now."""
        self.begin(since if is_ready else now)
        self.restarts, self.number = restarts, restarts + 1
        if is_ready:
            self.is_started = self.is_ready = True
        self._arrange(now)

    def stall(self, now: int, *, is_stalled: bool) -> None:
        """Probes get no answer in time from now on, or get one again."""
        self.is_stalled = is_stalled
        if self.state != "running" or self.plan.role == "init" or (self.agenda and self.agenda[0][1] == "stopped"):
            return
        age = now - self.started
        if is_stalled:
            self.silent_from = age if self.silent_from is None else min(self.silent_from, age)
        else:
            self.answers_from = max(self.own.answers_after, age)
            self.silent_from = self.own.hangs_after
        self._arrange(now)

    def end(self, now: int, code: int, reason: str = "") -> None:
        """It has ended."""
        self.state, self.ended, self.code = "terminated", now, code
        self.end_reason = reason or ("Completed" if code == 0 else "Error")
        self.is_ready = self.plan.role == "init" and code == 0
        self.is_started = False
        self.agenda = []

    def back_off(self, now: int, longest: int) -> int | None:
        """Has it start again: now, which is None, or after a wait, which is told in nanoseconds."""
        delay = self.backoff.delay if self.backoff is not None else 0
        at, self.backoff = backoff.restart(self.backoff, now, longest)
        self.last_started, self.last_ended = self.started, self.ended
        self.last_code, self.last_reason = self.code, self.end_reason
        self.restarts += 1
        self.state = "waiting"
        if at <= now:
            self.begin(now)
            return None
        self.waits_for = "CrashLoopBackOff"
        self.agenda = [(at, "restart", "")]
        return delay

    def stop(self, now: int, ending: Ending, code: int, reason: str = "") -> None:
        """Has it end so; nothing else comes any more."""
        self.agenda = [(now + ending.end, "stopped", reason)]
        self.code = ending.exit_code(code)

    def _arrange(self, now: int) -> None:
        """The agenda from now on."""
        steps = [step for step in self._probed() if step[0] >= now]
        if self.own.exits_after is not None and (self.own.exits is None or self.restarts < self.own.exits):
            steps.append((max(self.started + self.own.exits_after, now), "exit", ""))
        full = self._full_at()
        if full is not None:
            steps.append((max(full, now), "oom", ""))
        steps.sort(key=_moment)
        self.agenda = steps

    def _full_at(self) -> int | None:
        """When it reaches its memory limit (cluster-actors spec 23.4)."""
        limit = self.plan.memory_limit
        if limit is None or self.own.memory_peak(self.plan.memory_request) < limit:
            return None
        age = self.own.memory.reaches(limit, self.plan.memory_request)
        return None if age is None else self.started + age

    def _probed(self) -> list[Step]:
        """What probes find, and when."""
        plan, start = self.plan, self.started
        up = 0
        steps: list[Step] = []
        if plan.startup is not None and not self.is_started:
            up = plan.startup.success(self.answers_from)
            failed = _never_up(plan.startup, self.answers_from, self.silent_from)
            if failed is not None:
                return [(start + failed, "unhealthy", "Startup")]
            steps.append((start + up, "started", ""))
        ready = up if plan.readiness is None else max(plan.readiness.success(max(self.answers_from, 0)), up)
        silent = self.silent_from
        if (silent is None or ready <= silent) and not self.is_ready:
            steps.append((start + ready, "ready", ""))
        if plan.readiness is not None and silent is not None:
            steps.append((start + plan.readiness.failure(silent), "unready", "Readiness"))
        if plan.liveness is not None:
            never = None if plan.startup is not None else _never_up(plan.liveness, self.own.answers_after, None)
            later = None if silent is None else plan.liveness.failure(max(silent, up))
            steps += [(start + dead, "unhealthy", "Liveness") for dead in (never, later) if dead is not None]
        return steps


def _never_up(probe: Probe, answers_from: int, silent_from: int | None) -> int | None:
    """When a probe has failed before its first success; None where it succeeds in time."""
    failed = probe.first_at(0) + (probe.failure_threshold - 1) * probe.period
    success = probe.success(answers_from)
    is_late = probe.first_at(answers_from) > failed
    is_silent = silent_from is not None and silent_from < success
    return failed if is_late or is_silent else None


def _moment(step: Step) -> int:
    return step[0]
