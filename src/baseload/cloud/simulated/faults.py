"""What goes wrong with calls, as scripted: for so many of a name, for a share, between two moments."""

from dataclasses import dataclass, field

from baseload.cloud import errors
from baseload.cloud.simulated.draws import WHOLE, Streams
from baseload.cloud.simulated.settings import FaultScript, Where


@dataclass(slots=True)
class Strike:
    """What befalls one call."""

    error: errors.CloudError | None = None
    delay: int = 0
    is_lost: bool = False
    refused: list[tuple[str, Where]] = field(default_factory=list)  # code, the pools that a launch does not get

    def refusal(self, instance_type: str, zone: str, capacity_type: str) -> str | None:
        """The code by which a pool refuses this launch."""
        for code, where in self.refused:
            if where.holds(instance_type, zone, capacity_type):
                return code
        return None


@dataclass(slots=True)
class _Running:
    script: FaultScript
    number: int
    met: int = 0  # calls that it could have struck
    struck: int = 0

    def strikes(self, moment: int, streams: Streams) -> bool:
        script = self.script
        if not script.window.holds(moment) or (script.count is not None and self.struck >= script.count):
            return False
        self.met += 1
        if self.met <= script.skip:
            return False
        if script.share < WHOLE and streams.share(f"fault/{self.number}") >= script.share:
            return False
        self.struck += 1
        return True


class Faults:
    """The scripts of a run; moments are counted from its start."""

    def __init__(self, scripts: tuple[FaultScript, ...], streams: Streams) -> None:
        self._streams = streams
        self._number = 0
        self._running: dict[str, list[_Running]] = {}
        for script in scripts:
            self.add(script)

    def add(self, script: FaultScript) -> None:
        """One more, which counts calls from now on."""
        self._running.setdefault(script.call, []).append(_Running(script, self._number))
        self._number += 1

    def strike(self, call: str, moment: int) -> Strike | None:
        """What befalls a call now: all scripts that strike, the first of their errors; None where all is well."""
        strike: Strike | None = None
        for running in self._running.get(call, ()):
            if running.strikes(moment, self._streams):
                strike = strike or Strike()
                _add(strike, running.script)
        return strike


def _add(strike: Strike, script: FaultScript) -> None:
    strike.delay += script.delay
    strike.is_lost = strike.is_lost or script.lost
    if script.error == "InsufficientCapacity":
        strike.refused.append((errors.INSUFFICIENT_CAPACITY, script.where))
    elif script.error == "QuotaExceeded":
        strike.refused.append((errors.VCPU_LIMIT, script.where))
    elif script.error is not None and strike.error is None:
        strike.error = _error(script)


def _error(script: FaultScript) -> errors.CloudError:
    call = script.call
    match script.error:
        case "Throttled":
            return errors.Throttled(retry_after=1.0)
        case "NotFound":
            return errors.NotFound(f"{call}: not found", code="NotFound")
        case "Unauthorized":
            return errors.Unauthorized("You are not authorized to perform this operation.")
        case "InvalidLaunch":
            return errors.InvalidLaunch(f"{call}: a value is not valid")
        case "Conflict":
            return errors.Conflict(f"{call}: not in this state")
        case _:
            return unanswered(call)


def unanswered(call: str) -> errors.CloudUnreachable:
    """No answer came."""
    return errors.CloudUnreachable(f"{call}: no answer")
