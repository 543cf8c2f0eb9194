"""What may still take a node whose pods are protected, and by which rule."""

from typing import Any

from baseload.plan.node_story import Taker
from tests.decide.explain_node.building import node, pod, pool
from tests.decide.explain_node.telling import told

GATE = {"featureGates": {"NodeRepair": True}}


def takers(*, options: Any = None, **of: Any) -> dict[str, Taker]:
    """Those of a node with a protected pod, by their names."""
    found = told(pool(), node("a", "xlarge", **of), pod("db", "a", mark="true"), **(options or {})).of("a")
    return {taker.how: taker for taker in found.takers}


def test_expiry_comes_at_its_moment_and_waits_for_protected_pods_without_end() -> None:
    taker = takers()["Expiration"]
    assert (taker.is_possible, taker.when) == (True, "2026-03-31T00:00:00Z")
    assert taker.rule is not None
    assert (taker.rule.object, taker.rule.path, taker.rule.value) == ("NodeClaim claim-a", "spec.expireAfter", "720h")
    assert "waited for without end" in taker.message


def test_a_grace_period_puts_an_end_to_waiting_and_opens_the_node_to_drift() -> None:
    found = takers(claim={"terminationGracePeriod": "1h"})
    assert "deleted when terminationGracePeriod (1h) is over" in found["Expiration"].message
    assert found["Drift"].is_possible
    assert found["Drift"].rule is not None
    assert (found["Drift"].rule.path, found["Drift"].rule.value) == ("spec.terminationGracePeriod", "1h")


def test_without_a_grace_period_protected_pods_hold_off_drift() -> None:
    assert not takers()["Drift"].is_possible


def test_the_mark_of_the_node_holds_off_drift_in_spite_of_a_grace_period() -> None:
    marked = {"karpenter.sh/do-not-disrupt": "true"}
    assert not takers(claim={"terminationGracePeriod": "1h"}, annotations=marked)["Drift"].is_possible


def test_a_claim_that_never_expires_is_not_taken_for_its_age() -> None:
    assert not takers(claim={"expireAfter": "Never"})["Expiration"].is_possible


def test_spot_may_be_taken_back_at_any_time() -> None:
    assert "two minutes" in takers(capacity="spot")["Interruption"].message
    assert "two minutes" not in takers()["Interruption"].message


def test_repair_stands_behind_its_gate() -> None:
    assert not takers(ready="False")["NodeRepair"].is_possible


def test_repair_tells_when_a_node_that_is_unwell_is_due() -> None:
    policy = {
        "repairPolicies": [{"conditionType": "Ready", "conditionStatus": "False", "tolerationDuration": "2400h"}],
        **GATE,
    }
    taker = takers(ready="False", options=policy)["NodeRepair"]
    assert (taker.is_possible, taker.when) == (True, "2026-06-09T00:00:00Z")
    assert takers(options=policy)["NodeRepair"].when is None


def test_a_node_that_has_expired_is_told_as_taken_by_force() -> None:
    old = node("a", claim={"expireAfter": "24h"})
    story = told(pool(disruption={"budgets": [{"nodes": "0"}]}), old, pod("db", "a", mark="true")).of("a")
    assert story.forced is not None
    assert (story.forced.reason, story.methods, story.change) == ("Expired", (), None)


def test_a_node_without_a_claim_is_none_of_karpenters() -> None:
    [bare, _] = node("a")
    assert told(pool(), bare).of("a").takers == ()
