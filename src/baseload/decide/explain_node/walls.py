"""What keeps a node, with the place of each rule in the user's objects and the numbers that it is held against."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.consolidation import LEAST_SPOT_TYPES
from baseload.decide.disrupt.guards import Guards
from baseload.decide.disrupt.situation import Situation
from baseload.decide.explain_node import pod_budgets, pool_budgets
from baseload.decide.explain_node.owners import Owners
from baseload.decide.explain_node.quiet import AFTER
from baseload.decide.explain_node.replacement import cheapest_replacement
from baseload.decide.explain_node.turns import REASONS, Turn, Turns
from baseload.decide.explain_node.what_if import GATES, OPTIONS
from baseload.decide.lifecycle import conditions, markers
from baseload.decide.lifecycle import pods as of_pods
from baseload.decide.lifecycle.initialization import initialize
from baseload.decide.lifecycle.names import INITIALIZED
from baseload.decide.provision.pods import DO_NOT_DISRUPT, is_held
from baseload.decide.provision.pools import is_static
from baseload.kube.fieldpath import text
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodePool
from baseload.kube.types.policy import PodDisruptionBudget
from baseload.model.statenode import INITIALIZED as LABEL
from baseload.model.statenode import StateNode
from baseload.model.view import name_of, ref_of
from baseload.plan.disrupt import Kept
from baseload.plan.node_story import Rule, Wall
from baseload.plan.provision import Field
from baseload.values import duration, instant

MARK: Final = text(("metadata", "annotations", DO_NOT_DISRUPT))
POLICY: Final = "spec.disruption.consolidationPolicy"
GATE: Final = f"{GATES}SpotToSpotConsolidation"
REQUIREMENTS: Final = ("spec", "template", "spec", "requirements")


def wall(turns: Turns, turn: Turn) -> Wall:
    """The wall that a method ran into."""
    kept = turn.kept
    assert kept is not None
    looked = next((one for one in turns.situation.looked if one.state.name == turns.node), None)
    refused = tuple((pod, tuple(r for r in by if r.target != f"node/{turns.node}")) for pod, by in kept.rejections)
    found = Wall(kept.reason, kept.message, pods=kept.pods, rejections=refused)
    if looked is None or kept.reason is Kept.NOT_SYNCED:
        return found
    if looked.candidate is None:
        return _with(found, *_BEFORE.get(kept.reason, _nothing)(turns.situation, looked.state))
    return _with(found, *_of_candidate(turns, turn, kept.reason, looked.candidate))


Found = tuple[tuple[Rule, ...], tuple[str, ...], Mapping[str, Field]]
_NONE: Found = ((), (), {})


def _with(found: Wall, rules: tuple[Rule, ...], pods: tuple[str, ...], facts: Mapping[str, Field]) -> Wall:
    return Wall(found.reason, found.message, rules, found.pods or pods, facts, found.rejections)


# Nodes that are no candidates


def _nothing(_: Situation, __: StateNode) -> Found:
    return _NONE


def _marked_node(_: Situation, state: StateNode) -> Found:
    assert state.node is not None
    return (Rule(ref_of(state.node), MARK, "true"),), (), {}


def _booting(situation: Situation, state: StateNode) -> Found:
    """What initialisation waits for."""
    assert state.node is not None
    assert state.claim is not None
    held = conditions.find(initialize(state.claim, (state.node,), situation.now).claim.status.conditions, INITIALIZED)
    if held is None or held.status == "True":
        return (Rule(ref_of(state.node), text(("metadata", "labels", LABEL)), None),), (), {}
    taints: Field = [f"{t.key}:{t.effect}" for t in state.node.spec.taints]
    rule = Rule(ref_of(state.node), "spec.taints", taints, {"waitsFor": held.reason, "message": held.message})
    return (rule,), (), {"waitsFor": held.reason, "message": held.message}


_BEFORE: Final[Mapping[Kept, Callable[[Situation, StateNode], Found]]] = {
    Kept.NODE_MARK: _marked_node,
    Kept.UNINITIALIZED: _booting,
}


# Candidates


def _of_candidate(turns: Turns, turn: Turn, reason: Kept, candidate: Candidate) -> Found:
    pool = candidate.pool
    if reason in _BY_FIELD:
        path = _BY_FIELD[reason]
        return (_of_pool(pool, path),), (), {}
    match reason:
        case Kept.NOT_DRIFTED if is_static(pool):
            return (_of_pool(pool, "spec.replicas"),), (), {}
        case Kept.POD_MARK:
            return _protected(turns.situation, candidate)
        case Kept.BUDGET_OF_PODS | Kept.SEVERAL_BUDGETS:
            return _guarded(turns.situation, candidate)
        case Kept.POLICY:
            return _policy(candidate)
        case Kept.NOT_CONSOLIDATABLE:
            return (_window(candidate),), (), {}
        case Kept.BUDGET:
            census = turns.situation.census_of(pool.metadata.name)
            return pool_budgets.rules(pool, census, REASONS[turn.method], turns.situation.now), (), {}
        case Kept.OVER_LIMIT:
            over = turns.situation.over_limits.get(pool.metadata.name, "").split(", ")
            return tuple(_of_pool(pool, text(("spec", "limits", resource))) for resource in over if resource), (), {}
        case Kept.SPOT_GATE:
            return (Rule(OPTIONS, GATE, False),), (), {}
        case _:
            return _of_price(turns, reason, candidate)


_BY_FIELD: Final = {
    Kept.NEVER: AFTER,
    Kept.STATIC: "spec.replicas",
    Kept.REPLICAS: "spec.replicas",
    Kept.NODE_LIMIT: "spec.limits.nodes",
    Kept.SCORE: POLICY,
}


def _of_pool(pool: NodePool, path: str, facts: Mapping[str, Field] | None = None) -> Rule:
    held: dict[str, Field] = {
        AFTER: pool.spec.disruption.consolidate_after,
        POLICY: pool.spec.disruption.consolidation_policy,
        "spec.replicas": pool.spec.replicas,
    }
    value = held.get(path)
    if path.startswith("spec.limits"):
        limit = pool.spec.limits.get(path.removeprefix("spec.limits").strip('."[]'))
        value = None if limit is None else str(limit)
    return Rule(ref_of(pool), path, value, facts or {})


def protected(situation: Situation, candidate: Candidate) -> Iterator[Pod]:
    """The pods whose annotation protects the node."""
    return (pod for pod in candidate.pods if of_pods.is_active(pod) and is_held(pod, situation.now))


def _protected(situation: Situation, candidate: Candidate) -> Found:
    pods = tuple(protected(situation, candidate))
    owners = Owners(situation.view)
    rules = tuple(
        Rule(
            ref_of(pod),
            MARK,
            pod.metadata.annotations[DO_NOT_DISRUPT],
            until=_ends(pod),
            written_in=owners.template_of(pod, ("metadata", "annotations", DO_NOT_DISRUPT)),
        )
        for pod in pods
    )
    return rules, tuple(map(name_of, pods)), {}


def _ends(pod: Pod) -> str | None:
    value = pod.metadata.annotations[DO_NOT_DISRUPT]
    if value == "true" or not pod.status.start_time:
        return None
    return instant.format(instant.parse(pod.status.start_time) + duration.parse(value))


def guarded(situation: Situation, candidate: Candidate) -> Iterator[tuple[Pod, tuple[PodDisruptionBudget, ...]]]:
    """The pods that their PodDisruptionBudgets do not let go now, with these."""
    guards = Guards(situation.view, situation.now)
    for pod in candidate.pods:
        if not is_held(pod, situation.now) and guards.block((pod,)) is not None:
            yield pod, guards.matching(pod)


def _guarded(situation: Situation, candidate: Candidate) -> Found:
    found = tuple(guarded(situation, candidate))
    budgets = {ref_of(budget): budget for _, matching in found for budget in matching}
    rules = []
    for ref, budget in budgets.items():
        path, value = pod_budgets.limit_of(budget)
        counted = pod_budgets.numbers(budget, situation.view)
        facts: dict[str, Field] = {
            "disruptionsAllowed": budget.status.disruptions_allowed or 0,
            "currentHealthy": counted.healthy,
            "desiredHealthy": counted.desired,
            "expectedPods": counted.expected,
        }
        rules.append(Rule(ref, path, value, facts))
    return tuple(rules), tuple(name_of(pod) for pod, _ in found), {}


def _policy(candidate: Candidate) -> Found:
    pods = tuple(map(name_of, candidate.reschedulable))
    if not candidate.is_empty and candidate.pool.spec.disruption.consolidation_policy == "WhenEmpty":
        return (_of_pool(candidate.pool, POLICY),), pods, {}
    return (), pods, {}


def _window(candidate: Candidate) -> Rule:
    ends = markers.window_end(candidate.claim, candidate.pool)
    is_open = ends is not None and candidate.now < ends
    facts: dict[str, Field] = {}
    if candidate.claim.status.last_pod_event_time:
        facts["lastPodEventTime"] = candidate.claim.status.last_pod_event_time
    value = candidate.pool.spec.disruption.consolidate_after or "0s"
    until = instant.format(ends) if is_open and ends is not None else None
    return Rule(ref_of(candidate.pool), AFTER, value, facts, until)


def _of_price(turns: Turns, reason: Kept, candidate: Candidate) -> Found:
    """What a replacement would have to be cheaper than, and what the cheapest is."""
    if reason not in (Kept.NOT_CHEAPER, Kept.SAME_TYPE, Kept.SPOT_TYPES, Kept.MIN_VALUES):
        return _NONE
    facts: dict[str, Field] = {"pricePerHour": candidate.price}
    best = cheapest_replacement(turns.situation, candidate)
    if best is not None:
        facts |= {"cheapest": best.instance_type, "cheapestPricePerHour": best.price, "nodePool": best.pool}
    if reason is Kept.SPOT_TYPES and best is not None:
        facts |= {"cheaperTypes": best.cheaper, "neededTypes": LEAST_SPOT_TYPES}
    if reason is Kept.MIN_VALUES:
        return tuple(_with_min_values(turns.situation)), (), facts
    return (), (), facts


def _with_min_values(situation: Situation) -> Iterator[Rule]:
    for pool in situation.setting.pools:
        for at, requirement in enumerate(pool.spec.template.spec.requirements):
            if requirement.min_values:
                path = text((*REQUIREMENTS, at, "minValues"))
                yield Rule(ref_of(pool), path, requirement.min_values, {"key": requirement.key})
