"""Spot notices and storms: who is cut off and when, who is told, and that no pod is lost."""

import pytest

from tests.scenarios.living import Lived, lived, seconds

NOTICE = 120.0


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("b_notice-clean-drain", {}),
        ("b_notice-against-a-budget", {"interrupted": 4}),
        ("b_notice-against-a-long-grace", {"interrupted": 4}),
        ("b_notice-nobody-hears", {"interrupted": 4}),
    ],
)
def test_who_is_left_when_the_notice_is_over_is_cut_off_at_that_moment(name: str, cut: dict[str, int]) -> None:
    life = lived(name)
    assert life.report.figures.get("podsCutOff.byCause", {}) == cut, life.text
    [noticed] = seconds(life.told("instance.interrupted"), life.report.start)
    assert set(seconds(life.told("pod.cutoff"), life.report.start)) == ({noticed + NOTICE} if cut else set())


def test_a_long_grace_is_asked_for_at_once_and_its_replacements_do_not_wait_for_its_end() -> None:
    life = lived("b_notice-against-a-long-grace")
    [noticed] = seconds(life.told("instance.interrupted"), life.report.start)
    evicted = seconds(life.told("pod.evicted", reason="api"), life.report.start)
    assert len(evicted) == 4
    assert max(evicted) < noticed + 5
    assert max(seconds(life.told("pod.ready"), life.report.start)) < noticed + 60


def test_evictions_that_a_budget_refuses_are_told_and_nothing_is_launched_for_them() -> None:
    life = lived("b_notice-against-a-budget")
    [noticed] = seconds(life.told("instance.interrupted"), life.report.start)
    _, second = seconds(life.told("instance.launched"), life.report.start)
    assert second > noticed + NOTICE
    told = life.told("event.told", reason="FailedDraining")
    assert told[0].message.startswith("Failed to drain node, 4 pods are waiting to be evicted")


class TestAStorm:
    """Six times half of the nodes within an hour."""

    def test_every_pod_that_is_pushed_out_has_one_that_replaces_it(self) -> None:
        life = lived("b_spot-storm")
        evicted = life.told("pod.evicted", reason="api")
        assert len(evicted) == life.figure("interruptions") == 36
        assert len({entry.object for entry in life.told("pod.created")}) == 12 + len(evicted)
        assert {entry.object for entry in life.told("pod.removed")} == {entry.object for entry in evicted}

    def test_no_pod_goes_to_a_node_that_has_its_notice(self) -> None:
        life = lived("b_spot-storm")
        noticed = _nodes_with_notice(life)
        assert len(noticed) == 36
        for entry in life.told("pod.bound"):
            node = entry.message.removeprefix("to Node ")
            assert entry.moment < noticed.get(node, entry.moment + 1), entry

    def test_every_interrupted_machine_is_given_back_before_its_time_is_over(self) -> None:
        life = lived("b_spot-storm")
        noticed = {entry.object: entry.moment for entry in life.told("instance.interrupted")}
        ended = {entry.object: entry.moment for entry in life.told("instance.ending")}
        assert noticed.keys() == ended.keys()
        assert all(ended[one] - noticed[one] < NOTICE * 10**9 for one in noticed)

    def test_its_cost_and_launches_are_told(self) -> None:
        life = lived("b_spot-storm")
        assert life.figure("launches") == 12 + 36
        assert life.figure("peaks")["nodes.total"] == 18
        assert 0.4 < life.figure("cost.total") < 0.7
        for name in ("launches", "cost.total", "interruptions", "podsCutOff"):
            assert name in life.text


def _nodes_with_notice(life: Lived) -> dict[str, int]:
    """Node -> the moment of its notice; a launch tells the Node's name last."""
    names = {entry.object: entry.message.rpartition(", ")[2] for entry in life.told("instance.launched")}
    return {names[entry.object]: entry.moment for entry in life.told("instance.interrupted")}
