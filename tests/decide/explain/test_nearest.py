"""The target that comes closest, and what it lacks."""

from tests.decide.explain.telling import told
from tests.reference.algebra import INSTANCE_TYPE, ZONE
from tests.reference.building import instance_type, node, pod, pool
from tests.reference.drawing import expression

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}


def nearest(*objects: object, **more: object) -> tuple[str, dict[str, str]]:
    found = told(*objects, **more).only.nearest  # type: ignore[arg-type]
    assert found is not None
    return found.target, found.lacking


def test_fewer_criteria_missed_come_closer_than_more() -> None:
    far = pool("b-far", expression(ZONE, "In", "zone-1"), taints=[TAINT])
    near = pool("a-near", expression(ZONE, "In", "zone-1"))
    assert nearest(far, near, pod("a", nodeSelector={ZONE: "zone-2"})) == ("nodePool/a-near", {ZONE: "zone-2"})


def test_of_two_that_lack_one_resource_the_smaller_share_comes_closer() -> None:
    small = pool("b-small", expression(INSTANCE_TYPE, "In", "step-2"))
    large = pool("a-large", expression(INSTANCE_TYPE, "In", "step-8"))
    assert nearest(small, large, pod("a", "9")) == ("nodePool/a-large", {"cpu": "1"})


def test_an_existing_node_may_come_closest() -> None:
    small = pool("default", expression(INSTANCE_TYPE, "In", "step-2"))
    assert nearest(small, node("n-1", "4"), pod("a", "4500m")) == ("node/n-1", {"cpu": "500m"})


def test_what_the_plan_puts_on_a_node_counts() -> None:
    small = pool("default", expression(INSTANCE_TYPE, "In", "step-1"))
    objects = [small, node("n-1", "4"), pod("first", "4"), pod("second", "3")]
    assert nearest(*objects) == ("nodePool/default", {"cpu": "2"})


def test_a_soft_taint_of_a_pool_is_not_lacking() -> None:
    soft = pool("default", expression(ZONE, "In", "zone-1"), taints=[{"key": "s", "effect": "PreferNoSchedule"}])
    assert nearest(soft, pod("a", nodeSelector={ZONE: "zone-2"})) == ("nodePool/default", {ZONE: "zone-2"})


def test_a_limit_lacks_what_the_smallest_fitting_type_exceeds_it_by() -> None:
    catalog = [instance_type("four", 4), instance_type("eight", 8)]
    objects = [pool(limits={"cpu": "9"}), pod("a", "8"), pod("b", "3")]
    target, lacking = nearest(*objects, catalog=catalog)
    assert (target, lacking) == ("nodePool/default", {"limits.cpu": "3"})


def test_a_planned_node_may_come_closest() -> None:
    catalog = [instance_type("eight", 8)]
    objects = [pool(limits={"cpu": "8"}), pod("a", "7"), pod("b", "1100m", labels={})]
    assert nearest(*objects, catalog=catalog) == ("nodeClaim/default-1", {"cpu": "100m"})
