"""Claims without an instance and instances without a claim (spec 24.2, 27.1)."""

import pytest

from baseload.decide.lifecycle.garbage import Held, claims_without_instance, instances_without_claim
from tests.decide.lifecycle.builders import at, claim, condition, node, text

REGISTERED = condition("Registered", "True")


def instance(number: int = 1, *, launched: float = 0, uid: str = "", is_ending: bool = False) -> Held:
    return Held(f"i-{number}", f"aws:///z1/i-{number}", at(launched), uid, is_ending)


@pytest.mark.parametrize(
    ("held", "nodes", "instances", "goes"),
    [
        (claim(REGISTERED), [], [], True),
        (claim(REGISTERED), [], [instance(is_ending=True)], True),
        (claim(REGISTERED), [node(ready="False")], [], True),
        (claim(REGISTERED), [node(ready="True")], [], False),
        (claim(REGISTERED), [], [instance()], False),
        (claim(condition("Registered", "Unknown")), [], [], False),
        (claim(REGISTERED, deletionTimestamp=text(0)), [], [], False),
    ],
)
def test_a_registered_claim_goes_with_its_instance_unless_its_node_is_ready(
    held: object, nodes: list[object], instances: list[Held], goes: bool
) -> None:
    found = claims_without_instance([held], {"aws:///z1/i-1": nodes}, instances)  # type: ignore[list-item, dict-item]

    assert bool(found) is goes


@pytest.mark.parametrize(
    ("held", "now", "goes"),
    [
        (instance(2), 31, True),
        (instance(2), 30, False),
        (instance(2, is_ending=True), 31, False),
        (instance(1), 31, False),
        (instance(2, uid="uid-launching"), 31, False),
        (instance(2, uid="uid-1"), 31, True),
        (instance(2, uid="uid-gone"), 31, True),
    ],
)
def test_an_instance_that_no_claim_names_goes_after_30_seconds(held: Held, now: float, goes: bool) -> None:
    claims = [claim(), claim(uid="uid-launching", status={"providerID": ""})]

    assert bool(instances_without_claim([held], claims, at(now))) is goes
