"""A launch takes the best pool that has a machine, and says of those before it why they had none."""

from dataclasses import replace

import pytest

from baseload.cloud.errors import InsufficientCapacity, InvalidLaunch, QuotaExceeded, TokenReused
from baseload.cloud.port import Fleet, Overrides
from baseload.cloud.simulated.settings import CapacityRule, Where
from baseload.kube.types.ec2 import AMISelectorTerm
from baseload.values.instant import SECOND
from tests.cloud.simulated.clouds import Run, subnet


def test_on_demand_takes_the_cheapest_pool_and_the_first_zone_of_equals() -> None:
    run = Run()
    instance = run.ask(run.cloud.launch(run.fleet("m5.large", "c5.large", "r5.large"))).instance

    assert (instance.instance_type, instance.zone, instance.capacity_type) == ("c5.large", "z1", "on-demand")
    assert (instance.state, instance.architecture, instance.tags) == ("pending", "amd64", {"cluster": "test"})
    assert instance.provider_id == f"aws:///z1/{instance.id}"
    assert instance.private_dns == "ip-10-0-0-4.ec2.internal"


def test_a_stockout_falls_through_to_the_next_pool_and_is_named() -> None:
    run = Run(capacity=[{"instances": 0, "types": ["c5.*"]}])
    launched = run.ask(run.cloud.launch(run.fleet("m5.large", "c5.large")))

    assert launched.instance.instance_type == "m5.large"
    assert [refusal.offering for refusal in launched.refusals] == [
        ("c5.large", z, "on-demand") for z in ("z1", "z2", "z3")
    ]
    assert launched.refusals[0].code == "InsufficientInstanceCapacity"
    assert launched.refusals[0].message == (
        "We currently do not have sufficient c5.large capacity in the Availability Zone you requested (z1). "
        "Our system will be working on provisioning additional capacity."
    )


def test_where_no_pool_has_a_machine_the_error_names_every_one() -> None:
    run = Run(capacity=[{"instances": 0, "capacityTypes": ["spot"]}])
    with pytest.raises(InsufficientCapacity, match="no pool has a machine: InsufficientInstanceCapacity") as caught:
        run.ask(run.cloud.launch(run.fleet("m5.large", "c5.large", kind="spot", zones=("z1", "z2"))))

    assert {refusal.offering for refusal in caught.value.refusals} == {
        (name, zone, "spot") for name in ("m5.large", "c5.large") for zone in ("z1", "z2")
    }
    assert caught.value.refusals[0].message == "There is no Spot capacity available that matches your request."


def test_a_pool_holds_as_many_as_its_rule_says_and_more_when_one_has_ended() -> None:
    run = Run(capacity=[{"instances": 2, "types": ["m5.large"], "zones": ["z1"]}], terminating="30s")
    request = run.fleet("m5.large", zones=("z1",))
    first = run.ask(run.cloud.launch(request)).instance
    run.ask(run.cloud.launch(request))
    run.until(60)
    with pytest.raises(InsufficientCapacity):
        run.ask(run.cloud.launch(request))

    run.ask(run.cloud.terminate(first.id))
    with pytest.raises(InsufficientCapacity):
        run.ask(run.cloud.launch(request))
    run.until(120)
    assert run.ask(run.cloud.launch(request)).instance.zone == "z1"


def test_of_several_rules_for_a_pool_the_last_counts() -> None:
    run = Run(capacity=[{"instances": 0}, {"instances": 5, "zones": ["z2"]}, {"instances": 0, "types": ["m6g.*"]}])
    launched = run.ask(run.cloud.launch(run.fleet("m6g.large", "m5.large")))
    assert (launched.instance.instance_type, launched.instance.zone) == ("m5.large", "z2")


def test_a_stockout_ends_with_its_window_and_what_ends_meanwhile_makes_no_room() -> None:
    run = Run(capacity=[{"instances": 0, "from": "1m", "until": "10m"}], terminating="1s")
    request = run.fleet("m5.large", zones=("z1",))
    first = run.ask(run.cloud.launch(request)).instance
    run.until(70)
    run.ask(run.cloud.terminate(first.id))
    run.until(300)
    with pytest.raises(InsufficientCapacity):
        run.ask(run.cloud.launch(request))
    run.until(600)
    assert run.ask(run.cloud.launch(request)).instance.zone == "z1"


def test_spot_prefers_pools_with_room_to_cheaper_ones_that_are_nearly_empty() -> None:
    run = Run(capacity=[{"instances": 3, "types": ["m5.large"]}])
    request = run.fleet("m5.large", "c5.large", kind="spot")  # 0.04 and 0.045 dollars

    assert run.ask(run.cloud.launch(request)).instance.instance_type == "c5.large"


def test_prioritized_launches_go_by_priority_before_price() -> None:
    run = Run()
    group = Overrides(subnet(run.cloud, "z1"), "ami-any", ("c5.large", "m5.large", "r5.large"), (3, 2, 2))
    prioritized = run.ask(run.cloud.launch(Fleet("", "on-demand", "prioritized", (group,)))).instance
    optimized = run.ask(run.cloud.launch(Fleet("", "spot", "capacity-optimized-prioritized", (group,)))).instance

    assert (prioritized.instance_type, optimized.instance_type) == ("m5.large", "r5.large")


def test_a_type_that_the_zone_does_not_sell_is_refused_as_unsupported() -> None:
    run = Run()
    with pytest.raises(InsufficientCapacity) as caught:
        run.ask(run.cloud.launch(run.fleet("p3.2xlarge", zones=("z3",))))

    assert [(refusal.code, refusal.message) for refusal in caught.value.refusals] == [
        (
            "Unsupported",
            "Your requested instance type (p3.2xlarge) is not supported in your requested Availability Zone (z3). "
            "Please retry your request by not specifying an Availability Zone or choosing z1, z2.",
        )
    ]


def test_a_subnet_without_addresses_refuses_and_the_next_one_serves() -> None:
    run = Run(
        subnets=[
            {"id": "subnet-a", "zone": "z1", "addresses": 1},
            {"id": "subnet-b", "zone": "z2", "addresses": 5},
            {"id": "subnet-c", "zone": "z3"},
        ]
    )
    request = run.fleet("m5.large", zones=("z1", "z2"))
    assert run.ask(run.cloud.launch(request)).instance.subnet == "subnet-a"
    launched = run.ask(run.cloud.launch(request))

    assert launched.instance.subnet == "subnet-b"
    assert [(refusal.code, refusal.message) for refusal in launched.refusals] == [
        (
            "InsufficientFreeAddressesInSubnet",
            "There are not enough free addresses in subnet 'subnet-a' to satisfy the requested number of instances.",
        )
    ]


def test_vcpus_beyond_the_quota_are_refused_by_class_and_capacity_type() -> None:
    run = Run(quotas={"on-demand": {"standard": 3, "p": 64}, "spot": {"standard": 0}})
    run.ask(run.cloud.launch(run.fleet("m5.large")))
    with pytest.raises(QuotaExceeded) as caught:
        run.ask(run.cloud.launch(run.fleet("m5.large", zones=("z1",))))
    with pytest.raises(QuotaExceeded) as on_spot:
        run.ask(run.cloud.launch(run.fleet("m5.large", zones=("z1",), kind="spot")))

    assert [(refusal.code, refusal.message) for refusal in caught.value.refusals] == [
        (
            "VcpuLimitExceeded",
            "You have requested more vCPU capacity than your current vCPU limit of 3 allows for the instance bucket "
            "that the specified instance type belongs to.",
        )
    ]
    assert on_spot.value.refusals[0].code == "MaxSpotInstanceCountExceeded"
    assert run.ask(run.cloud.launch(run.fleet("p3.2xlarge"))).instance.instance_type == "p3.2xlarge"


def test_an_instance_that_begins_to_end_frees_its_vcpus_at_once() -> None:
    run = Run(quotas={"on-demand": {"standard": 2}})
    first = run.ask(run.cloud.launch(run.fleet("m5.large"))).instance
    run.ask(run.cloud.terminate(first.id))

    assert run.ask(run.cloud.launch(run.fleet("m5.large"))).instance.id != first.id


def test_a_type_of_another_architecture_than_the_image_makes_the_launch_invalid() -> None:
    run = Run()
    (image,) = (
        image
        for image in run.ask(run.cloud.images([AMISelectorTerm(alias="al2023@latest")]))
        if (image.architecture, image.variant) == ("amd64", "standard")
    )
    request = run.fleet("m6g.large", "m5.large", image=image.id)
    launched = run.ask(run.cloud.launch(request))
    with pytest.raises(InvalidLaunch) as caught:
        run.ask(run.cloud.launch(run.fleet("m6g.large", image=image.id)))

    assert launched.instance.instance_type == "m5.large"
    assert str(caught.value) == (
        "The architecture 'arm64' of the specified instance type does not match the architecture "
        f"'amd64' of the specified AMI '{image.id}'."
    )
    assert caught.value.code == "InvalidParameterValue"


@pytest.mark.parametrize(
    ("overrides", "code", "message"),
    [
        ((), "MissingParameter", "The request names no pool."),
        (
            (Overrides("subnet-x", "a", ("m5.large",)),),
            "InvalidSubnetID.NotFound",
            "The subnet ID 'subnet-x' does not exist",
        ),
    ],
)
def test_a_launch_that_could_never_be_done_is_invalid(
    overrides: tuple[Overrides, ...], code: str, message: str
) -> None:
    run = Run()
    with pytest.raises(InvalidLaunch, match=message) as caught:
        run.ask(run.cloud.launch(Fleet("", "on-demand", "lowest-price", overrides)))
    assert caught.value.code == code


def test_an_unknown_type_makes_a_launch_invalid_that_has_no_other() -> None:
    run = Run()
    with pytest.raises(InvalidLaunch, match=r"The instance type 'm99\.large' does not exist"):
        run.ask(run.cloud.launch(run.fleet("m99.large")))


def test_the_same_token_gives_the_same_instance_also_when_the_answer_was_lost() -> None:
    run = Run(faults=[{"call": "CreateFleet", "lost": True, "count": 1}])
    request = run.fleet("m5.large", token="claim-1")
    with pytest.raises(Exception, match="CreateFleet: no answer"):
        run.ask(run.cloud.launch(request))
    again = run.ask(run.cloud.launch(request)).instance
    once_more = run.ask(run.cloud.launch(run.fleet("m5.large", token="claim-1"))).instance

    assert again.id == once_more.id
    assert [instance.id for instance in run.ask(run.cloud.instances({}))] == [again.id]


def test_a_token_of_another_launch_is_refused() -> None:
    run = Run()
    request = run.fleet("m5.large", token="claim-1")
    run.ask(run.cloud.launch(request))
    others = [
        run.fleet("c5.large", token="claim-1"),
        run.fleet("m5.large", token="claim-1", zones=("z1",)),
        run.fleet("m5.large", token="claim-1", image="ami-other"),
        run.fleet("m5.large", token="claim-1", kind="spot"),
        replace(request, tags={"cluster": "other"}),
        replace(request, user_data="#!/bin/sh"),
    ]
    for other in others:
        with pytest.raises(TokenReused, match="Arguments on this idempotent request are inconsistent") as caught:
            run.ask(run.cloud.launch(other))
        assert caught.value.code == "IdempotentParameterMismatch"


def test_a_launch_that_failed_is_not_remembered_by_its_token() -> None:
    run = Run(capacity=[{"instances": 0, "until": "1m"}])
    request = run.fleet("m5.large", token="claim-1")
    with pytest.raises(InsufficientCapacity):
        run.ask(run.cloud.launch(request))
    run.until(61)
    assert run.ask(run.cloud.launch(request)).instance.launched >= run.cloud.region.start + 60 * SECOND


def test_a_token_is_forgotten_after_a_day() -> None:
    run = Run()
    request = run.fleet("m5.large", token="claim-1")
    first = run.ask(run.cloud.launch(request)).instance
    run.until(24 * 3600 + 1)
    assert run.ask(run.cloud.launch(request)).instance.id != first.id


def test_what_is_done_to_capacity_during_a_run_counts_and_can_be_lifted() -> None:
    run = Run()
    capacity = run.cloud.region.capacity
    stockout = capacity.restrict(CapacityRule(0, 0, Where(zones=("z1",))))
    assert run.ask(run.cloud.launch(run.fleet("m5.large"))).instance.zone == "z2"
    capacity.lift(stockout)
    assert run.ask(run.cloud.launch(run.fleet("m5.large"))).instance.zone == "z1"
