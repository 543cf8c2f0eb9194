"""How long ago, as kubectl's tables say it: 5s, 3m20s, 7h, 4d3h, 2y10d."""

from baseload.embedded.store.record import Json
from baseload.values import instant, span


def age(moment: Json, now: int) -> str:
    """The time since a moment; <unknown> where there is none."""
    if not isinstance(moment, str) or not moment:
        return "<unknown>"
    try:
        return span.text((now - instant.parse(moment)) // instant.SECOND)
    except ValueError:
        return "<invalid>"
