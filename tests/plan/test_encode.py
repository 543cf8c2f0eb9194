"""The JSON of a ProvisionPlan is the contract that scripts rely on."""

from dataclasses import replace
from pathlib import Path

import msgspec

from baseload.plan.encode import price, to_json
from baseload.plan.provision import Fix, ProvisionPlan
from tests.conftest import Golden
from tests.plan.plans import CLAIM, FAR, FULL, plan


def totals(plan: ProvisionPlan) -> object:
    return to_json(plan)["totals"]


def entries(plan: ProvisionPlan, name: str) -> list[dict[str, object]]:
    """One list of the plan's JSON, as a reader of the text gets it."""
    return msgspec.json.decode(msgspec.json.encode(to_json(plan)[name]), type=list[dict[str, object]])


def test_the_json_of_a_plan_is_the_contract_on_record(golden: Golden) -> None:
    text = msgspec.json.format(msgspec.json.encode(to_json(FULL)), indent=2).decode()

    golden(Path(__file__).with_name("golden") / "plan.json", text + "\n")


def test_prices_carry_no_noise_of_floating_point() -> None:
    assert price(0.1 + 0.2) == 0.3
    three = plan(*(replace(CLAIM, name=f"default-{n}", price_per_hour=0.1) for n in range(3)))
    assert totals(three) == {"pods": 15, "placed": 15, "newNodes": 3, "pricePerHour": 0.3}


def test_only_an_estimated_price_is_called_so() -> None:
    claims = entries(plan(CLAIM, replace(CLAIM, name="default-2", estimated=False, pods=())), "nodeClaims")

    assert [claim.get("estimated") for claim in claims] == [True, None]
    assert "estimated" not in claims[1]


def test_a_range_is_written_as_two_requirements() -> None:
    narrowed = CLAIM.requirements[1].intersect(CLAIM.requirements[1].of(CLAIM.requirements[1].key, "Lt", ["33"]))
    (claim,) = entries(plan(replace(CLAIM, requirements=(narrowed,))), "nodeClaims")

    assert claim["requirements"] == [
        {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gte", "values": ["8"]},
        {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Lte", "values": ["32"]},
    ]


def test_a_fix_of_an_absent_field_is_from_null() -> None:
    fixed = replace(FAR, fix=Fix("NodePool default", "spec.limits", None, {"cpu": "8"}))
    (failed,) = entries(plan(unschedulable=(fixed,)), "unschedulable")

    assert failed["fix"] == {"object": "NodePool default", "path": "spec.limits", "from": None, "to": {"cpu": "8"}}


def test_the_runner_up_is_the_next_type_in_price() -> None:
    (claim,) = entries(plan(CLAIM), "nodeClaims")
    one_type = replace(CLAIM, instance_types=("c5.2xlarge",), prices=(0.1496,), estimates=(True,))
    (alone,) = entries(plan(one_type), "nodeClaims")

    assert claim["runnerUp"] == {"instanceType": "m5.2xlarge", "pricePerHour": 0.1766, "estimated": True}
    assert alone["runnerUp"] is None
