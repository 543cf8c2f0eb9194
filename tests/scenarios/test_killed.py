"""Karpenter's process ends in place of any of its writes and cloud calls: nothing leaks, nothing is launched twice."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.scenarios.living import Lived, lived, lived_otherwise, spec_of

STORY = "b_killed-controllers"
WRITES = "karpenter.writes"


def interrupted(points: Iterable[int], writes: int) -> int:
    """How many runs were ended after so many of all writes, each of which came out as if nothing had been."""
    return sum(_comes_out_well(after, is_last=after == writes) for after in points)


def _comes_out_well(after: int, *, is_last: bool) -> bool:
    killed: dict[str, Any] = {"do": "killController", "controller": "karpenter"}
    killed |= {"at": "15m"} if is_last else {"at": "0s", "afterWrites": after}
    life = lived_otherwise(STORY, events=[killed, *spec_of(STORY)["events"]])
    assert life.report.result == "holds", f"after {after} writes:\n{life.text}"
    assert len(life.told("controller.killed")) == 1, after
    assert _launched(life) == len(life.told("instance.launched")), after
    return True


def _launched(life: Lived) -> int:
    """How many claims have an instance; each instance that was launched is some claim's."""
    return len({entry.object for entry in life.told("nodeclaim.launched")})


def test_killed_between_two_writes_it_goes_on_where_it_was() -> None:
    writes = lived(STORY).figure(WRITES)
    assert writes > 60
    points = (0, 4, 5, writes // 3, writes // 2, writes - 2, writes)
    assert interrupted(points, writes) == len(points)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_the_same_at_every_point() -> None:
    """Before each of the writes and calls, and after all of them."""
    writes = lived(STORY).figure(WRITES)
    assert interrupted(range(writes + 1), writes) == writes + 1
