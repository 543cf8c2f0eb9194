"""From the launch of a claim to its node being initialised, and the claims that never get there (spec 3, 4.5)."""

from typing import Any

import pytest

from baseload.decide.lifecycle import conditions, progress
from baseload.decide.lifecycle.changed import claim_saying
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.consistency import consistency
from baseload.kube.types.karpenter import NodeClaim
from tests.decide.lifecycle.builders import at, claim, condition, node, text

UNREGISTERED = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}
AGENT = {"key": "node.cilium.io/agent-not-ready", "value": "true", "effect": "NoExecute"}
LAUNCHED, REGISTERED = condition("Launched", "True"), condition("Registered", "True")


def says(of: NodeClaim, type: str) -> tuple[str, str, str]:
    held = conditions.find(of.status.conditions, type)
    return (held.status, held.reason, held.message) if held else ("", "", "")


def test_a_new_claim_begins_with_three_unknown_conditions_since_its_creation() -> None:
    begun = progress.look(claim(status={"providerID": ""}), [], at(60)).claim

    by_type = {held.type: held for held in begun.status.conditions}
    assert {type: held.status for type, held in by_type.items()} == {
        "Launched": "Unknown",
        "Registered": "Unknown",
        "Initialized": "Unknown",
        "Ready": "Unknown",
    }
    assert by_type["Launched"].last_transition_time == text(0)
    assert by_type["Ready"].message == "Initialized=Unknown, Launched=Unknown, Registered=Unknown"


def test_a_condition_keeps_its_time_while_only_its_reason_changes() -> None:
    one = claim_saying(claim(), Said("Registered", "Unknown", "NodeNotFound"), now=at(10))
    other = claim_saying(one, Said("Registered", "Unknown", "RegistrationHookPending"), now=at(20))
    done = claim_saying(other, Said("Registered"), now=at(30))

    times = [conditions.since(it.status.conditions, "Registered") for it in (one, other, done)]
    assert times == [at(0), at(0), at(30)]


def test_the_claim_s_own_labels_prevail_over_the_provider_s() -> None:
    machine = progress.Machine("aws:///z1/i-9", "ami-1", {"zone": "z1", "team": "cloud"}, {"cpu": "2"}, {"cpu": "1"})
    launched = progress.launched(claim(labels={"team": "a"}, status={"providerID": ""}), machine, at(5))

    assert launched.metadata.labels == {"zone": "z1", "team": "a"}
    assert launched.status.provider_id == "aws:///z1/i-9"
    assert says(launched, "Launched") == ("True", "Launched", "")


def test_a_launch_that_fails_tells_300_characters_of_why() -> None:
    failed = progress.launch_failed(claim(), "", "x" * 400, at(5))

    assert says(failed, "Launched") == ("Unknown", "LaunchFailed", "x" * 300 + "...")
    assert progress.needs_launch(failed)


def test_a_node_that_comes_is_made_the_claim_s_own() -> None:
    held = claim(
        LAUNCHED,
        labels={"team": "a"},
        annotations={"note": "claim"},
        spec={"taints": [{"key": "team", "effect": "NoSchedule"}], "startupTaints": [AGENT]},
    )
    there = node("n1", UNREGISTERED, ready="False", labels={"team": "b", "own": "x"}, annotations={"note": "node"})

    looked = progress.look(held, [there], at(40))

    assert looked.node is not None
    metadata = looked.node.metadata
    assert metadata.labels == {"team": "a", "own": "x", "karpenter.sh/registered": "true"}
    assert metadata.annotations == {"note": "claim"}
    assert metadata.finalizers == ("karpenter.sh/termination",)
    [owner] = metadata.owner_references
    assert (owner.kind, owner.uid, owner.block_owner_deletion) == ("NodeClaim", "uid-1", True)
    assert [taint.key for taint in looked.node.spec.taints] == ["team", "node.cilium.io/agent-not-ready"]
    assert says(looked.claim, "Registered") == ("True", "Registered", "")
    assert looked.claim.status.node_name == "n1"
    assert says(looked.claim, "Initialized")[:2] == ("Unknown", "NodeNotReady")
    assert looked.told == ()


def test_a_startup_taint_that_an_agent_took_away_does_not_come_back() -> None:
    held = claim(LAUNCHED, REGISTERED, spec={"startupTaints": [AGENT]})

    looked = progress.look(held, [node(labels={"karpenter.sh/registered": "true"})], at(60))

    assert looked.node is not None
    assert looked.node.spec.taints == ()
    assert looked.node.metadata.labels["karpenter.sh/initialized"] == "true"


def test_a_node_may_refuse_the_claim_s_taints() -> None:
    held = claim(LAUNCHED, spec={"startupTaints": [AGENT]})
    there = node("n1", UNREGISTERED, labels={"karpenter.sh/do-not-sync-taints": "true"})

    looked = progress.look(held, [there], at(60))

    assert looked.node is not None
    assert looked.node.spec.taints == ()


def test_a_node_without_the_unregistered_taint_is_warned_of_and_registered() -> None:
    looked = progress.look(claim(LAUNCHED), [node()], at(40))

    [told] = looked.told
    assert (told.type, told.reason) == ("Warning", "UnregisteredTaintMissing")
    what = "taint which prevents registration related race conditions on Karpenter-managed nodes"
    assert told.message == f"Missing karpenter.sh/unregistered {what}"
    assert says(looked.claim, "Registered")[0] == "True"


def test_two_nodes_of_one_machine_are_never_registered() -> None:
    looked = progress.look(claim(LAUNCHED), [node("a"), node("b")], at(40))

    assert says(looked.claim, "Registered")[:2] == ("False", "MultipleNodesFound")
    assert looked.node is None
    again = progress.look(looked.claim, [node("a")], at(50))
    assert says(again.claim, "Registered")[0] == "False"


@pytest.mark.parametrize(
    ("taints", "ready", "allocatable", "reason", "message"),
    [
        ((AGENT,), "False", {}, "NodeNotReady", "Node status is NotReady"),
        (
            (AGENT,),
            "True",
            {},
            "StartupTaintsExist",
            'StartupTaint "node.cilium.io/agent-not-ready=true:NoExecute" still exists',
        ),
        (
            ({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},),
            "True",
            {},
            "KnownEphemeralTaintsExist",
            'KnownEphemeralTaint "node.kubernetes.io/not-ready:NoSchedule" still exists',
        ),
        (
            ({"key": "readiness.k8s.io/gpu", "effect": "NoExecute"},),
            "True",
            {},
            "KnownEphemeralTaintsExist",
            'KnownEphemeralTaint "readiness.k8s.io/gpu:NoExecute" still exists',
        ),
        ((), "True", {}, "ResourceNotRegistered", 'Resource "nvidia.com/gpu" was requested but not registered'),
        (
            ({"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "no", "effect": "NoSchedule"},),
            "True",
            {"nvidia.com/gpu": "1"},
            "Initialized",
            "",
        ),
        ((), "True", {"nvidia.com/gpu": "1"}, "Initialized", ""),
    ],
)
def test_initialisation_waits_for_one_thing_after_another(
    taints: tuple[dict[str, str], ...], ready: str, allocatable: dict[str, str], reason: str, message: str
) -> None:
    requests = {"cpu": "0", "nvidia.com/gpu": "1"}
    held = claim(LAUNCHED, REGISTERED, spec={"startupTaints": [AGENT], "resources": {"requests": requests}})

    looked = progress.look(held, [node("n1", *taints, ready=ready, status={"allocatable": allocatable})], at(60))

    assert says(looked.claim, "Initialized")[1:] == (reason, message)
    assert says(looked.claim, "Ready")[0] == ("True" if reason == "Initialized" else "Unknown")


def test_an_initialised_node_stays_so_when_it_is_not_ready_any_more() -> None:
    held = claim(LAUNCHED, REGISTERED, condition("Initialized", "True"))

    looked = progress.look(held, [node(ready="False")], at(600))

    assert says(looked.claim, "Initialized")[0] == "True"
    assert (looked.node, looked.deletion, looked.again) == (None, "", None)


@pytest.mark.parametrize(
    ("launched", "registered", "seconds", "deletion", "again"),
    [
        (("Unknown", 0), ("Unknown", 0), 299, "", 1),
        (("Unknown", 0), ("Unknown", 0), 300, "launch_timeout", None),
        (("Unknown", 100), ("Unknown", 100), 399, "", 1),
        (("True", 20), ("Unknown", 0), 899, "", 1),
        (("True", 20), ("Unknown", 0), 900, "registration_timeout", None),
        (("True", 20), ("True", 60), 100_000, "", None),
    ],
)
def test_launch_has_5_minutes_and_registration_15_from_the_condition_s_last_change(
    launched: tuple[str, float], registered: tuple[str, float], seconds: float, deletion: str, again: int | None
) -> None:
    held = claim(condition("Launched", *launched), condition("Registered", *registered), creationTimestamp=text(-5000))

    looked = progress.look(held, [], at(seconds))

    assert looked.deletion == deletion
    assert looked.again == (None if again is None else again * 10**9)


@pytest.mark.parametrize(("memory", "status"), [("15Gi", "True"), ("14Gi", "False")])
def test_a_node_with_less_than_nine_tenths_of_what_was_promised_is_told(memory: str, status: str) -> None:
    done: Any = condition("Initialized", "True")
    capacity = {"cpu": "4", "memory": "16Gi"}
    held = claim(
        LAUNCHED, REGISTERED, done, spec={"resources": {"requests": {"memory": "1Gi"}}}, status={"capacity": capacity}
    )

    found = consistency(held, node(status={"capacity": {"memory": memory}}), at(600))

    assert says(found.claim, "ConsistentStateFound")[0] == status
    message = "expected 16Gi of resource memory, but found 14Gi (87.5% of expected)"
    assert [told.message for told in found.told] == ([message] if status == "False" else [])


def test_a_failed_launch_tells_the_reason_that_is_known_of_it() -> None:
    assert progress.failure("InvalidAMIID.NotFound", "The image id does not exist")[0] == "AMINotFound"
    reason, message = progress.failure("UnauthorizedOperation", "You are not authorized")
    assert reason == "Unauthorized"
    assert message.startswith("Error creating fleet request: User is not authorized to perform this operation")
    assert progress.failure("RequestTimeout", "no answer") == ("LaunchFailed", "no answer")
