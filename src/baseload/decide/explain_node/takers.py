"""What may still take a node whose pods are protected, with the rule of each (disruption spec 17, 23, 24, 26).

Protection is a promise about voluntary disruption by Karpenter. Age, the cloud, failure and people do not ask for it.
"""

from collections.abc import Iterator
from typing import Final

from baseload.decide.disrupt import filters
from baseload.decide.explain_node.what_if import GATES, OPTIONS
from baseload.decide.lifecycle import repair
from baseload.decide.lifecycle.expiration import NEVER, USUAL, expires_at
from baseload.decide.lifecycle.repair_policies import policies_of
from baseload.decide.provision.options import Options
from baseload.decide.provision.pods import DO_NOT_DISRUPT
from baseload.kube.fieldpath import text
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.statenode import StateNode
from baseload.model.view import View, ref_of
from baseload.plan.node_story import Rule, Taker
from baseload.values import instant
from baseload.values.label import CAPACITY_TYPE

GRACE: Final = "spec.terminationGracePeriod"
_REPAIR: Final = "NodeRepair"


def takers(view: View, state: StateNode, options: Options, *, is_protected: bool) -> Iterator[Taker]:
    """Every way; for a node without a NodeClaim none is Karpenter's."""
    claim = state.claim
    if claim is None:
        return
    yield _expiration(claim)
    yield _interruption(state)
    yield _repair(view, state, claim, options)
    yield _drift(state, claim, is_protected=is_protected)
    yield _by_hand(claim)


def _drained(claim: NodeClaim) -> str:
    """What becomes of its protected pods once the NodeClaim is deleted."""
    grace = claim.spec.termination_grace_period
    if grace:
        return f"protected pods are waited for and deleted when terminationGracePeriod ({grace}) is over"
    return "protected pods are waited for without end, as it has no terminationGracePeriod"


def _grace(claim: NodeClaim) -> Rule:
    return Rule(ref_of(claim), GRACE, claim.spec.termination_grace_period or None)


def _expiration(claim: NodeClaim) -> Taker:
    rule = Rule(ref_of(claim), "spec.expireAfter", claim.spec.expire_after or USUAL)
    at = expires_at(claim)
    if at is None:
        why = "it never expires" if claim.spec.expire_after == NEVER else "the NodeClaim has no creation time"
        return Taker("Expiration", False, why, rule)
    moment = instant.format(at)
    return Taker("Expiration", True, f"at {moment} it is deleted for its age; {_drained(claim)}", rule, moment)


def _interruption(state: StateNode) -> Taker:
    held = state.labels.get(CAPACITY_TYPE, "")
    labelled = state.node or state.claim
    assert labelled is not None
    rule = Rule(ref_of(labelled), text(("metadata", "labels", CAPACITY_TYPE)), held)
    if held == "spot":
        message = "the cloud may take a spot instance back at any time, at two minutes' notice"
    else:
        message = "when the cloud stops, retires or maintains its instance, or finds it unwell"
    return Taker("Interruption", True, message, rule)


def _repair(view: View, state: StateNode, claim: NodeClaim, options: Options) -> Taker:
    gate = Rule(OPTIONS, f"{GATES}{_REPAIR}", options.gate(_REPAIR))
    if not options.gate(_REPAIR):
        return Taker(_REPAIR, False, "the feature gate NodeRepair is off", gate)
    policies = options.repair_policies
    if policies is None:
        policies = policies_of(claim.spec.node_class_ref)
    at = repair.repaired_at(state.node, policies) if state.node is not None else None
    if at is None:
        return Taker(_REPAIR, True, "when a condition of the node is bad for too long, which none is now", gate)
    pool = [one.node for one in view.state_nodes if one.node is not None and one.pool == state.pool]
    moment = instant.format(at)
    if repair.is_held_back(pool, policies):
        message = f"it is unwell and due at {moment}, but more than {repair.MOST} % of the NodePool's nodes are unwell"
        return Taker(_REPAIR, False, message, gate, moment)
    return Taker(_REPAIR, True, f"it is unwell, and given up at {moment} without asking its pods", gate, moment)


def _drift(state: StateNode, claim: NodeClaim, *, is_protected: bool) -> Taker:
    when = "it has drifted" if filters.is_drifted(claim) else "once it drifts"
    if state.node is not None and state.node.metadata.annotations.get(DO_NOT_DISRUPT) == "true":
        rule = Rule(ref_of(state.node), text(("metadata", "annotations", DO_NOT_DISRUPT)), "true")
        return Taker("Drift", False, "the node's own do-not-disrupt holds for drift too", rule)
    if claim.spec.termination_grace_period:
        message = f"{when}: drift does not ask protected pods of a NodeClaim with a grace period; {_drained(claim)}"
        return Taker("Drift", True, message, _grace(claim))
    if is_protected:
        return Taker("Drift", False, "its protected pods hold off drift too, without a grace period", _grace(claim))
    return Taker("Drift", True, f"{when}, if its pods find a place", _grace(claim))


def _by_hand(claim: NodeClaim) -> Taker:
    return Taker("ManualDeletion", True, f"kubectl delete of its Node or NodeClaim; {_drained(claim)}", _grace(claim))
