"""What a StatefulSet does next, as a table of its replicas."""

from dataclasses import replace

from baseload.embedded.actors.workloads.stateful import Replica, Wanted, decide, revision_at

ORDERED = Wanted(0, 3, "new")
PARALLEL = replace(ORDERED, is_parallel=True)


def well(ordinal: int, revision: str = "new") -> Replica:
    return Replica(ordinal, revision, is_ready=True, is_available=True)


def sick(ordinal: int, revision: str = "new") -> Replica:
    return Replica(ordinal, revision)


def ending(ordinal: int) -> Replica:
    return replace(well(ordinal), is_terminating=True)


def test_replicas_are_made_one_by_one_from_the_lowest() -> None:
    assert decide(ORDERED, []) == [("create", 0)]
    assert decide(ORDERED, [sick(0)]) == []
    assert decide(ORDERED, [well(0)]) == [("create", 1)]
    assert decide(ORDERED, [replace(well(0), is_available=False)]) == []


def test_the_first_number_may_be_another_one() -> None:
    assert decide(replace(ORDERED, start=5), [well(5)]) == [("create", 6)]


def test_in_parallel_all_are_made_and_deleted_at_once() -> None:
    assert decide(PARALLEL, [sick(1)]) == [("create", 0), ("create", 2)]
    assert decide(replace(PARALLEL, replicas=1), [sick(0), sick(1), well(2)]) == [("delete", 2), ("delete", 1)]


def test_a_pod_that_is_terminating_keeps_its_number_and_everything_behind_it_waits() -> None:
    assert decide(ORDERED, [well(0), ending(1)]) == []
    assert decide(ORDERED, [well(0), ending(1), well(2, "old")]) == []


def test_a_pod_that_is_over_is_deleted_to_be_made_anew() -> None:
    assert decide(ORDERED, [well(0), replace(sick(1), is_over=True)]) == [("recreate", 1)]


def test_the_highest_goes_first_and_waits_for_the_lower_ones() -> None:
    fewer = replace(ORDERED, replicas=1)

    assert decide(fewer, [well(0), well(1), well(2)]) == [("delete", 2)]
    assert decide(fewer, [sick(0), well(1), well(2)]) == []
    assert decide(fewer, [well(0), well(1), ending(2)]) == []


def test_of_those_to_go_only_the_lowest_that_is_not_available_may_go_although_it_is_not() -> None:
    fewer = replace(ORDERED, replicas=1)

    assert decide(fewer, [well(0), well(1), sick(2)]) == [("delete", 2)]
    assert decide(fewer, [well(0), sick(1), sick(2)]) == []


def test_an_update_goes_from_the_highest_down_one_after_the_other() -> None:
    assert decide(ORDERED, [well(0, "old"), well(1, "old"), well(2, "old")]) == [("delete", 2)]
    assert decide(ORDERED, [well(0, "old"), well(1, "old"), well(2)]) == [("delete", 1)]


def test_a_broken_update_is_not_helped_by_another_one_until_its_pod_is_deleted() -> None:
    back = replace(ORDERED, revision="back")

    assert decide(back, [well(0, "back"), well(1, "back"), sick(2, "broken")]) == []


def test_several_may_be_unavailable_at_once() -> None:
    two = replace(ORDERED, max_unavailable=2)

    assert decide(two, [well(0, "old"), well(1, "old"), well(2, "old")]) == [("delete", 2), ("delete", 1)]


def test_in_parallel_what_is_unavailable_anyhow_is_renewed_first_and_costs_nothing() -> None:
    assert decide(PARALLEL, [sick(0, "old"), well(1, "old"), well(2, "old")]) == [("delete", 0)]
    assert decide(PARALLEL, [well(0, "old"), well(1, "old"), well(2, "old")]) == [("delete", 2)]


def test_replicas_below_the_partition_keep_the_old_revision_even_when_made_anew() -> None:
    canary = replace(ORDERED, partition=2)

    assert decide(canary, [well(0, "old"), well(1, "old"), well(2)]) == []
    assert [revision_at(ordinal, canary, "old") for ordinal in range(3)] == ["old", "old", "new"]


def test_on_delete_renews_nothing_by_itself() -> None:
    by_hand = replace(ORDERED, rolls=False)

    assert decide(by_hand, [well(0, "old"), well(1, "old"), well(2, "old")]) == []
    assert revision_at(0, by_hand, "old") == "new"


def test_scaling_comes_before_an_update() -> None:
    assert decide(replace(ORDERED, replicas=2), [well(0, "old"), well(1, "old"), well(2, "old")]) == [("delete", 2)]
