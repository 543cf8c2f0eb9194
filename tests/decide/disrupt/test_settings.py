"""Gates and policies that change what a pass does (disruption spec 13, 29)."""

import pytest

from baseload.plan.disrupt import Method
from tests.decide.disrupt.stage import (
    DRIFTED,
    HOSTNAME,
    INSTANCE_TYPE,
    ON_DEMAND,
    Object,
    command,
    gone,
    kept,
    node,
    plan,
    pod,
    pool,
    situation,
)

TEMPLATE: Object = {
    "apiVersion": "v1",
    "kind": "PodTemplate",
    "metadata": {"name": "chunk", "namespace": "default"},
    "template": {"metadata": {"labels": {"app": "spare"}}, "spec": pod("x")["spec"]},
}
BUFFER: Object = {
    "apiVersion": "autoscaling.x-k8s.io/v1beta1",
    "kind": "CapacityBuffer",
    "metadata": {"name": "spare", "namespace": "default"},
    "spec": {"podTemplateRef": {"name": "chunk"}, "replicas": 1},
}


def test_an_empty_node_that_a_buffer_stands_on_is_kept_where_the_gate_is_open() -> None:
    made = [pool(), *node("a"), *node("b"), TEMPLATE, BUFFER]
    found = plan(made, featureGates={"CapacityBuffer": True})

    assert (gone(found), kept(found)) == (["b"], {"a": "BufferPods"})
    assert gone(plan(made)) == ["a", "b"]


def test_virtual_pods_take_the_room_that_moved_ones_would_need() -> None:
    made = [pool(), *node("a"), pod("w", "a"), *node("b"), pod("t", "b", "500m", nodeSelector={HOSTNAME: "b"})]

    assert gone(plan(made, TEMPLATE, BUFFER)) == ["a"]
    assert gone(plan(made, TEMPLATE, BUFFER, featureGates={"CapacityBuffer": True})) == []


@pytest.mark.parametrize("marks", [None, DRIFTED], ids=["consolidation", "drift"])
def test_a_pod_with_resource_claims_keeps_its_node_while_these_are_not_looked_at(marks: dict[str, str] | None) -> None:
    claims = [{"name": "gpu", "resourceClaimName": "gpu"}]
    found = plan(pool(), node("a", "huge", marks=marks), pod("w", "a", resourceClaims=claims))

    assert kept(found) == {"a": "PodsWithoutPlace"}
    assert "ResourceClaims" in found.tried[-1].message


def test_an_overlay_changes_the_price_of_what_is_there_and_of_what_may_come() -> None:
    cheap: Object = {
        "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay",
        "metadata": {"name": "rebate"},
        "spec": {"requirements": [{"key": INSTANCE_TYPE, "operator": "In", "values": ["large"]}], "price": "0.05"},
    }
    made = [pool(), *node("a", "large"), pod("w", "a", "3")]

    assert gone(plan(made, cheap)) == ["a"]
    found = plan(made, cheap, featureGates={"NodeOverlay": True})
    assert kept(found) == {"a": "NotCheaper"}
    [candidate] = situation(made, cheap, featureGates={"NodeOverlay": True}).candidates(lambda _: None)
    assert candidate.price == 0.05


def test_best_effort_relaxes_min_values_while_simulating_and_not_for_the_price() -> None:
    """Three types hold the pod, two of them are cheaper: five and four are relaxed to three, and two do not do."""
    varied = {"key": INSTANCE_TYPE, "operator": "Exists", "minValues": 5}
    made = [pool(requirements=[ON_DEMAND, varied]), *node("a", "huge"), pod("w", "a", "7")]

    assert kept(plan(made, minValuesPolicy="Strict")) == {"a": "PodsWithoutPlace"}
    assert kept(plan(made, minValuesPolicy="BestEffort")) == {"a": "MinValuesNotMet"}


def test_preferences_hold_as_long_as_any_place_meets_them_a_new_node_included() -> None:
    """The pod would rather not be beside its like, so it is planned on a node of its own, which is no cheaper."""
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
    wish = {
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    }
    made = [pool(), *node("a"), pod("w", "a", "1500m", affinity=wish), *node("b", "large")]
    made.append(pod("t", "b", "4", nodeSelector={HOSTNAME: "b"}))

    assert kept(plan(made))["a"] == "NotCheaper"
    assert gone(plan(made, preferencePolicy="Ignore")) == ["a"]


def test_a_pod_whose_volume_cannot_be_looked_up_is_no_obstacle() -> None:
    lost = [{"name": "v", "persistentVolumeClaim": {"claimName": "nonesuch"}}]
    found = command(plan(pool(), node("a", "huge"), pod("w", "a", volumes=lost)))

    assert (found.method, found.replacements, found.pods) == (Method.SINGLE_NODE, (), ())


def test_a_bound_volume_ties_the_replacement_to_its_zone() -> None:
    volume: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "v"},
            "nodeAffinity": {
                "required": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-3"]}
                            ]
                        }
                    ]
                }
            },
        },
    }
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "data",
            "namespace": "default",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "",
            "volumeName": "pv",
        },
    }
    mounts = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    found = command(plan(pool(), node("a", "huge", zone="zone-3"), pod("w", "a", volumes=mounts), volume, claim))

    assert found.replacements[0].zone == "zone-3"
