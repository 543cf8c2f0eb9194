"""What is given up without asking anybody: interrupted, expired, unwell, or without an instance (spec 24, 26).

Each of them ends a NodeClaim and launches nothing first. The price of its node is not saved, as most of its pods need
another one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt import costs
from baseload.decide.lifecycle import expiration, garbage, interruption, repair
from baseload.decide.lifecycle.garbage import Held
from baseload.decide.lifecycle.repair_policies import policies_of
from baseload.decide.provision.options import Options
from baseload.decide.provision.pools import PROVIDERS
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.view import View
from baseload.plan.disrupt import Candidate, Command, Method, Offering
from baseload.values.label import INSTANCE_TYPE, NODEPOOL

EXPIRED = "Expired"
UNHEALTHY = "Unhealthy"
GARBAGE = "garbage_collected"


@dataclass(frozen=True, slots=True)
class Forced:
    """The NodeClaims that end, each with the first reason that was found; and the offerings that are shut."""

    reasons: dict[str, str] = field(default_factory=dict)
    offerings: tuple[Offering, ...] = ()


def forced(view: View, options: Options) -> Forced:
    """What the forceful controllers would do, run once at `options.now`."""
    reasons: dict[str, str] = {}
    offerings: dict[Offering, None] = {}
    claims = ours(view)
    nodes = by_provider_id(view)
    for found in (
        _interrupted(claims, options, offerings),
        _expired(claims, options),
        _unwell(view, claims, nodes, options),
        _without_instance(claims, nodes, options),
    ):
        for claim, reason in found:
            if not claim.metadata.deletion_timestamp:
                reasons.setdefault(claim.metadata.name, reason)
    return Forced(reasons, tuple(offerings))


def ours(view: View) -> tuple[NodeClaim, ...]:
    """The claims of providers that are known here; others are left alone."""
    return tuple(
        claim
        for claim in view.node_claims
        if (claim.spec.node_class_ref.group, claim.spec.node_class_ref.kind) in PROVIDERS
    )


def by_provider_id(view: View) -> Mapping[str, list[Node]]:
    """provider ID -> the Nodes that have it"""
    found: dict[str, list[Node]] = {}
    for node in view.nodes:
        if node.spec.provider_id:
            found.setdefault(node.spec.provider_id, []).append(node)
    return found


def commands_of(
    view: View, reasons: Mapping[str, str], tables: Mapping[str, InstanceTypes], now: int
) -> tuple[Command, ...]:
    """The end of claims as commands, one each, by name."""
    nodes, claims = by_provider_id(view), {claim.metadata.name: claim for claim in ours(view)}
    return tuple(
        Command(reason, Method.FORCEFUL, (_candidate(view, claims[name], nodes, tables, now),))
        for name, reason in sorted(reasons.items())
    )


def _candidate(
    view: View, claim: NodeClaim, nodes: Mapping[str, list[Node]], tables: Mapping[str, InstanceTypes], now: int
) -> Candidate:
    found = nodes.get(claim.status.provider_id)
    name = found[0].metadata.name if found else claim.status.node_name
    labels, pods = claim.metadata.labels, view.pods_on.get(name, ())
    pool = labels.get(NODEPOOL, "")
    return Candidate(
        node=name or claim.metadata.name,
        node_claim=claim.metadata.name,
        node_pool=pool,
        disruption_cost=costs.of_disruption(pods, claim, now),
        price_per_hour=costs.of_node(labels, tables.get(pool)) or 0.0,
        instance_type=labels.get(INSTANCE_TYPE, ""),
    )


_Found = Iterator[tuple[NodeClaim, str]]


def _interrupted(claims: tuple[NodeClaim, ...], options: Options, offerings: dict[Offering, None]) -> _Found:
    """What messages of the queue end; an offering is shut although its claim ends already."""
    by_instance: dict[str, list[NodeClaim]] = {}
    for claim in claims:
        by_instance.setdefault(claim.status.provider_id.rpartition("/")[2], []).append(claim)
    for body in options.interruption_messages:
        notice = interruption.notice_of(body)
        if notice is None:
            continue
        for claim in (it for id in notice.instances if id for it in by_instance.get(id, ())):
            shut = interruption.refused(claim, notice.kind)
            if shut is not None:
                offerings[Offering(*shut)] = None
            if interruption.ends(notice.kind):
                yield claim, notice.kind


def _expired(claims: tuple[NodeClaim, ...], options: Options) -> _Found:
    assert options.now is not None
    return ((claim, EXPIRED) for claim in claims if expiration.is_expired(claim, options.now))


def _unwell(view: View, claims: tuple[NodeClaim, ...], nodes: Mapping[str, list[Node]], options: Options) -> _Found:
    """Claims whose nodes have been unwell for too long, unless too many are."""
    assert options.now is not None
    if not options.gate("NodeRepair"):
        return
    for claim in claims:
        for node in nodes.get(claim.status.provider_id, ())[:1]:
            asked = options.repair_policies
            policies = policies_of(claim.spec.node_class_ref) if asked is None else asked
            at = repair.repaired_at(node, policies)
            if at is None or options.now < at:
                continue
            pool = claim.metadata.labels.get(NODEPOOL)
            among = (it for it in view.nodes if pool is None or it.metadata.labels.get(NODEPOOL) == pool)
            if not repair.is_held_back(among, policies):
                yield claim, UNHEALTHY


def _without_instance(claims: tuple[NodeClaim, ...], nodes: Mapping[str, list[Node]], options: Options) -> _Found:
    """Claims whose instance is not among those that still exist, where that is known."""
    if options.cloud_instances is None:
        return iter(())
    held = [Held(id.rpartition("/")[2], id, 0, "", False) for id in sorted(options.cloud_instances)]
    return ((claim, GARBAGE) for claim in garbage.claims_without_instance(claims, nodes, held))
