"""The table of a provisioning plan tells a person what is launched, at what price, and why the rest cannot be."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from baseload.plan.provision import Demand, Fix, Nearest, Rejection, Unschedulable
from baseload.plan.reason import Reason
from baseload.report.provision import change, render, said
from tests.conftest import Golden
from tests.plan.plans import CLAIM, FAR, FULL, far, plan

HERE = Path(__file__).with_name("golden")


def test_the_table_is_the_one_on_record(golden: Golden) -> None:
    golden(HERE / "plan.txt", render(FULL))


def test_the_wide_table_is_the_one_on_record(golden: Golden) -> None:
    golden(HERE / "plan-wide.txt", render(FULL, wide=True))


def test_equal_nodes_are_one_line_with_a_count() -> None:
    claims = [
        replace(CLAIM, name=f"default-{n}", fill={"cpu": n / 1000, "pods": 0.1}, pods=(f"default/web-x{n}",))
        for n in range(100, 1000)
    ]
    text = render(plan(*claims))

    assert "900 x default  c5.2xlarge" in text
    assert "10-100 %" in text
    assert "default/web-x100 … default/web-x999 (900)" in text
    assert len(text.splitlines()) < 10


def test_nodes_of_another_price_have_a_line_of_their_own() -> None:
    text = render(plan(CLAIM, replace(CLAIM, name="default-2", zone="us-east-1b", price_per_hour=0.2, pods=())))

    assert [line.split()[0] for line in text.splitlines() if "c5.2xlarge" in line] == ["default-1", "default-2"]


def test_pods_that_fail_alike_are_told_once() -> None:
    text = render(plan(unschedulable=(FAR, *(far(n) for n in range(2, 2001)))))

    assert "default/far-1 … default/far-2000 (2000)" in text
    assert text.count("IncompatibleRequirements") == 1


def test_pods_of_many_workloads_that_fail_alike_are_told_once_too() -> None:
    failed = [
        Unschedulable(
            f"default/w{w}-x{n}", Reason.LIMITS, "nothing left", rejections=(Rejection("a", Reason.LIMITS, str(w)),)
        )
        for w in range(100)
        for n in range(1, 6)
    ]
    text = render(plan(unschedulable=tuple(failed)))

    assert text.count("LimitExceeded") == 1
    assert "default/w0-x1 … default/w0-x5 (5), default/w1-x1" in text
    assert "… and 94 more (-v lists all)" in text


def test_wide_names_every_rejection() -> None:
    assert "nodePool/default: IncompatibleRequirements: key zone" in render(FULL, wide=True)
    assert "key zone" not in render(FULL)


def test_a_pod_for_which_no_place_is_sought_gets_no_change_proposed() -> None:
    gated = Unschedulable("default/gated", Reason.GATED, "it is held by scheduling gates")

    assert "change" not in render(plan(unschedulable=(gated,)))


def test_a_pod_that_no_single_field_would_place_says_so() -> None:
    assert "no single field would place it" in render(plan(unschedulable=(replace(FAR, fix=None),)))


@given(
    st.text(st.characters(min_codepoint=32, max_codepoint=126))
    | st.sampled_from(["true", "No", "on", "null", "~", "", "12", "-1.5", "1e3", "0x1f", "2026-07-02"])
)
@example(".nan")
@example("1_000")
def test_a_value_to_type_in_is_read_by_yaml_as_the_same_value(value: str) -> None:
    wanted: dict[str, object] = {"key": "spot", "values": [value]}
    told = change(Fix("Deployment default/web", "spec.tolerations[0]", None, wanted))

    assert yaml.safe_load(told.partition(" to ")[2]) == wanted


def test_a_taint_is_told_as_kubectl_writes_it() -> None:
    path = "spec.template.spec.taints[0]"

    assert said(Demand("NodePool a", path, "spot", "NoSchedule", ("true",))) == "taint spot=true:NoSchedule"
    assert said(Demand("NodePool a", path, "spot", "NoExecute", ())) == "taint spot:NoExecute"


def test_a_bound_is_told_by_its_sign() -> None:
    assert said(Demand("NodePool a", "spec.limits.cpu", "cpu", "Lte", ("16",))) == "cpu <= 16"


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        ({"cpu": "2"}, "nodePool/a lacks cpu 2"),
        (
            {"spot": "toleration of spot:NoSchedule", "cpu": "2"},
            "nodePool/a lacks a toleration of spot:NoSchedule, cpu 2",
        ),
        ({"minValues": "minValues would not be met"}, "nodePool/a: minValues would not be met"),
        ({}, "nodePool/a"),
    ],
)
def test_the_nearest_target_is_told_with_what_it_lacks(lacking: dict[str, str], told: str) -> None:
    lines = render(plan(unschedulable=(replace(FAR, nearest=Nearest("nodePool/a", lacking)),))).splitlines()

    assert f"  nearest   {told}" in lines


def test_a_month_has_730_hours() -> None:
    assert "$73.00 a month" in render(plan(replace(CLAIM, price_per_hour=0.1, estimated=False)))


def test_an_estimate_is_marked_wherever_it_is_shown_and_explained() -> None:
    text = render(plan(CLAIM))

    assert "~$0.1496" in text
    assert "Total: ~$0.1496 an hour" in text
    assert "~ estimated price" in text
    assert "~ estimated price" in render(plan(replace(CLAIM, estimated=False)))
    assert "~" not in render(plan(replace(CLAIM, estimated=False, estimates=(False, False))))


def test_a_cluster_where_nothing_is_pending_says_so() -> None:
    assert render(plan()) == "No node is launched: no pod is pending.\n"


def test_a_change_names_the_object_the_field_and_both_values() -> None:
    assert change(Fix("NodePool a", "spec.limits.cpu", "4", "16")) == "NodePool a: spec.limits.cpu from 4 to 16"
    assert change(Fix("Pod a/b", "spec.tolerations", None, [{"operator": "Exists"}])) == (
        "Pod a/b: set spec.tolerations to [{operator: Exists}]"
    )
    assert change(Fix("Pod a/b", "spec.nodeSelector", {"a": "b"}, None)) == "Pod a/b: remove spec.nodeSelector: {a: b}"
    assert change(None) == "no single field would place it"
