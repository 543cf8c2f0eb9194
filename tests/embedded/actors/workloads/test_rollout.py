"""Rolling updates as arithmetic: the worked examples, and that no step ever leaves the bounds."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.embedded.actors.workloads import rollout
from baseload.embedded.actors.workloads.portions import portion
from baseload.embedded.actors.workloads.readings import DeploymentSpec, RollingUpdate, Strategy
from baseload.embedded.actors.workloads.rollout import Bounds, Revision


def spec(replicas: int, surge: int | str = "25%", unavailable: int | str = "25%") -> DeploymentSpec:
    return DeploymentSpec(replicas, strategy=Strategy("RollingUpdate", RollingUpdate(unavailable, surge)))


def healthy(name: str, size: int, desired: int | None = None, most: int | None = None) -> Revision:
    return Revision(name, "", size, size, size, size, desired, most)


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable"), [(1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 1, 1), (5, 2, 1), (10, 3, 2)]
)
def test_a_quarter_is_rounded_up_for_the_surge_and_down_for_what_may_be_missing(
    replicas: int, surge: int, unavailable: int
) -> None:
    assert rollout.bounds(spec(replicas)) == Bounds(replicas, surge, unavailable)


def test_where_both_come_to_nothing_one_pod_may_be_missing() -> None:
    assert rollout.bounds(spec(2, "0%", "1%")) == Bounds(2, 0, 1)


def test_a_percentage_of_a_number_is_exact() -> None:
    assert [portion("29%", 100, up=up) for up in (True, False)] == [29, 29]
    assert [portion(value, 3, up=True) for value in (2, "34%", None, "many")] == [2, 2, 0, 0]


def test_four_replicas_surge_by_one_then_one_old_pod_goes() -> None:
    limits = rollout.bounds(spec(4))

    assert rollout.rolled(Revision("new", "", 0), [healthy("old", 4)], limits) == {"new": 1}
    assert rollout.rolled(Revision("new", "", 1), [healthy("old", 4)], limits) == {"old": 3}


def test_a_single_replica_stays_until_the_new_one_is_available() -> None:
    limits = rollout.bounds(spec(1))

    assert rollout.rolled(Revision("new", "", 0), [healthy("old", 1)], limits) == {"new": 1}
    assert rollout.rolled(Revision("new", "", 1), [healthy("old", 1)], limits) == {}
    assert rollout.rolled(healthy("new", 1), [healthy("old", 1)], limits) == {"old": 0}


def test_new_pods_that_never_get_ready_freeze_the_rollout() -> None:
    limits = rollout.bounds(spec(10, 3, 2))
    new, old = Revision("new", "", 0), healthy("old", 10)
    seen = []
    while scaled := rollout.rolled(new, [old], limits):
        seen.append(scaled)
        new = replace(new, spec=scaled.get("new", new.spec))
        size = scaled.get("old", old.spec)
        old = healthy("old", size)

    assert seen == [{"new": 3}, {"old": 8}, {"new": 5}]


def test_old_pods_that_are_not_available_go_first_the_oldest_revision_first() -> None:
    limits = rollout.bounds(spec(4, 0, 1))
    sick = Revision("sick", "1", 2, 2, 0, 0)

    assert rollout.rolled(Revision("new", "3", 1, 1, 1, 1), [healthy("well", 2), sick], limits) == {"sick": 0}


def test_scaling_during_a_rollout_keeps_the_proportions_and_gives_the_rest_to_the_largest() -> None:
    old, new = healthy("old", 8, 10, 13), healthy("new", 5, 10, 13)

    assert rollout.resized(new, [old], spec(20, 3, 2)) == {"old": 14, "new": 9}
    assert rollout.resized(new, [old], spec(5, 3, 2)) == {"old": 5, "new": 3}
    assert rollout.resized(new, [old], spec(0, 3, 2)) == {"old": 0, "new": 0}


def test_at_rest_only_the_active_replica_set_is_scaled_or_else_the_newest() -> None:
    idle = Revision("idle", "1", 0)

    assert rollout.resized(healthy("new", 3), [idle], spec(5)) == {"new": 5}
    assert rollout.resized(None, [idle, Revision("later", "2", 0)], spec(5)) == {"later": 5}
    assert rollout.resized(healthy("new", 3), [], spec(3)) == {}


def test_revisions_beyond_the_limit_go_the_oldest_first_unless_they_have_replicas() -> None:
    old = [Revision(f"r{number}", "", 0, revision=number) for number in (3, 1, 2)]

    assert rollout.outdated(old, 1) == ["r1", "r2"]
    assert rollout.outdated([*old, Revision("r0", "", 1, revision=0)], 1) == ["r1", "r2"]
    assert rollout.outdated([replace(old[1], is_observed=False), *old[2:]], 0) == ["r2"]


SIZES = st.integers(0, 12)


@given(
    st.builds(spec, st.integers(1, 20), st.one_of(SIZES, st.just("25%")), st.one_of(SIZES, st.just("25%"))),
    st.integers(0, 12),
    st.lists(st.tuples(SIZES, SIZES), max_size=3),
    SIZES,
)
def test_no_step_exceeds_the_surge_or_takes_what_must_be_available(
    told: DeploymentSpec, new_size: int, sizes: list[tuple[int, int]], new_available: int
) -> None:
    limits = rollout.bounds(told)
    old = [
        Revision(f"old{number}", str(number), size, size, min(size, well), min(size, well))
        for number, (size, well) in enumerate(sizes)
    ]
    new = Revision("new", "9", new_size, new_size, min(new_size, new_available), min(new_size, new_available))
    scaled = rollout.rolled(new, old, limits)

    before = sum(revision.spec for revision in (new, *old))
    after = sum(scaled.get(revision.name, revision.spec) for revision in (new, *old))
    assert after <= max(before, limits.most)
    available = sum(revision.available for revision in (new, *old))
    left = new.available if scaled.get("new", new.spec) >= new.spec else min(new.available, scaled["new"])
    left += sum(min(revision.available, scaled.get(revision.name, revision.spec)) for revision in old)
    if "new" not in scaled:
        assert left >= min(available, limits.least_available)
