"""Choosing among instance types."""

import pytest

from baseload.catalog import listing, where
from baseload.catalog.listing import Listed, Order
from baseload.values.errors import BadInput
from tests.catalog.ec2_catalogue import types_of

INSTANCE = "karpenter.k8s.aws/instance-"


def select(*texts: str, region: str = "us-east-1") -> list[Listed]:
    types = types_of(region)
    return listing.select(types, where.parse(texts, types.labels.keys()))


def names(*texts: str, order: Order = "price") -> list[str]:
    return [type_.name for type_ in listing.ordered(select(*texts), order)]


def test_a_type_is_chosen_when_its_labels_meet_every_requirement() -> None:
    found = names(f"{INSTANCE}family in (t4g,r6g)", f"{INSTANCE}memory=8192")
    assert found == ["r6g.medium", "t4g.large"]


def test_a_label_that_a_type_lacks_meets_only_what_asks_for_its_absence() -> None:
    family = f"{INSTANCE}family in (m5,m5d)"
    assert {name.partition(".")[0] for name in names(family, f"{INSTANCE}local-nvme")} == {"m5d"}
    assert {name.partition(".")[0] for name in names(family, f"!{INSTANCE}local-nvme")} == {"m5"}
    assert {name.partition(".")[0] for name in names(family, f"{INSTANCE}local-nvme notin (75)")} == {"m5", "m5d"}


def test_zone_and_capacity_type_narrow_the_offers() -> None:
    (type_,) = select("node.kubernetes.io/instance-type=m5.large", "topology.kubernetes.io/zone=us-east-1b")
    assert [(offer.zone, offer.capacity_type) for offer in type_.offers] == [
        ("us-east-1b", "on-demand"),
        ("us-east-1b", "spot"),
    ]
    assert select("node.kubernetes.io/instance-type=m5.large", "topology.kubernetes.io/zone=us-east-1e") == []


def test_a_type_without_a_price_is_chosen_and_comes_last() -> None:
    found = names(f"{INSTANCE}family in (r9g,r6g)", f"{INSTANCE}size in (medium,large)")
    assert found == ["r6g.medium", "r6g.large", "r9g.medium", "r9g.large"]


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("price", ["r6g.medium", "t4g.large", "m5.large", "r6g.large"]),
        ("per-vcpu", ["t4g.large", "m5.large", "r6g.medium", "r6g.large"]),
        ("per-gib", ["r6g.medium", "r6g.large", "t4g.large", "m5.large"]),
        ("name", ["m5.large", "r6g.medium", "r6g.large", "t4g.large"]),
    ],
)
def test_orders(order: Order, first: list[str]) -> None:
    assert names("node.kubernetes.io/instance-type in (t4g.large,r6g.medium,r6g.large,m5.large)", order=order) == first


def test_the_price_compared_is_the_on_demand_one_else_spot() -> None:
    (type_,) = select("node.kubernetes.io/instance-type=m5.large")
    assert type_.compared is not None
    assert type_.compared.capacity_type == "on-demand"
    (type_,) = select("node.kubernetes.io/instance-type=m5.large", "karpenter.sh/capacity-type=spot")
    assert type_.compared is not None
    assert (type_.compared.capacity_type, type_.compared.estimated) == ("spot", True)


def test_types_are_found_by_name_in_the_order_asked_for() -> None:
    assert [type_.name for type_ in listing.find(types_of(), ["m5.large", "c5.large", "m5.large"])] == [
        "m5.large",
        "c5.large",
    ]


def test_every_name_that_is_not_offered_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput) as raised:
        listing.find(types_of(), ["m5.lage", "c5.large", "r6g.mediun"])
    assert [fault.allowed for fault in raised.value.faults] == [
        "nearest: m5.large, m5n.large, m5d.large",
        "nearest: r6g.medium, r6gd.medium, r9g.medium",
    ]
