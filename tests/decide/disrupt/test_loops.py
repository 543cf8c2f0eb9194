"""Disruption that goes in circles is recognised, and what merely happens twice is not."""

from collections.abc import Mapping

from baseload.decide.disrupt import loops
from baseload.decide.disrupt.loops import GivenUp, History, Launched, seen_before
from baseload.plan.disrupt import EMPTY, UNDERUTILIZED, LoopKind
from baseload.values.duration import HOUR, MINUTE
from tests.decide.disrupt import stage

WEB = "shop/Deployment/web"
DB = "shop/StatefulSet/db"
SMALL, LARGE = ("default", "small"), ("default", "large")


def move(
    at: int,
    pods: Mapping[str, int],
    *shapes: tuple[str, str],
    reason: str = UNDERUTILIZED,
    replicas: Mapping[str, int] | None = None,
) -> GivenUp:
    return GivenUp(at, reason, shapes or (SMALL,), pods, replicas or dict.fromkeys(pods, 100))


def history(*done: GivenUp | Launched) -> History:
    found = History()
    for one in done:
        if isinstance(one, GivenUp):
            found.give_up(one)
        else:
            found.launch(one)
    return found


def test_the_same_pods_leaving_the_same_shapes_a_third_time_are_a_circle_that_tells_its_period() -> None:
    held = history(move(0, {WEB: 2}), move(20 * MINUTE, {WEB: 2}))
    found = seen_before(held, move(40 * MINUTE, {WEB: 2}))

    assert found is not None
    assert (found.kind, found.times, found.period) == (LoopKind.SAME_MOVE, 3, 20 * MINUTE)
    assert found.message == f"2 pods of {WEB} leave default/small again: 3 times, every 20m0s"


def test_other_pods_other_shapes_or_another_reason_are_another_move() -> None:
    held = history(move(0, {WEB: 2}), move(MINUTE, {WEB: 2}))

    assert seen_before(held, move(2 * MINUTE, {WEB: 1})) is None
    assert seen_before(held, move(2 * MINUTE, {WEB: 2}, LARGE)) is None
    assert seen_before(held, move(2 * MINUTE, {WEB: 2}, reason="Drifted")) is None


def test_what_is_longer_ago_than_the_window_is_forgotten() -> None:
    held = history(move(0, {WEB: 2}), move(HOUR, {WEB: 2}))

    assert seen_before(held, move(6 * HOUR + 1, {WEB: 2})) is None
    assert seen_before(held, move(6 * HOUR, {WEB: 2})) is not None


def test_a_workload_whose_every_pod_moved_three_times_is_a_circle_and_one_that_was_drained_once_is_not() -> None:
    held = history(move(0, {DB: 1}, LARGE, replicas={DB: 1}), move(HOUR, {DB: 1}, SMALL, replicas={DB: 1}))
    found = seen_before(held, move(2 * HOUR, {DB: 1}, LARGE, SMALL, replicas={DB: 1}))

    assert found is not None
    assert (found.kind, found.times) == (LoopKind.SAME_PODS, 3)
    assert found.message == f"the pods of {DB} move: 3 times, every 1h0m0s"

    drained = history(*(move(at * MINUTE, {WEB: at}, replicas={WEB: 30}) for at in range(1, 8)))
    assert seen_before(drained, move(HOUR, {WEB: 2}, replicas={WEB: 30})) is None


def test_nodes_launched_again_and_again_for_what_consolidation_has_just_moved_are_a_circle() -> None:
    done: list[GivenUp | Launched] = []
    for turn in range(2):
        at = turn * HOUR
        done += [move(at, {WEB: 3 + turn}), Launched(at + MINUTE, LARGE, {WEB: 3 + turn})]
    found = seen_before(history(*done), move(2 * HOUR, {WEB: 9}, LARGE))

    assert found is not None
    assert found.kind is LoopKind.LAUNCHED_AGAIN

    late = [one if isinstance(one, GivenUp) else Launched(one.at + 30 * MINUTE, LARGE, one.pods) for one in done]
    assert seen_before(history(*late), move(2 * HOUR, {WEB: 9}, LARGE)) is None


def test_nodes_that_are_launched_for_pods_and_deleted_as_empty_before_these_come_are_a_circle() -> None:
    done: list[GivenUp | Launched] = []
    for turn in range(3):
        at = turn * 3 * MINUTE
        done += [Launched(at, SMALL, {WEB: 1}), move(at + 2 * MINUTE, {}, reason=EMPTY)]
    last = done.pop()
    assert isinstance(last, GivenUp)
    found = seen_before(history(*done), last)

    assert found is not None
    assert (found.kind, found.times, found.period) == (LoopKind.LAUNCHED_UNUSED, 3, 3 * MINUTE)
    assert "launched for 1 pod of shop/Deployment/web and deleted as empty" in found.message


def test_a_night_and_morning_of_the_same_nodes_is_no_circle() -> None:
    shrink = history(*(move(at * MINUTE, {}, SMALL, reason=EMPTY) for at in range(9)))

    assert seen_before(shrink, move(HOUR, {}, SMALL, reason=EMPTY)) is None


def test_pods_of_a_deployment_are_told_by_its_name_whatever_replica_set_made_them() -> None:
    view, _, _ = stage.inputs(
        stage.changed(
            stage.pod("web-abc-1", "n", labels={"pod-template-hash": "abc"}),
            "metadata.ownerReferences",
            [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-abc", "uid": "u", "controller": True}],
        ),
        stage.pod("alone", "n", owner=None),
        stage.pool(),
    )
    of, count = loops.workloads_of(view.pods)

    assert of == {"default/web-abc-1": "default/Deployment/web", "default/alone": "default/Pod/alone"}
    assert set(count.values()) == {1}
