"""When probes find out, in closed form: of a container that starts, and of one that stops answering.

A probe is tried when its container starts and then each period; what comes before its initial delay does not count.
A state turns after as many equal results in a row as its threshold says (cluster-actors spec 20).
"""

from dataclasses import dataclass

from baseload.values.instant import SECOND


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe as a kubelet runs it; durations in nanoseconds."""

    initial_delay: int = 0
    period: int = 10 * SECOND
    timeout: int = SECOND
    success_threshold: int = 1
    failure_threshold: int = 3
    grace: int | None = None  # terminationGracePeriodSeconds of its own

    def first_at(self, moment: int) -> int:
        """The first attempt that counts at or after a moment since the start of the probing."""
        after = max(moment, self.initial_delay)
        return -(-after // self.period) * self.period

    def success(self, answers_from: int) -> int:
        """When it has succeeded, where the container answers from a moment on."""
        return self.first_at(answers_from) + (self.success_threshold - 1) * self.period

    def failure(self, silent_from: int) -> int:
        """When it has failed, where attempts from a moment on, that moment excluded, get no answer in time."""
        return self.first_at(silent_from + 1) + (self.failure_threshold - 1) * self.period + self.timeout
