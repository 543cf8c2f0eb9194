"""What a pass tells of nodes that it keeps, and of commands, as events (disruption and lifecycle spec 28.1).

The words are Karpenter's, as people look for them.
"""

from collections.abc import Iterator
from typing import Final

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.candidates import Candidate, Looked
from baseload.decide.disrupt.guards import Guards
from baseload.decide.disrupt.situation import Situation
from baseload.model.statenode import StateNode
from baseload.model.view import name_of
from baseload.plan.disrupt import Command, Kept, Method, Tried
from baseload.plan.lifecycle import Told
from baseload.values.duration import MINUTE
from baseload.values.label import CAPACITY_TYPE, NODEPOOL, ZONE

BLOCKED: Final = "DisruptionBlocked"
UNCONSOLIDATABLE: Final = "Unconsolidatable"
LONG_QUIET: Final = 15 * MINUTE
BUDGET_QUIET: Final = 1 * MINUTE
Event = tuple[StateNode, Told]
"""A node that is told, as Node and as NodeClaim"""

_OF_NODES: Final = {
    Kept.NO_NODE: "NodeClaim does not have an associated node",
    Kept.UNINITIALIZED: "Node isn't initialized",
    Kept.DELETING: "Node is deleting or marked for deletion",
    Kept.NOMINATED: "Node is nominated for a pending pod",
    Kept.NODE_MARK: 'Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation',
    Kept.NO_POOL_LABEL: f"Node doesn't have required label (label={NODEPOOL})",
}
_OF_MOVES: Final = {
    Kept.NOT_CHEAPER: "Can't replace with a cheaper node",
    Kept.SPOT_GATE: "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
}
_IN_ITS_WORDS: Final = frozenset({Kept.NO_PLACE, Kept.SEVERAL_NODES, Kept.SPOT_TYPES, Kept.MIN_VALUES})


def kept(situation: Situation) -> Iterator[Event]:
    """The nodes that no method may give up, or none but drift and expiry, and why."""
    guards = Guards(situation.view, situation.now)
    for looked in situation.looked:
        if looked.state.claim is None:
            continue
        if looked.candidate is None:
            yield from _blocked(looked)
        elif looked.candidate.held is not None:
            yield looked.state, Told(BLOCKED, _by_pods(looked.candidate, guards))
        else:
            yield from _unconsolidatable(situation, looked.candidate)


def tried(one: Tried, state: StateNode) -> Iterator[Event]:
    """A node that a method considered and kept."""
    if one.method is Method.DRIFT and one.reason is Kept.NO_PLACE:
        yield state, Told(BLOCKED, _sentence(one.message))
    elif one.method is Method.SINGLE_NODE:
        words = _OF_MOVES.get(one.reason) or (_sentence(one.message) if one.reason in _IN_ITS_WORDS else "")
        if words:
            yield state, Told(UNCONSOLIDATABLE, words, quiet=LONG_QUIET)


def no_budget(reason: str) -> Told:
    """What a NodePool is told whose budgets let no node go for a reason."""
    message = f"No allowed disruptions for disruption reason {reason} due to blocking budget"
    return Told(BLOCKED, message, quiet=BUDGET_QUIET, each_by_words=True)


def candidate(command: Command, node: str) -> Told:
    """What a node is told of a command that would replace it."""
    message = f"Consolidation candidate: {_named(command, node)} (savings: ${command.savings_per_hour:.2f})"
    return Told("ConsolidationCandidate", message)


def rejected(command: Command, node: str, why: str) -> Told:
    """What a node is told of a command that did not hold any more after its delay."""
    saves = f"(savings: ${command.savings_per_hour:.2f})"
    return Told("ConsolidationRejected", f"Consolidation rejected: {_named(command, node)}, reason: {why} {saves}")


def launching(reason: str) -> Told:
    return Told("DisruptionLaunching", f"Launching NodeClaim: {reason}")


def waiting() -> Told:
    return Told("DisruptionWaitingReadiness", "Waiting on readiness to continue disruption")


def terminating(what: str, reason: str) -> Told:
    """`what` is Node or NodeClaim."""
    return Told("DisruptionTerminating", f"Disrupting {what}: {reason}")


def decision(command: Command) -> str:
    """Karpenter's word for what a command does."""
    return "replace" if command.replacements else "delete"


def words(command: Command) -> str:
    """A command in a line."""
    nodes = ", ".join(one.node for one in command.candidates)
    pools = ",".join(dict.fromkeys(one.node_pool for one in command.candidates))
    count = len(command.replacements)
    launches = f" -> [{count} replacement{'s' if count > 1 else ''}]" if count else ""
    saves = f"(savings: ${command.savings_per_hour:.2f})"
    return f"{command.reason}: {decision(command)}: nodepools=[{pools}]: [{nodes}]{launches} {saves}"


def _named(command: Command, node: str) -> str:
    if len(command.candidates) == 1:
        return words(command)
    return f"{decision(command)}: [{node}] (part of {len(command.candidates)}-node consolidation)"


def _blocked(looked: Looked) -> Iterator[Event]:
    assert looked.block is not None
    reason = looked.block[0]
    if reason is Kept.NO_POOL:
        yield looked.state, Told(BLOCKED, f"NodePool not found (NodePool={looked.state.pool})")
    elif reason in _OF_NODES:
        yield looked.state, Told(BLOCKED, _OF_NODES[reason])


def _by_pods(held: Candidate, guards: Guards) -> str:
    assert held.held is not None
    reason, _, name = held.held
    if reason is Kept.POD_MARK:
        return f'Pod has "karpenter.sh/do-not-disrupt" annotation (Pod={name})'
    pod = next(pod for pod in held.pods if name_of(pod) == name)
    budgets = " ".join(name_of(budget) for budget in guards.matching(pod))
    if reason is Kept.SEVERAL_BUDGETS:
        return f"Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[{budgets}])"
    return f"Pdb prevents pod evictions (PodDisruptionBudget=[{budgets}])"


def _unconsolidatable(situation: Situation, one: Candidate) -> Iterator[Event]:
    block = (
        filters.emptiness(one, buffered=one.name in situation.buffered) if one.is_empty else filters.consolidation(one)
    )
    if block is None:
        return
    match block[0]:
        case Kept.UNKNOWN_TYPE:
            message = f'Instance Type "{one.instance_type}" not found'
        case Kept.LABEL:
            key = next(key for key in (CAPACITY_TYPE, ZONE) if not one.state.labels.get(key))
            message = f'Node does not have label "{key}"'
        case Kept.NEVER:
            message = f'NodePool "{one.pool_name}" has consolidation disabled'
        case Kept.POLICY:
            message = f'NodePool "{one.pool_name}" has consolidation policy WhenEmpty, but node is not empty'
        case Kept.BUFFERED:
            message = f'Node "{one.name}" has buffer pods'
        case _:
            return
    yield one.state, Told(UNCONSOLIDATABLE, message, quiet=LONG_QUIET)


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]
