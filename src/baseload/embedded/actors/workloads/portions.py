"""Numbers that are given as they are or as a percentage of another."""

from functools import lru_cache

from baseload.kube.types.meta import IntOrString


@lru_cache(maxsize=1024)
def portion(value: IntOrString | None, whole: int, *, up: bool) -> int:
    """A number, or its percentage of a whole, rounded up or down; 0 for what is neither."""
    if isinstance(value, int):
        return value
    if value is None or not value.endswith("%"):
        return 0
    digits = value[:-1]
    if not (digits.isascii() and digits.isdigit()):
        return 0
    parts = int(digits) * whole
    return -(-parts // 100) if up else parts // 100
