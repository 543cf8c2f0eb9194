"""The addresses that services get: the lowest that is free, however they came, went and changed before."""

import random
from ipaddress import IPv4Network
from itertools import cycle
from typing import Any

import msgspec
import pytest

from baseload.embedded.api.admission.taken import Addresses
from baseload.embedded.store.errors import Invalid
from tests.embedded.actors.acting import Stage


def service(name: str, **spec: Any) -> dict[str, Any]:
    whole = {"selector": {"app": name}, "ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": whole}


def held(stage: Stage) -> dict[str, str]:
    """name -> cluster address"""
    records = stage.user.records("", "Service").values()
    return {one.name: one.body.field("spec.clusterIP") for one in records}


def lowest(taken: set[str]) -> str:
    """By looking at each."""
    return next(str(address) for address in IPv4Network("10.96.0.0/16").hosts() if str(address) not in taken)


@pytest.mark.parametrize("seed", range(3))
def test_a_service_gets_the_lowest_address_that_no_other_has(seed: int) -> None:
    stage, chance = Stage(), random.Random(seed)
    resource = stage.user.resource("", "Service")
    for turn in range(60):
        names = [name for name in held(stage) if name != "kubernetes"]
        chosen = names[chance.randrange(len(names))] if names else ""
        match chance.randrange(6):
            case 0 if chosen:
                stage.user.delete(stage.cluster.store.get(resource, "default", chosen))
            case 1 if chosen:
                free = "10.96.0.9" if "10.96.0.9" not in held(stage).values() else ""
                outside = {"type": "ExternalName", "externalName": "example.com"}
                stage.user.merge(stage.cluster.store.get(resource, "default", chosen), {"spec": outside})
                stage.create(service(f"given-{turn}", **({"clusterIP": free} if free else {})))
            case 2:
                stage.create(service(f"headless-{turn}", clusterIP="None"))
            case _:
                before = set(held(stage).values())
                made = stage.create(service(f"web-{turn}"))
                assert made.body.field("spec.clusterIP") == lowest(before)


def test_an_address_that_another_service_has_is_refused_until_that_is_gone() -> None:
    stage = Stage()
    first = stage.create(service("a", clusterIP="10.96.7.7"))
    with pytest.raises(Invalid, match="provided IP is already allocated"):
        stage.create(service("b", clusterIP="10.96.7.7"))
    stage.user.delete(first)
    assert stage.create(service("b", clusterIP="10.96.7.7")).body.field("spec.clusterIP") == "10.96.7.7"


def test_what_the_log_no_longer_tells_is_counted_anew() -> None:
    stage = Stage()
    table = stage.cluster.store.table(stage.user.resource("", "Service"))
    addresses = Addresses(IPv4Network("10.96.0.0/16"))
    addresses.look(table)
    assert addresses.free() == "10.96.0.2"
    made = stage.create(service("a"))
    statuses = cycle((b"{}", b'{"loadBalancer":{}}'))
    for _ in range(20_002):
        other = next(statuses)
        stage.cluster.store.tell(made, other, b"")
    addresses.look(table)
    assert addresses.free() == "10.96.0.3"
    assert msgspec.json.decode(b"{%b}" % made.body.raw)["spec"]["clusterIP"] == "10.96.0.2"
