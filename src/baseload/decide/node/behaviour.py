"""How the containers of a workload behave, since no container runs: how long what takes, how it ends, what it uses.

Written as a map, in a scenario or in the annotations `baseload.dev/…` of a pod; what is not written has its default.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Final

from baseload.decide.node import use
from baseload.decide.node.ending import TERMINATED
from baseload.decide.node.use import Amount, Curve
from baseload.values import duration, quantity
from baseload.values.errors import BadInput, Fault, quoted
from baseload.values.instant import SECOND

PREFIX: Final = "baseload.dev/"
MOST: Final = use.constant(Amount(share=600))
"""60 % of the request"""
_LONGEST: Final = 100 * 365 * 24 * 3600  # seconds
_LARGEST_SHARE: Final = 1_000_000  # per cent
UNREQUESTED: Final = 150 * 2**20 * quantity.UNIT
"""Memory of a container that requests none and of which nothing is said (cluster-actors spec 24.4)"""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Durations in nanoseconds; memory and cpu are curves of nano-units."""

    starts_after: int = 2 * SECOND
    """From the kubelet's admission until the first container runs: sandbox, network, image."""
    init_takes: int = SECOND
    """How long each init container runs; 0 is its exit code."""
    answers_after: int = SECOND
    """From a container's start until its probes succeed."""
    exits_after: int | None = None
    """From a container's start until it ends by itself; never by default."""
    exit_code: int = 0
    """What it ends with then."""
    exits: int | None = None
    """How often it ends so before it goes on for ever; always by default."""
    hangs_after: int | None = None
    """From a container's start until its probes get no answer any more."""
    pre_stop_takes: int | None = None
    """How long a preStop hook takes; by default what its `sleep` says, else no time."""
    stops_after: int = SECOND
    """From SIGTERM until the container ends; beyond the grace it is killed."""
    stop_code: int = TERMINATED
    """What it ends with then."""
    answers_in: int = 50 * 10**6
    """How long a probe takes on a machine that has room."""
    memory: Curve = MOST
    """Each container's working set; 60 % of its request by default, 150Mi where it requests none."""
    cpu: Curve = MOST
    """What each container would use; 60 % of its request by default."""

    def memory_at(self, age: int, request: int) -> int:
        """Bytes, in nano-units."""
        if not request and self.memory is MOST:
            return UNREQUESTED
        return self.memory.at(age, request)

    def memory_peak(self, request: int) -> int:
        if not request and self.memory is MOST:
            return UNREQUESTED
        return self.memory.peak(request)


DEFAULT: Final = Behaviour()


def annotated(annotations: Mapping[str, str], basis: Behaviour = DEFAULT) -> Behaviour:
    """The behaviour that a pod's annotations say, over what it would be without them. Raises BadInput."""
    written = {_field(key): key for key in annotations if _field(key) in _READERS}
    said = {name: annotations[key] for name, key in written.items()}
    return read(said, basis, at=lambda name: f"metadata.annotations[{written[name]}]") if said else basis


def _field(key: str) -> str:
    name = key.removeprefix(PREFIX) if key.startswith(PREFIX) else ""
    head, *rest = name.split("-")
    return {"real-memory": "memory", "real-cpu": "cpu"}.get(name, head + "".join(word.title() for word in rest))


def read(
    tree: Mapping[str, object], basis: Behaviour = DEFAULT, *, at: Callable[[str], str] = lambda name: name
) -> Behaviour:
    """A behaviour as it is written, over another one; `at` says where a field of it stands. Raises BadInput."""
    faults: list[Fault] = []
    found: dict[str, object] = {}
    for key, value in tree.items():
        reader = _READERS.get(key)
        if reader is None:
            faults.append(Fault("is not known here", path=at(key), allowed=f"one of {', '.join(_READERS)}"))
            continue
        try:
            found[_SNAKE[key]] = reader(value)
        except ValueError as error:
            faults.append(Fault(str(error), path=at(key)))
    if faults:
        raise BadInput(faults)
    return replace(basis, **found)  # type: ignore[arg-type]  # each reader gives what its field takes


def _duration(value: object) -> int:
    if isinstance(value, str):
        nanoseconds = _nanoseconds(float(value)) if _is_number(value) else duration.parse(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        nanoseconds = _nanoseconds(value)
    else:
        raise ValueError("is no duration: use seconds, or a text such as 1m30s")
    if nanoseconds < 0:
        raise ValueError("is less than no time: use 0 or more")
    return nanoseconds


def _nanoseconds(seconds: float) -> int:
    if not -_LONGEST <= seconds <= _LONGEST:
        raise ValueError("is longer than 100 years: leave it out where it never comes")
    return round(seconds * SECOND)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdigit()


def _count(low: int, high: int) -> Callable[[object], int]:
    def count(value: object) -> int:
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
            raise ValueError(f"is no whole number from {low} to {high}")
        return number

    return count


def _curve(value: object) -> Curve:
    """An amount, "60%" or "200Mi"; a row of them in time, "0s:100Mi,10m:2Gi"; or a rise, "100Mi..1Gi/120s"."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = repr(value)
    if not isinstance(value, str) or not value:
        raise ValueError('is no use: write "60%", "200Mi", "0s:100Mi,10m:2Gi" or "100Mi..1Gi/2m"')
    if ".." in value:
        base, _, rest = value.partition("..")
        peak, _, time = rest.partition("/")
        return use.levelling(_amount(base), _amount(peak), _duration(time or "120s") // SECOND)
    if ":" not in value:
        return use.constant(_amount(value))
    points = [part.partition(":") for part in value.split(",")]
    moments = tuple(_duration(moment.strip()) for moment, _, _ in points)
    if any(one >= other for one, other in pairwise(moments)):
        raise ValueError("has moments that do not rise: write each later one after the earlier")
    return Curve(moments, tuple(_amount(amount) for _, _, amount in points))


def _amount(text: str) -> Amount:
    text = text.strip()
    if text.endswith("%"):
        if not _is_number(text[:-1]) or float(text[:-1]) > _LARGEST_SHARE:
            raise ValueError(f'{quoted(text)} is no share: write "60%", at most {_LARGEST_SHARE}%')
        return Amount(share=round(float(text[:-1]) * 10))
    own = quantity.parse(text)
    if own < 0:
        raise ValueError(f"{quoted(text)} is less than nothing")
    return Amount(own=own)


_KINDS: Final[dict[str, Callable[[object], object]]] = {
    "exit_code": _count(0, 255),
    "stop_code": _count(0, 255),
    "exits": _count(1, 10**6),
    "memory": _curve,
    "cpu": _curve,
}


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


_SNAKE: Final = {_camel(field.name): field.name for field in fields(Behaviour)}
_READERS: Final = {camel: _KINDS.get(name, _duration) for camel, name in _SNAKE.items()}
FIELDS: Final = tuple(_READERS)
"""The names that a behaviour may have, as they are written"""
