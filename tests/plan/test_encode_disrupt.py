"""The JSON of a DisruptPlan is the contract that scripts rely on."""

from pathlib import Path

import msgspec

from baseload.plan.disrupt import KEPT_MEANING, LOOP_MEANING, DisruptPlan, Kept, LoopKind
from baseload.plan.encode_disrupt import compared_to_json, passes_to_json, to_json
from tests.conftest import Golden
from tests.plan.disruptions import BOTH, CIRCLES, FULL, LOOPS, ONE_PASS, PASSES


def test_the_json_of_a_plan_is_the_contract_on_record(golden: Golden) -> None:
    text = msgspec.json.format(msgspec.json.encode(to_json(FULL)), indent=2).decode()

    golden(Path(__file__).with_name("golden") / "disrupt.json", text + "\n")


def test_an_empty_plan_has_every_list() -> None:
    assert msgspec.json.decode(msgspec.json.encode(to_json(DisruptPlan()))) == {
        "apiVersion": "baseload.dev/v1alpha1",
        "kind": "DisruptPlan",
        "commands": [],
        "skipped": [],
        "tried": [],
        "nodeClaims": [],
        "drain": {"evict": [], "delete": []},
        "unavailableOfferings": [],
        "notes": [],
    }


def test_passes_are_plans_and_their_end() -> None:
    told = passes_to_json(PASSES)

    assert told["kind"] == "DisruptPlan"
    assert isinstance(told["passes"], list)
    assert len(told["passes"]) == 2
    assert told["end"] == {"nodes": 2, "pricePerHour": 0.3196, "stable": True}
    assert passes_to_json(LOOPS)["end"] == {
        "nodes": 4,
        "pricePerHour": 1.0,
        "stable": False,
        "loop": {
            "from": 1,
            "to": 2,
            "moves": [
                {"method": "Forceful", "reason": "Expired", "nodes": ["default/c5.2xlarge"]},
                {
                    "method": "MultiNodeConsolidation",
                    "reason": "Underutilized",
                    "nodes": ["default/c5.4xlarge", "default/c5.2xlarge"],
                },
            ],
        },
    }


def test_every_reason_has_a_meaning() -> None:
    assert set(KEPT_MEANING) == set(Kept)
    assert set(LOOP_MEANING) == set(LoopKind)


def test_what_comes_back_is_told_with_the_end() -> None:
    end = passes_to_json(CIRCLES)["end"]

    assert isinstance(end, dict)
    message = "the pods of default/Deployment/web move: 4 times, every 1m30s"
    assert end["repeated"] == [{"kind": "SamePods", "times": 4, "message": message}]


def test_both_modes_are_the_compatible_plan_the_other_beside_it_and_how_they_compare() -> None:
    told = compared_to_json(BOTH, "both")
    comparison = {
        "moves": {"compatible": 3, "optimal": 5},
        "nodes": {"compatible": 2, "optimal": 2},
        "pricePerHour": {"before": 0.68, "compatible": 0.3196, "optimal": 0.2},
        "bound": 0.16,
        "aboveBound": 0.25,
    }

    assert told == {**passes_to_json(PASSES), "optimal": told["optimal"], "comparison": comparison}
    assert told["optimal"] == {
        "passes": passes_to_json(PASSES)["passes"],
        "end": {"nodes": 2, "pricePerHour": 0.2, "stable": True},
    }


def test_the_optimal_mode_alone_has_the_shape_of_a_plan_says_its_name_and_compares() -> None:
    told = compared_to_json(ONE_PASS, "optimal")

    assert told == {**to_json(ONE_PASS.optimal), "mode": "optimal", "comparison": told["comparison"]}
    assert isinstance(told["comparison"], dict)
    assert (told["comparison"]["bound"], told["comparison"]["aboveBound"]) == (0.0, None)
