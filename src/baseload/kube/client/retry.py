"""What is tried again, after how long.

Not tried again: what the server refused for a reason that stays. Tried again whatever was asked: what never reached the
server, and what it put off (429, or an error with Retry-After). Tried again only where doing it twice does the same as
once: what was lost on the way, and the server's own failures.
"""

from dataclasses import dataclass
from typing import Final

from baseload.kube.client.errors import ApiError, ServerFailed, Timeout, TooManyRequests, Unreachable
from baseload.kube.client.port import Request
from baseload.values.chance import Chance

_JSON_PATCH: Final = "application/json-patch+json"


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that grow up to a limit, each stretched by chance so that many clients do not come at once."""

    first: float
    longest: float
    factor: float = 2.0
    jitter: float = 1.0  # a delay d becomes d to d * (1 + jitter)

    def delay(self, tries: int, chance: Chance) -> float:
        """Seconds to wait after so many failures, from 1 on."""
        grown = self.first * self.factor ** min(tries - 1, 64)
        return min(grown, self.longest) * (1 + self.jitter * chance.random())


@dataclass(frozen=True, slots=True)
class Retry:
    """How often, and after how long, a request is tried again."""

    tries: int = 6
    backoff: Backoff = Backoff(0.1, 5.0)

    def wait(self, error: ApiError, request: Request, tries: int, chance: Chance) -> float | None:
        """Seconds to wait after so many failures; None where it is given up."""
        if tries >= self.tries or not _may_pass(error, request):
            return None
        if error.retry_after:
            return error.retry_after * (1 + 0.1 * chance.random())
        return self.backoff.delay(tries, chance)


NEVER: Final = Retry(tries=1)


def is_repeatable(request: Request) -> bool:
    """Whether doing it twice leaves what doing it once leaves."""
    if request.method == "PATCH":
        return request.content_type != _JSON_PATCH
    return request.method in ("GET", "PUT", "DELETE")


def _may_pass(error: ApiError, request: Request) -> bool:
    if isinstance(error, Unreachable):
        return not error.was_sent or is_repeatable(request)
    if isinstance(error, TooManyRequests):
        return True
    if isinstance(error, ServerFailed | Timeout):
        return error.code != 501 and (bool(error.retry_after) or is_repeatable(request))
    return False
