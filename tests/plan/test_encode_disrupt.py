"""The JSON of a DisruptPlan is the contract that scripts rely on."""

from pathlib import Path

import msgspec

from baseload.plan.disrupt import KEPT_MEANING, DisruptPlan, Kept
from baseload.plan.encode_disrupt import passes_to_json, to_json
from tests.conftest import Golden
from tests.plan.disruptions import FULL, LOOPS, PASSES


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
        "loop": {"from": 1, "to": 2},
    }


def test_every_reason_has_a_meaning() -> None:
    assert set(KEPT_MEANING) == set(Kept)
