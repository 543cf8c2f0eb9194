"""A disruption plan as people read it."""

from dataclasses import replace
from pathlib import Path

from baseload.plan.disrupt import DisruptPlan, Kept, Skipped
from baseload.report.disrupt import render, render_compared, render_passes
from tests.conftest import Golden
from tests.plan.disruptions import BOTH, CIRCLES, FULL, LOOPS, ONE_PASS, PASSES, REPLACES

GOLDEN = Path(__file__).with_name("golden")


def test_the_report_is_the_one_on_record(golden: Golden) -> None:
    golden(GOLDEN / "disrupt.txt", render(FULL))


def test_the_report_of_passes_is_the_one_on_record(golden: Golden) -> None:
    golden(GOLDEN / "disrupt-passes.txt", render_passes(PASSES))


def test_nothing_to_do_is_said_in_one_line() -> None:
    assert render(DisruptPlan()) == "No node is disrupted.\n"


def test_nodes_that_are_kept_for_one_reason_are_one_line_unless_all_is_asked_for() -> None:
    many = tuple(Skipped(f"node-{n:02}", Kept.DELETING, "it is being deleted") for n in range(12))
    told, wide = render(DisruptPlan(skipped=many)), render(DisruptPlan(skipped=many), wide=True)

    assert "12 nodes not considered:" in told
    assert "  node-00 … node-11 (12)  MarkedForDeletion  it is being deleted" in told
    assert "node-07" in wide


def test_a_move_that_costs_more_says_so() -> None:
    dear = replace(REPLACES, savings_per_hour=-0.1)

    assert render(DisruptPlan(commands=(dear,))).startswith(
        "2 nodes to disrupt, 1 node to launch: costs $0.1000 an hour, $73.00 a month more.\n"
    )


def test_a_loop_is_named() -> None:
    last = render_passes(LOOPS).splitlines()[-3:]

    assert last[0].endswith("It does not end: the nodes after pass 2 are those after pass 1 again.")
    assert last[1:] == [
        "Goes round: Forceful: delete 1 default/c5.2xlarge, Expired.",
        "Goes round: MultiNodeConsolidation: replace 1 default/c5.4xlarge, 1 default/c5.2xlarge, Underutilized.",
    ]


def test_what_comes_back_is_named_below_the_end() -> None:
    last = render_passes(CIRCLES).splitlines()[-1]

    assert last == "Comes back: the pods of default/Deployment/web move: 4 times, every 1m30s (SamePods)."


def test_both_modes_stand_apart_and_are_compared(golden: Golden) -> None:
    golden(GOLDEN / "disrupt-both.txt", render_compared(BOTH, "both"))


def test_the_optimal_mode_alone_is_named_and_a_bound_of_nothing_tells_no_distance() -> None:
    told = render_compared(ONE_PASS, "optimal")

    assert told.startswith("OPTIMAL: ")
    assert "COMPATIBLE" not in told
    assert "above it" not in told
    assert "Optimal costs $0.2000 an hour less than compatible, $146.00 a month." in told
