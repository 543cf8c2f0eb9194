"""Reading a map of settings: each value by its form, every fault at its path, unknown names with the nearest one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Final, Generic, NamedTuple, TypeVar

from baseload.cloud.simulated.draws import WHOLE, Delays
from baseload.kube.kinds import most_similar
from baseload.values import duration
from baseload.values.errors import Fault

T = TypeVar("T")
D = TypeVar("D")
_DURATION: Final = "a duration, e.g. 90s or 5m"
_QUANTILES: Final = f"{_DURATION}, or a map of per cent to durations that both rise, e.g. {{0: 5s, 50: 8s, 100: 20s}}"


class Form(NamedTuple, Generic[T]):
    """A form that a value must have; `read` raises ValueError for another one."""

    read: Callable[[object], T]
    allowed: str


class Tree:
    """A map under reading. `done` notes the names that nobody asked for."""

    def __init__(self, given: object, path: str, faults: list[Fault], file: str = "") -> None:
        self._path, self._faults, self._file = path, faults, file
        self._asked: list[str] = []
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            self.note("", f"Invalid value: {shown(given)}", "a map of settings")
            given = {}
        self._given: Mapping[str, object] = given

    def note(self, name: str, message: str, allowed: str = "") -> None:
        path = ".".join(part for part in (self._path, name) if part)
        self._faults.append(Fault(message, file=self._file, path=path, allowed=allowed))

    def value(self, name: str, form: Form[T], default: D) -> T | D:
        """A value, or the default where it is absent or faulty."""
        given = self._take(name)
        if given is None:
            return default
        try:
            return form.read(given)
        except ValueError as error:
            self.note(name, f"Invalid value: {shown(given)}", str(error) or form.allowed)
            return default

    def required(self, name: str, form: Form[T], default: T) -> T:
        if self._given.get(name) is None:
            self.note(name, "Required value", form.allowed)
        return self.value(name, form, default)

    def says(self, name: str) -> bool:
        return self._given.get(name) is not None

    def map(self, name: str) -> "Tree":
        """The map below, an empty one where it is absent."""
        given = self._take(name)
        return self.below(name, {} if given is None else given)

    def below(self, name: str, given: object) -> "Tree":
        """A map that was taken as a value, for a closer look."""
        path = ".".join(part for part in (self._path, name) if part)
        return Tree(given, path, self._faults, self._file)

    def pass_over(self) -> None:
        """Takes all names for known, where it cannot be told which are."""
        self._asked += self._given

    def rest(self) -> dict[str, object]:
        """What nobody has asked for yet; it counts as asked for then."""
        found = {name: value for name, value in self._given.items() if name not in self._asked}
        self.pass_over()
        return found

    def each(self, name: str) -> Iterator["Tree"]:
        """The maps of a list below; each is done when the next is asked for."""
        given = self._take(name)
        if given is None:
            return
        if not isinstance(given, list):
            self.note(name, f"Invalid value: {shown(given)}", "a list of maps")
            return
        for index, item in enumerate(given):
            tree = self.below(f"{name}[{index}]", item)
            yield tree
            tree.done()

    def entries(self, known: Sequence[str], form: Form[T]) -> dict[str, T]:
        """What the map says of names out of a closed list, all of one form."""
        self._asked += known
        found: dict[str, T] = {}
        for name in known:
            value = self.value(name, form, None)
            if value is not None:
                found[name] = value
        self.done()
        return found

    def done(self) -> None:
        known = tuple(dict.fromkeys(self._asked))
        for name in self._given:
            if name not in known:
                near = most_similar(name, known)
                hint = f"did you mean {near}? " if near else ""
                self.note(name, "is no known setting", f"{hint}allowed: {', '.join(known)}")

    def _take(self, name: str) -> object:
        self._asked.append(name)
        return self._given.get(name)


def shown(given: object) -> str:
    """A value as messages quote it."""
    text = repr(given) if isinstance(given, str) else str(given)
    return text if len(text) <= 60 else f"{text[:60]}..."


def one_of(*names: str) -> Form[str]:
    def read(given: object) -> str:
        if not isinstance(given, str) or given not in names:
            near = most_similar(given, names) if isinstance(given, str) else None
            hint = f"did you mean {near}? " if near else ""
            raise ValueError(f"{hint}one of {', '.join(names)}")
        return given

    return Form(read, f"one of {', '.join(names)}")


def whole(least: int, most: int = 2**31 - 1) -> Form[int]:
    allowed = f"a whole number from {least} to {most}" if most < 2**31 - 1 else f"a whole number, {least} or more"

    def read(given: object) -> int:
        if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
            raise ValueError
        return given

    return Form(read, allowed)


def list_of(form: Form[T]) -> Form[tuple[T, ...]]:
    def read(given: object) -> tuple[T, ...]:
        if not isinstance(given, list) or not given:
            raise ValueError
        return tuple(form.read(item) for item in given)

    return Form(read, f"a list, each {form.allowed}")


def or_never(form: Form[T]) -> Form[T | None]:
    """The same, or the word never."""
    return Form(lambda given: None if given == "never" else form.read(given), f"{form.allowed}, or never")


def _text(given: object) -> str:
    if not isinstance(given, str) or not given or len(given) > 255:
        raise ValueError
    return given


def _boolean(given: object) -> bool:
    if not isinstance(given, bool):
        raise ValueError
    return given


def _duration(given: object) -> int:
    if not isinstance(given, str) or (nanoseconds := duration.parse(given)) < 0:
        raise ValueError
    return nanoseconds


def _positive(given: object) -> int:
    nanoseconds = _duration(given)
    if not nanoseconds:
        raise ValueError
    return nanoseconds


def _percent(given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ValueError
    try:
        percent = Decimal(str(given))
    except InvalidOperation as error:
        raise ValueError from error
    if not percent.is_finite() or not 0 <= percent <= 100:
        raise ValueError
    share = percent * (WHOLE // 100)
    if share != share.to_integral_value():
        raise ValueError
    return int(share)


def _delays(given: object) -> Delays:
    if not isinstance(given, Mapping):
        return Delays.of(_duration(given))
    points = [(_percent(percent), _duration(value)) for percent, value in given.items()]
    rising = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
    if not points or not rising:
        raise ValueError
    return Delays(tuple(points))


def _tags(given: object) -> Mapping[str, str]:
    if not isinstance(given, Mapping):
        raise ValueError
    return {_text(key): value for key, value in given.items() if isinstance(value, str) or _refuse()}


def _refuse() -> bool:
    raise ValueError


TEXT: Final = Form(_text, "a text")
BOOLEAN: Final = Form(_boolean, "true or false")
DURATION: Final = Form(_duration, _DURATION)
LENGTH: Final = Form(_positive, f"{_DURATION}, above 0")
PERCENT: Final = Form(_percent, "per cent from 0 to 100, with at most four decimals")
DELAYS: Final = Form(_delays, _QUANTILES)
TAGS: Final = Form(_tags, "a map of texts")
