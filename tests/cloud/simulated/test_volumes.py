"""Volumes: in one zone, on at most one instance, free again when that has ended."""

from typing import Any

import pytest

from baseload.cloud.errors import Conflict, NotFound
from baseload.cloud.port import Volume
from tests.cloud.simulated.clouds import Run

TIMES: dict[str, Any] = {"volumes": {"attaching": "2s", "detaching": "3s"}, "boot": {"running": "5s"}}


@pytest.fixture
def run() -> Run:
    return Run(**TIMES, terminating="10s")


def volume(run: Run, id: str) -> Volume:
    (found,) = run.ask(run.cloud.volumes([id, "vol-other"]))
    return found


def made(run: Run, zone: str = "z1", token: str = "claim") -> str:
    return run.ask(run.cloud.create_volume(zone, 10, token=token, tags={"a": "b"})).id


def machine(run: Run) -> str:
    id = run.ask(run.cloud.launch(run.fleet("m5.large", zones=("z1",)))).instance.id
    run.until(run.seconds + 6)
    return id


def test_a_volume_is_attached_and_detached_in_its_time(run: Run) -> None:
    id, instance = made(run), machine(run)
    run.ask(run.cloud.attach_volume(id, instance))
    assert (volume(run, id).state, volume(run, id).instance) == ("attaching", instance)
    run.until(run.seconds + 2)
    run.ask(run.cloud.attach_volume(id, instance))
    assert volume(run, id).state == "in-use"
    run.ask(run.cloud.detach_volume(id))
    assert volume(run, id).state == "detaching"
    run.until(run.seconds + 3)
    run.ask(run.cloud.detach_volume(id))
    assert (volume(run, id).state, volume(run, id).instance) == ("available", "")
    run.ask(run.cloud.delete_volume(id))
    with pytest.raises(NotFound, match=f"The volume '{id}' does not exist"):
        run.ask(run.cloud.delete_volume(id))


def test_a_volume_that_is_detached_while_it_attaches_does_not_come_into_use() -> None:
    run = Run(volumes={"attaching": "10s", "detaching": "1s"}, boot={"running": "5s"})
    id, instance = made(run), machine(run)
    run.ask(run.cloud.attach_volume(id, instance))
    run.ask(run.cloud.detach_volume(id))
    run.until(run.seconds + 1)
    assert volume(run, id).state == "available"
    run.ask(run.cloud.attach_volume(id, instance))
    run.until(run.seconds + 9.5)
    assert volume(run, id).state == "attaching"
    run.until(run.seconds + 1)
    assert volume(run, id).state == "in-use"


def test_a_volume_in_use_can_neither_be_deleted_nor_attached_elsewhere(run: Run) -> None:
    id, instance, other = made(run), machine(run), machine(run)
    run.ask(run.cloud.attach_volume(id, instance))
    with pytest.raises(Conflict, match=f"Volume {id} is currently attached to {instance}") as caught:
        run.ask(run.cloud.delete_volume(id))
    assert caught.value.code == "VolumeInUse"
    with pytest.raises(Conflict, match=f"{id} is already attached to an instance"):
        run.ask(run.cloud.attach_volume(id, other))


def test_a_volume_attaches_in_its_own_zone_to_an_instance_that_runs(run: Run) -> None:
    far, instance = made(run, "z2"), machine(run)
    message = f"The volume '{far}' is not in the same availability zone as instance '{instance}'"
    with pytest.raises(Conflict, match=message) as caught:
        run.ask(run.cloud.attach_volume(far, instance))
    assert caught.value.code == "InvalidVolume.ZoneMismatch"
    run.ask(run.cloud.terminate(instance))
    with pytest.raises(Conflict, match=f"Instance '{instance}' is not 'running'"):
        run.ask(run.cloud.attach_volume(made(run, token="other"), instance))


def test_the_end_of_an_instance_frees_its_volumes(run: Run) -> None:
    id, instance = made(run), machine(run)
    run.ask(run.cloud.attach_volume(id, instance))
    run.until(run.seconds + 5)
    run.ask(run.cloud.terminate(instance))
    assert volume(run, id).state == "in-use"
    run.until(run.seconds + 10)
    assert (volume(run, id).state, volume(run, id).instance) == ("available", "")


def test_the_same_token_gives_the_same_volume(run: Run) -> None:
    assert made(run) == made(run) != made(run, token="other")
