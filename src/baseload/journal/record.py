"""One line of a journal.

What happened is named by a past-tense dotted verb (`pod.bound`), who tells it by the component (`scheduler`), and whom
it befell by kind and name (`Pod default/web-1`, `Node ip-10-0-0-1.ec2.internal`). `t` is an instant, `seq` counts the
lines from 1: with the same scenario and seed both are the same in every run.
"""

import msgspec

from baseload.values import instant

Plan = dict[str, object]


class Entry(msgspec.Struct, frozen=True, omit_defaults=False):
    """One thing that happened."""

    t: str
    seq: int
    source: str
    event: str
    object: str
    reason: str = ""
    message: str = ""
    plan: Plan | None = None

    @property
    def moment(self) -> int:
        """Nanoseconds since the epoch."""
        return instant.parse(self.t)
