"""What the forceful controllers and the lifecycle do once before a pass (disruption spec 3, 23 to 26, 31)."""

from typing import Any

import msgspec
import pytest

from baseload.decide.disrupt.decide import disrupt
from baseload.decide.disrupt.step import step
from baseload.decide.lifecycle.repair_policies import Policy
from baseload.decide.provision.options import Options
from baseload.kube.types.core import Node, Pod
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.view import View
from baseload.plan.disrupt import Command, Method, Offering
from baseload.values.duration import MINUTE
from tests.decide.lifecycle.builders import at, condition, pod, text

REF = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
CLASS = {"karpenter.k8s.aws/ec2nodeclass": "default"}
BORN = -7200.0
DONE = tuple(condition(type, "True", BORN) for type in ("Launched", "Registered", "Initialized"))
POOL = msgspec.convert(
    {"metadata": {"name": "default"}, "spec": {"template": {"spec": {"nodeClassRef": REF}}}}, NodePool
)


def labels(spot: bool = False) -> dict[str, str]:
    return {
        **CLASS,
        "karpenter.sh/nodepool": "default",
        "karpenter.sh/capacity-type": "spot" if spot else "on-demand",
        "node.kubernetes.io/instance-type": "small",
        "topology.kubernetes.io/zone": "zone-1",
    }


def claim(name: str, *, spot: bool = False, conditions: Any = DONE, provider: bool = True, **spec: Any) -> NodeClaim:
    metadata = {"name": name, "uid": f"uid-{name}", "creationTimestamp": text(BORN), "labels": labels(spot)}
    metadata |= spec.pop("metadata", {})
    status = {"conditions": list(conditions), "providerID": f"aws:///z/i-{name}" if provider else ""}
    tree = {"metadata": metadata, "spec": {"nodeClassRef": REF, "expireAfter": "Never", **spec}, "status": status}
    return msgspec.convert(tree, NodeClaim)


def node(name: str, ready: str = "True", since: float = BORN, **metadata: Any) -> Node:
    marks = {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    tree = {
        "metadata": {"name": f"node-{name}", "labels": {**labels(), **marks}, **metadata},
        "spec": {"providerID": f"aws:///z/i-{name}"},
        "status": {"conditions": [condition("Ready", ready, since)]},
    }
    return msgspec.convert(tree, Node)


def view(claims: list[NodeClaim], nodes: list[Node] | None = None, pods: tuple[Pod, ...] = ()) -> View:
    named = [node(it.metadata.name) for it in claims if it.status.provider_id] if nodes is None else nodes
    return View(node_claims=tuple(claims), nodes=tuple(named), pods=pods, node_pools=(POOL,))


def options(**given: Any) -> Options:
    return Options(now=at(0), **given)


def ended(commands: tuple[Command, ...]) -> dict[str, str]:
    """node -> why it goes"""
    assert all(it.method is Method.FORCEFUL and not it.replacements for it in commands)
    return {it.candidates[0].node: it.reason for it in commands}


def message(type: str, id: str = "i-a", source: str = "aws.ec2", **detail: Any) -> str:
    body = {"version": "0", "source": source, "detail-type": type, "detail": {"instance-id": id, **detail}}
    return msgspec.json.encode(body).decode()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (message("EC2 Spot Instance Interruption Warning"), "spot_interrupted"),
        (message("EC2 Instance State-change Notification", state="stopping"), "instance_stopped"),
        (message("EC2 Instance State-change Notification", state="terminated"), "instance_terminated"),
        (message("EC2 Capacity Reservation Instance Interruption Warning"), "capacity_reservation_interrupted"),
        (
            message(
                "AWS Health Event",
                source="aws.health",
                service="EC2",
                eventTypeCategory="scheduledChange",
                affectedEntities=[{"entityValue": "i-a"}],
            ),
            "scheduled_change",
        ),
        (message("EC2 Instance Rebalance Recommendation"), None),
        (message("EC2 Instance State-change Notification", state="pending"), None),
        (message("EC2 Spot Instance Interruption Warning", id="i-none"), None),
        ("{", None),
    ],
)
def test_each_message_of_the_queue_ends_what_it_says(body: str, expected: str | None) -> None:
    found = step(view([claim("a"), claim("b")]), {}, options(interruption_messages=(body,)))

    assert ended(found.commands) == ({} if expected is None else {"node-a": expected})
    assert {it.name: it.deleted for it in found.node_claims} == {"a": expected, "b": None}


def test_a_spot_notice_shuts_the_offering_although_the_claim_ends_already() -> None:
    doomed = claim("a", spot=True, metadata={"deletionTimestamp": text(-10)})
    found = step(
        view([doomed]), {}, options(interruption_messages=(message("EC2 Spot Instance Interruption Warning"),))
    )

    assert found.unavailable_offerings == (Offering("small", "zone-1", "spot"),)
    assert found.commands == ()


def test_expiry_reads_the_claim_and_its_creation() -> None:
    found = step(view([claim("a", expireAfter="2h"), claim("b", expireAfter="3h"), claim("c")]), {}, options())

    assert ended(found.commands) == {"node-a": "Expired"}


@pytest.mark.parametrize(
    ("gate", "others", "expected"), [(True, 4, {"node-bad": "Unhealthy"}), (False, 4, {}), (True, 0, {})]
)
def test_an_unwell_node_is_given_up_where_repair_is_wanted(gate: bool, others: int, expected: dict[str, str]) -> None:
    names = [f"n{number}" for number in range(others)]
    nodes = [node("bad", "False", -1800), node("worse", "Unknown", -60), *map(node, names)]
    nodes = nodes if others else nodes[:2]
    found = step(
        view([claim("bad"), claim("worse"), *map(claim, names)], nodes), {}, options(feature_gates={"NodeRepair": gate})
    )

    assert ended(found.commands) == expected  # of two nodes both are unwell, which is more than one may be


def test_repair_policies_of_the_options_take_the_place_of_the_provider_s() -> None:
    policies = (Policy("Ready", "False", 60 * MINUTE),)
    asked = options(feature_gates={"NodeRepair": True}, repair_policies=policies)

    assert step(view([claim("a")], [node("a", "False", -1800)]), {}, asked).commands == ()


def test_a_claim_whose_instance_is_gone_ends_unless_its_node_still_reports_ready() -> None:
    claims = [claim("gone"), claim("ready"), claim("there"), claim("no-node")]
    nodes = [node("gone", "Unknown"), node("ready"), node("there", "False")]
    found = step(view(claims, nodes), {}, options(cloud_instances=frozenset({"aws:///z/i-there"})))

    assert ended(found.commands) == {"node-gone": "garbage_collected", "no-node": "garbage_collected"}
    assert step(view(claims, nodes), {}, options()).commands == ()


def test_one_that_ends_for_several_reasons_is_one_command() -> None:
    asked = options(interruption_messages=(message("EC2 Spot Instance Interruption Warning"),))

    assert ended(step(view([claim("a", expireAfter="1h")]), {}, asked).commands) == {"node-a": "spot_interrupted"}


def test_what_liveness_ends_stands_among_the_claims_alone() -> None:
    stuck = claim("stuck", provider=False, conditions=[condition("Launched", "Unknown", -300, "LaunchFailed")])
    late = claim("late", conditions=[condition("Launched", "True", -900), condition("Registered", "Unknown", -900)])
    found = step(view([stuck, late], []), {}, options())

    assert {it.name: it.deleted for it in found.node_claims} == {
        "late": "registration_timeout",
        "stuck": "launch_timeout",
    }
    assert found.commands == ()
    assert [it.metadata.name for it in found.view.node_claims] == ["late"]  # nothing holds what has no instance


def test_conditions_are_told_as_the_controllers_leave_them() -> None:
    booting = claim("a", conditions=[*DONE[:2], condition("Initialized", "Unknown", BORN)])
    [told] = step(view([booting]), {}, options()).node_claims

    held = {it.type: (it.status, it.reason) for it in told.conditions}
    assert held["Initialized"] == ("True", "Initialized")
    assert held["Consolidatable"] == ("True", "Consolidatable")
    assert held["Ready"] == ("True", "Ready")


def test_claims_of_providers_that_are_not_known_are_left_alone() -> None:
    foreign = claim("a", expireAfter="1h", nodeClassRef={"group": "example.com", "kind": "Machine", "name": "m"})
    found = step(view([foreign]), {}, options())

    assert (found.commands, found.node_claims) == ((), ())


def ending(name: str, ready: str = "True", **metadata: Any) -> Node:
    doomed = {"deletionTimestamp": text(-10), "finalizers": ["karpenter.sh/termination"], **metadata}
    return node(name, ready, **doomed)


def on(node: str, name: str) -> Pod:
    return pod(name, spec={"nodeName": node, "terminationGracePeriodSeconds": 60})


@pytest.mark.parametrize(
    ("of", "given", "evict", "delete"),
    [
        (ending("a"), {}, ("default/web",), ()),
        (node("a"), {}, (), ()),  # it stays
        (ending("a", finalizers=[]), {}, (), ()),  # nobody holds it
        (ending("a", "False"), {"cloud_instances": frozenset()}, (), ()),  # its instance is gone
        (ending("a"), {"cloud_instances": frozenset()}, ("default/web",), ()),  # which a Ready node denies
    ],
)
def test_nodes_that_are_deleted_are_drained_a_step_further(of: Node, given: Any, evict: Any, delete: Any) -> None:
    doomed = claim("a", metadata={"deletionTimestamp": text(-10)})
    found = step(view([doomed], [of], (on("node-a", "web"), on("node-b", "other"))), {}, options(**given))

    assert (found.drain.evict, found.drain.delete) == (evict, delete)


def test_pods_that_need_longer_than_is_left_are_deleted_with_what_is_left() -> None:
    annotations = {"karpenter.sh/nodeclaim-termination-timestamp": text(20)}
    doomed = claim("a", metadata={"deletionTimestamp": text(-10), "annotations": annotations})
    found = step(view([doomed], [ending("a")], (on("node-a", "web"),)), {}, options())

    assert (found.drain.evict, found.drain.delete) == ((), (("default/web", 20),))


def test_a_pass_takes_what_ends_for_gone_and_names_it_once() -> None:
    plan = disrupt(view([claim("a", expireAfter="1h"), claim("b")]), {}, options())

    assert [it.reason for it in plan.commands] == ["Expired"]
    assert [it.node for it in plan.skipped] == ["node-b"]
