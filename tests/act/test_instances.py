"""A claim's machine is launched once, whatever becomes of the answer, and ended until it is over."""

from typing import Any

import pytest

from baseload.act.instances import Instances
from baseload.act.offerings import Offerings
from baseload.cloud.errors import CloudUnreachable, InvalidLaunch
from baseload.decide.lifecycle.launch import Refused
from baseload.decide.lifecycle.progress import Machine
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.values.duration import MINUTE
from tests.cloud.simulated import clouds
from tests.decide.lifecycle.test_launch import asks, node_class


class Region(clouds.Run):
    """A region, and the machines of one cluster in it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.machines = Instances(self.cloud, Offerings(self.cloud, self.clock), "test")

    def node_class(self, *zones: str) -> EC2NodeClass:
        subnets = [{"id": clouds.subnet(self.cloud, zone), "zone": zone} for zone in zones or clouds.ZONES]
        return node_class(subnets=subnets)

    def launch(self, *zones: str) -> Machine:
        found = self.ask(self.machines.launch(asks(), self.node_class(*zones)))
        assert isinstance(found, Machine), found
        return found

    def count(self) -> int:
        return len(list(self.cloud.region.inventory))


def test_a_launch_whose_answer_was_lost_gives_the_same_machine_again() -> None:
    region = Region(faults=[{"call": "CreateFleet", "lost": True, "count": 1}])

    with pytest.raises(CloudUnreachable):
        region.launch()
    machine = region.launch()

    assert region.count() == 1
    assert machine.labels["karpenter.sh/capacity-type"] == "spot"


def test_a_launch_that_has_changed_since_finds_the_machine_of_the_first_one_by_its_tags() -> None:
    region = Region()

    first = region.launch("z1", "z2", "z3")

    assert region.launch("z3").provider_id == first.provider_id
    assert region.count() == 1


def test_such_a_machine_that_cannot_be_seen_yet_is_looked_for_again() -> None:
    region = Region(seenAfter="5s")
    first = region.launch()

    with pytest.raises(InvalidLaunch, match="cannot be seen yet"):
        region.launch("z1")
    region.until(6)
    assert region.launch("z1").provider_id == first.provider_id


def test_a_machine_that_cannot_be_seen_yet_is_ended_all_the_same() -> None:
    region = Region(seenAfter="1m")
    machine = region.launch()

    assert region.ask(region.machines.end(machine.provider_id)) is False
    assert not any(it.is_living for it in region.cloud.region.inventory)


def test_an_end_is_asked_for_once_and_waited_for() -> None:
    region = Region()
    machine = region.launch()

    answers = [region.ask(region.machines.end(machine.provider_id)) for _ in range(3)]
    region.until(120)

    assert answers == [False, False, False]
    assert region.cloud.calls["TerminateInstances"] == 1
    assert region.ask(region.machines.end(machine.provider_id)) is True
    assert region.ask(region.machines.end("aws:///z1/i-unknown")) is True


def test_a_machine_that_shuts_down_is_still_there() -> None:
    region = Region(terminating="40s")
    machine = region.launch()
    region.until(20)
    assert not region.ask(region.machines.is_gone(machine.provider_id))
    region.cloud.region.terminate(machine.provider_id.rpartition("/")[2])
    assert not region.ask(region.machines.is_gone(machine.provider_id))
    region.until(90)
    assert region.ask(region.machines.is_gone(machine.provider_id))


def test_a_zone_whose_subnets_are_full_is_asked_again_after_three_minutes() -> None:
    region = Region(subnets=[{"id": "full", "zone": "z1", "addresses": 1}], addressesAnInstance=2)
    offered = node_class(subnets=[{"id": "full", "zone": "z1"}])

    def said() -> str:
        found = region.ask(region.machines.launch(asks(), offered))
        assert isinstance(found, Refused)
        return found.message

    assert "InsufficientFreeAddressesInSubnet" in said()
    assert said() == "all requested instance types were unavailable during launch"
    region.clock.run(region.clock.now() + 3 * MINUTE)
    assert "InsufficientFreeAddressesInSubnet" in said()
