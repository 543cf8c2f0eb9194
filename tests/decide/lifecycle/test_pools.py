"""What a NodePool says of itself (spec 4.2, 5)."""

from typing import Any

import msgspec
import pytest

from baseload.decide.lifecycle import conditions, pools
from baseload.decide.lifecycle.pools import Health
from baseload.decide.provision import pool_hash
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodePool
from baseload.model.statenode import StateNode
from tests.decide.lifecycle.builders import at, claim, condition, text


def pool(*held: dict[str, str], annotations: Any = None, status: Any = None, **spec: Any) -> NodePool:
    metadata = {"name": "default", "uid": "uid-pool", "generation": 2, "annotations": annotations or {}}
    tree = {
        "metadata": metadata,
        "spec": {"template": {"spec": spec}},
        "status": {"conditions": list(held), **(status or {})},
    }
    return msgspec.convert(tree, NodePool)


def node_class(*held: dict[str, str], **metadata: Any) -> EC2NodeClass:
    return msgspec.convert(
        {"metadata": {"name": "default", **metadata}, "status": {"conditions": list(held)}}, EC2NodeClass
    )


@pytest.mark.parametrize(
    ("of", "faults", "reasons"),
    [
        (None, [], ("NodeClassNotFound", "ValidationSucceeded", "UnhealthyDependents")),
        (
            node_class(deletionTimestamp=text(0)),
            [],
            ("NodeClassTerminating", "ValidationSucceeded", "UnhealthyDependents"),
        ),
        (node_class(), [], ("NodeClassReadinessUnknown", "ValidationSucceeded", "UnhealthyDependents")),
        (
            node_class(condition("Ready", "False", reason="AMINotFound")),
            [],
            ("AMINotFound", "ValidationSucceeded", "UnhealthyDependents"),
        ),
        (
            node_class(condition("Ready", "True")),
            ["spec: bad"],
            ("NodeClassReady", "NodePoolValidationFailed", "UnhealthyDependents"),
        ),
        (node_class(condition("Ready", "True")), [], ("NodeClassReady", "ValidationSucceeded", "Ready")),
    ],
)
def test_a_pool_is_ready_when_its_class_is_and_its_spec_is_valid(
    of: EC2NodeClass | None, faults: list[str], reasons: tuple[str, str, str]
) -> None:
    told = pools.ready(pool(), of, faults, at(0)).status.conditions

    found = tuple(
        held.reason
        for type in ("NodeClassReady", "ValidationSucceeded", "Ready")
        if (held := conditions.find(told, type))
    )
    assert found == reasons
    assert conditions.is_true(told, "Ready") is (reasons[2] == "Ready")
    assert {held.observed_generation for held in told} == {2}


def test_a_pool_counts_its_nodes_but_those_that_go_away() -> None:
    capacity = {"capacity": {"cpu": "4", "memory": "16Gi"}}
    states = [
        StateNode(None, claim(status=capacity)),
        StateNode(None, claim(status=capacity)),
        StateNode(None, claim(status=capacity, deletionTimestamp=text(0))),
        StateNode(None, claim(condition("InstanceTerminating", "True"), status=capacity)),
        StateNode(None, claim(status=capacity, labels={"karpenter.sh/nodepool": "other"})),
    ]

    counted = pools.counted(pool(), states).status

    assert counted.nodes == 2
    assert counted.resources == {"cpu": "8", "ephemeral-storage": "0", "memory": "32Gi", "nodes": "2", "pods": "0"}
    assert pools.counted(pool(), ()).status.resources["nodes"] == "0"


def test_the_hash_covers_the_template_but_not_its_requirements() -> None:
    first = pools.hashed(pool()).metadata.annotations
    other = pools.hashed(pool(requirements=[{"key": "kubernetes.io/arch", "operator": "Exists"}])).metadata.annotations

    assert first == other == {**first, pool_hash.VERSION: "v3"}
    assert pools.hashed(pool(expireAfter="1h")).metadata.annotations != first


def test_a_new_version_of_the_hash_makes_no_drift_and_undoes_none() -> None:
    old = pool(annotations={pool_hash.VERSION: "v2", pool_hash.HASH: "1"})
    marks = {pool_hash.VERSION: "v2", pool_hash.HASH: "0"}
    plain, drifted = claim(annotations=marks), claim(condition("Drifted", "True"), annotations=marks)

    one, other = pools.rehashed(old, [plain, drifted])

    assert one.metadata.annotations == pool_hash.marks(old)
    assert other.metadata.annotations == {pool_hash.VERSION: "v3", pool_hash.HASH: "0"}
    assert pools.rehashed(pools.hashed(old), [plain]) == ()


def test_two_failures_among_the_last_four_make_a_pool_unhealthy() -> None:
    health = Health()
    verdicts = []
    for success in (True, False, True, False, True, True, True):
        health = health.after(success)
        verdicts.append(health.is_healthy)

    assert verdicts == [True, True, True, False, False, True, True]


def test_the_condition_tells_a_success_that_leaves_health_and_a_failure_that_ends_it() -> None:
    def after(*results: bool) -> str:
        health = Health()
        for success in results:
            health = health.after(success)
        told = pools.told(pool(), health, success=results[-1], reason="", message="", now=at(0))
        held = conditions.find(told.status.conditions, "NodeRegistrationHealthy")
        return f"{held.status} {held.reason}" if held else ""

    assert after(True) == "True NodeRegistrationHealthy"
    assert after(False) == ""
    assert after(False, False) == "False RegistrationFailed"
    assert after(False, False, True) == ""


def test_a_failure_says_why_the_first_time_and_changes_nothing_after_that() -> None:
    unwell = Health((False, False))
    told = pools.told(pool(), unwell, success=False, reason="", message="", now=at(0))
    held = conditions.find(told.status.conditions, "NodeRegistrationHealthy")
    assert held is not None
    assert held.message == "Failed to register node"
    assert pools.told(told, unwell, success=False, reason="LaunchFailed", message="no right", now=at(9)) is told
    never = pools.told(pool(), unwell, success=False, reason="Unauthorized", message="no right", now=at(0))
    held = conditions.find(never.status.conditions, "NodeRegistrationHealthy")
    assert held is not None
    assert (held.reason, held.message) == ("Unauthorized", "no right")


def test_health_is_taken_up_from_the_condition_and_forgotten_with_the_generation() -> None:
    assert pools.health_of(pool(condition("NodeRegistrationHealthy", "True"))) == Health((True,))
    assert not pools.health_of(pool(condition("NodeRegistrationHealthy", "False"))).is_healthy
    assert pools.health_of(pool()) == Health()

    known = pools.unknown(pool(), 1, at(0))
    assert known is not None
    assert conditions.status_of(known.status.conditions, "NodeRegistrationHealthy") == "Unknown"
    assert pools.unknown(known, 1, at(1)) is None
    assert pools.unknown(known, 2, at(1)) is not None


def test_only_a_claim_of_this_very_pool_counts() -> None:
    owner = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "default", "uid": "uid-pool"}

    assert pools.is_owned_by(claim(ownerReferences=[owner]), pool())
    assert not pools.is_owned_by(claim(ownerReferences=[{**owner, "uid": "elder"}]), pool())
