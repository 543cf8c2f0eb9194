"""Why a claim is no longer what would be made now (disruption and lifecycle spec 4.1, 4.2, 27.3)."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.kwok import read
from baseload.decide.lifecycle import class_hash, conditions, pools
from baseload.decide.lifecycle.changed import claim_with
from baseload.decide.lifecycle.drift import Known, Placed, Verdicts
from baseload.decide.provision import pool_hash
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodePool
from tests.decide.lifecycle.builders import at, claim, condition

HOUR = 3600.0
LABELS = {
    "karpenter.sh/nodepool": "default",
    "karpenter.sh/capacity-type": "on-demand",
    "node.kubernetes.io/instance-type": "small",
    "topology.kubernetes.io/zone": "zone-1",
}
LAUNCHED = condition("Launched", "True")


def pool(*requirements: Any, annotations: Any = None, **template: Any) -> NodePool:
    spec = {"template": {"spec": {"requirements": list(requirements), **template}}}
    return msgspec.convert({"metadata": {"name": "default", "annotations": annotations or {}}, "spec": spec}, NodePool)


def node_class(status: Any = None, annotations: Any = None, **spec: Any) -> EC2NodeClass:
    found = {
        "subnets": [{"id": "subnet-1", "zone": "zone-1"}],
        "securityGroups": [{"id": "sg-1"}, {"id": "sg-2"}],
        **(status or {}),
    }
    tree = {"metadata": {"name": "default", "annotations": annotations or {}}, "spec": spec, "status": found}
    return msgspec.convert(tree, EC2NodeClass)


def types(*names: str, zone: str = "zone-1", available: bool = True) -> InstanceTypes:
    def requirement(key: str, value: str) -> Any:
        return {"key": key, "operator": "In", "values": [value]}

    offering = {
        "Price": 0.1,
        "Available": available,
        "Requirements": [
            requirement("karpenter.sh/capacity-type", "on-demand"),
            requirement("topology.kubernetes.io/zone", zone),
        ],
    }
    listed = [
        {
            "name": name,
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "resources": {"cpu": "2", "memory": "4Gi", "pods": "110"},
            "offerings": [offering],
        }
        for name in names
    ]
    return read(msgspec.json.encode(listed), "types.json")


def of(labels: Any = None, annotations: Any = None, image: str = "") -> NodeClaim:
    held = LABELS if labels is None else labels
    return claim(LAUNCHED, labels=held, annotations=annotations or {}, status={"imageID": image})


def reason(of: NodeClaim, pool: NodePool, known: Known | None = None, now: float = 0) -> str | None:
    return Verdicts().reason(of, pool, known or Known(), at(now))


def needs(key: str, operator: str, *values: str) -> Any:
    return {"key": key, "operator": operator, "values": list(values)}


def hashes(value: str, version: str = "v3") -> dict[str, str]:
    return {pool_hash.HASH: value, pool_hash.VERSION: version}


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (hashes("new"), hashes("old"), "NodePoolDrifted"),
        (hashes("same"), hashes("same"), None),
        (hashes("new"), hashes("old", "v2"), None),  # two versions cannot be compared
        ({}, hashes("old"), None),
        (hashes("new"), {}, None),
        ({pool_hash.HASH: "new"}, hashes("old"), None),
    ],
)
def test_a_template_that_says_something_else_is_seen_by_its_hash_in_one_version(
    ours: dict[str, str], theirs: dict[str, str], expected: str | None
) -> None:
    assert reason(of(annotations=theirs), pool(annotations=ours)) == expected


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (needs("karpenter.sh/capacity-type", "In", "spot", "on-demand"), None),  # widened
        (needs("karpenter.sh/capacity-type", "In", "spot"), "RequirementsDrifted"),
        (needs("example.com/rack", "In", "r1"), "RequirementsDrifted"),
        (needs("example.com/rack", "Exists"), "RequirementsDrifted"),
        (needs("example.com/rack", "Gt", "1"), "RequirementsDrifted"),
        (needs("example.com/rack", "NotIn", "r1"), None),
        (needs("example.com/rack", "DoesNotExist"), None),
        (needs("karpenter.sh/nodepool", "DoesNotExist"), "RequirementsDrifted"),
    ],
)
def test_a_claim_whose_labels_do_not_meet_the_requirements_of_its_pool_has_drifted(
    requirement: Any, expected: str | None
) -> None:
    assert reason(of(), pool(requirement)) == expected


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (types("small"), None),
        (types("small", available=False), None),
        (types("large"), "InstanceTypeNotFound"),
        (types("small", zone="zone-2"), "InstanceTypeNotFound"),
    ],
)
def test_a_type_that_is_not_to_be_had_any_more_counts_once_the_claim_is_older_than_an_hour(
    offered: InstanceTypes, expected: str | None
) -> None:
    known = Known(types=offered)

    assert reason(of(), pool(), known, now=HOUR) is None
    assert reason(of(), pool(), known, now=HOUR + 1) == expected


def test_a_type_that_was_found_is_not_looked_for_again_for_half_an_hour_and_one_that_is_missing_at_every_look() -> None:
    verdicts = Verdicts()
    there, gone = Known(types=types("small")), Known(types=types("large"))

    def look(known: Known, now: float) -> str | None:
        return verdicts.reason(of(), pool(), known, at(now))

    assert look(there, 2 * HOUR) is None
    assert look(gone, 2 * HOUR + 1799) is None
    assert look(gone, 2 * HOUR + 1800) == "InstanceTypeNotFound"
    assert look(there, 2 * HOUR + 1801) is None


def test_reserved_capacity_that_became_on_demand_is_found_all_the_same() -> None:
    reserved = {
        **LABELS,
        "karpenter.sh/capacity-type": "reserved",
        "karpenter.k8s.aws/capacity-reservation-id": "cr-1",
    }

    assert reason(of(labels=reserved), pool(), Known(types=types("small")), now=2 * HOUR) is None


IMAGES = {"small": "ami-1"}
MACHINE = Placed("subnet-1", frozenset({"sg-1", "sg-2"}))
KNOWN = Known(node_class=node_class(), images=IMAGES, machine=MACHINE)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (KNOWN, None),
        (replace(KNOWN, images={"small": "ami-2"}), "AMIDrift"),
        (replace(KNOWN, machine=Placed("subnet-1", frozenset({"sg-1"}))), "SecurityGroupDrift"),
        (replace(KNOWN, machine=Placed("subnet-9", MACHINE.security_groups)), "SubnetDrift"),
        (replace(KNOWN, images={"small": "ami-2"}, machine=Placed("subnet-9", frozenset())), "AMIDrift"),
        (replace(KNOWN, images={}, machine=Placed("subnet-9", frozenset())), None),  # no image, no verdict
        (replace(KNOWN, images={"small": "ami-2"}, node_class=node_class({"subnets": []})), None),
        (replace(KNOWN, images={"small": "ami-2"}, machine=None), "AMIDrift"),
        (replace(KNOWN, machine=None), None),
        (Known(), None),
    ],
)
def test_a_node_class_that_would_launch_otherwise_is_named_by_the_first_difference(
    known: Known, expected: str | None
) -> None:
    assert reason(of(image="ami-1"), pool(), known) == expected


def test_a_reservation_that_the_node_class_has_no_longer_is_drift() -> None:
    held = of(labels={**LABELS, "karpenter.k8s.aws/capacity-reservation-id": "cr-1"}, image="ami-1")
    there = node_class({"capacityReservations": [{"id": "cr-1"}]})

    assert reason(held, pool(), KNOWN) == "CapacityReservationDrift"
    assert reason(held, pool(), replace(KNOWN, node_class=there)) is None


def test_a_node_class_that_is_being_deleted_causes_no_drift() -> None:
    doomed = msgspec.structs.replace(
        node_class(), metadata=msgspec.structs.replace(node_class().metadata, deletion_timestamp="2026-11-30T12:00:00Z")
    )

    assert reason(of(image="ami-0"), pool(), replace(KNOWN, node_class=doomed)) is None


def marked(value: str, version: str = class_hash.CURRENT) -> dict[str, str]:
    return {class_hash.HASH: value, class_hash.VERSION: version}


def test_a_node_class_that_says_something_else_is_seen_by_its_hash_before_anything_is_looked_up() -> None:
    new = replace(KNOWN, node_class=node_class(annotations=marked("new")), images={})

    assert reason(of(annotations=marked("old")), pool(), new) == "NodeClassDrift"
    assert reason(of(annotations=marked("new")), pool(), new) is None
    assert reason(of(annotations=marked("old", "v5")), pool(), new) is None


@pytest.mark.parametrize(
    ("spec", "is_other"),
    [
        ({"subnetSelectorTerms": [{"id": "subnet-1"}]}, False),
        ({"securityGroupSelectorTerms": [{"id": "sg-1"}]}, False),
        ({"amiSelectorTerms": [{"alias": "al2023@v2"}]}, False),
        ({"amiSelectorTerms": [{"alias": "bottlerocket@latest"}]}, True),
        ({"amiFamily": "AL2023"}, False),  # what the alias says already
        ({"userData": "echo"}, True),
        ({"tags": {"team": "a"}}, True),
        ({"kubelet": {"maxPods": 58}}, True),
        ({"kubelet": {}, "tags": {}}, False),
    ],
)
def test_the_hash_of_a_node_class_leaves_out_what_is_looked_up(spec: dict[str, Any], is_other: bool) -> None:
    usual = {"amiSelectorTerms": [{"alias": "al2023@latest"}]}

    assert (class_hash.hash_of(node_class(**usual)) != class_hash.hash_of(node_class(**{**usual, **spec}))) is is_other


def test_lists_of_a_node_class_count_as_sets() -> None:
    disks = [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "20Gi"}}, {"deviceName": "/dev/xvdb"}]

    assert class_hash.hash_of(node_class(blockDeviceMappings=disks)) == class_hash.hash_of(
        node_class(blockDeviceMappings=disks[::-1])
    )


def test_a_new_version_of_a_hash_causes_no_drift_and_ends_none() -> None:
    drifted = claim(LAUNCHED, condition("Drifted", "True"), name="drifted", annotations=hashes("old", "v2"))
    plain = claim(LAUNCHED, name="plain", annotations=hashes("old", "v2"))
    current = claim(LAUNCHED, name="current", annotations=hashes("kept"))
    made = pool(annotations=hashes("old", "v2"))

    rewritten = {it.metadata.name: it.metadata.annotations for it in pools.rehashed(made, [drifted, plain, current])}

    assert rewritten == {"drifted": hashes("old"), "plain": hashes(pool_hash.pool_hash(made))}
    assert pools.rehashed(pools.hashed(made), [plain]) == ()  # the pool is written last


def test_the_same_holds_for_the_hash_of_a_node_class() -> None:
    plain = claim(LAUNCHED, annotations=marked("old", "v5"))
    made = node_class(annotations=marked("old", "v5"))

    [after] = class_hash.rehashed(made, [plain])

    assert after.metadata.annotations == class_hash.marks(made)
    assert class_hash.rehashed(class_hash.hashed(made), [plain]) == ()


def test_what_was_found_is_kept_until_something_changes() -> None:
    verdicts, known = Verdicts(), KNOWN
    first, wanted = of(image="ami-1"), pool()

    assert verdicts.reason(first, wanted, known, at(0)) is None
    assert verdicts.reason(claim_with(first, labels={}), wanted, known, at(1)) is None
    assert verdicts.reason(first, pool(needs("a", "Exists")), known, at(2)) == "RequirementsDrifted"
    newer = replace(known, images={"small": "ami-2"})
    assert verdicts.reason(first, wanted, newer, at(3)) == "AMIDrift"
    assert conditions.is_true(first.status.conditions, "Launched")
