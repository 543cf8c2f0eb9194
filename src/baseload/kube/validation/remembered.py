"""Parts of objects that were found sound get no second look: many pods have the same probes, tolerations and volumes.

A part is told by its JSON, and by whatever else its rule looks at. Faults are not remembered: they name their place.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

import msgspec

from baseload.kube.validation.fault import Faults

T = TypeVar("T")
P = ParamSpec("P")

_MOST: Final = 1 << 12  # parts to a rule; then all are forgotten, and those that are frequent come again soon


def once(rule: Callable[Concatenate[T, str, P], Faults]) -> Callable[Concatenate[T, str, P], Faults]:
    """The rule, which looks at a part (at a path, among other things) that is sound but once."""
    sound: set[tuple[bytes, object]] = set()

    @wraps(rule)
    def judged(given: T, path: str, /, *around: P.args, **named: P.kwargs) -> Faults:
        part = (msgspec.json.encode(given), around)
        if part in sound:
            return iter(())
        faults = list(rule(given, path, *around, **named))
        if not faults:
            if len(sound) >= _MOST:
                sound.clear()
            sound.add(part)
        return iter(faults)

    return judged
