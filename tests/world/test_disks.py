"""How many disks a machine takes, where its name says it."""

import pytest

from baseload.timeline.virtual import VirtualClock
from baseload.world.disks import CloudDisks
from tests.cloud.simulated import clouds


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("m5.large", 26),
        ("c6g.xlarge", 26),
        ("t3.small", 26),
        ("m4.large", 38),
        ("r4.large", 38),
        ("m5d.large", None),  # its local disks take slots, too
        ("m7i.large", None),  # from here on each size has a limit of its own
        ("g4dn.xlarge", None),
        ("default-instance-type", None),
        ("", None),
    ],
)
def test_a_machine_takes_as_many_disks_as_its_driver_says(name: str, most: int | None) -> None:
    clock = VirtualClock(clouds.START)
    assert CloudDisks(clouds.cloud(clock), clock).most(name) == most
