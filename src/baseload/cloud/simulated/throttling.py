"""How often the account may call: a bucket of tokens for each call, filled again at a steady rate.

Tokens are counted in billionths, so that a rate of whole tokens a second is one of whole parts a nanosecond.
"""

from collections.abc import Mapping

from baseload.cloud.errors import Throttled
from baseload.cloud.simulated.settings import Bucket
from baseload.values import instant

_TOKEN = instant.SECOND


class Throttle:
    """The buckets, full at first. A call without one is never throttled."""

    def __init__(self, limits: Mapping[str, Bucket]) -> None:
        self._limits = limits
        self._levels: dict[str, tuple[int, int]] = {}  # call -> (parts in the bucket, when)

    def take(self, calls: tuple[str, ...], now: int) -> None:
        """A token from each bucket, or Throttled and none from any."""
        levels = {}
        for call in calls:
            bucket = self._limits.get(call)
            if bucket is not None and bucket.size:
                full = bucket.size * _TOKEN
                parts, since = self._levels.get(call, (full, now))
                parts = min(full, parts + (now - since) * bucket.refill)
                if parts < _TOKEN:
                    raise Throttled(retry_after=-((parts - _TOKEN) // bucket.refill) / instant.SECOND)
                levels[call] = parts - _TOKEN, now
        self._levels.update(levels)
