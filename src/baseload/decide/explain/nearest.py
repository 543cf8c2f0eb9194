"""The target that comes closest to taking a pod: the one that misses the fewest criteria, then by the smallest share.

What a target lacks is written as resource -> amount short, label key -> value that it would need, taint key -> the
taint that is not tolerated; what cannot be counted stands under the name of the field that bars the pod.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.catalog.masks import bits
from baseload.decide.explain.supply import Offer, Supply
from baseload.decide.fit.nodes import Host
from baseload.decide.fit.shape import FitPod
from baseload.decide.fit.taints import Toleration
from baseload.decide.fit.topology import GroupKind
from baseload.plan.provision import Nearest, PlannedClaim, ProvisionPlan, Rejection, Unschedulable
from baseload.plan.reason import Reason
from baseload.values import quantity
from baseload.values.label import HOSTNAME, INSTANCE_TYPE
from baseload.values.requirement import EMPTY, Requirement, Requirements
from baseload.values.resource import written
from baseload.values.taint import Taint

_TOPOLOGY: Final = {
    GroupKind.SPREAD: "maxSkew",
    GroupKind.INVERSE: "podAntiAffinity",
    GroupKind.ANTI_AFFINITY: "podAntiAffinity",
    GroupKind.AFFINITY: "podAffinity",
}
_OTHERWISE: Final = {
    Reason.TOPOLOGY: "topology",
    Reason.HOST_PORT: "hostPort",
    Reason.VOLUME_LIMIT: "volumes",
    Reason.MIN_VALUES: "minValues",
    Reason.RESERVED: "reserved capacity",
    Reason.NODE_LIMIT: "limits.nodes",
    Reason.OFFERING: "offering",
}
_MOST_CLAIMS: Final = 20
"""planned claims that are looked at: they are alike, and each has many types"""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far a target is from taking a pod."""

    lacking: dict[str, str]
    short: float  # sum of the shares that are missing of resources


def nearest(pod: FitPod, failed: Unschedulable, supply: Supply, plan: ProvisionPlan) -> Nearest | None:
    """None where no target was asked."""
    gaps = list(_gaps(pod, failed, supply, plan))
    if not gaps:
        return None
    target, gap = min(gaps, key=lambda entry: (len(entry[1].lacking), entry[1].short))
    return Nearest(target, gap.lacking)


def _gaps(pod: FitPod, failed: Unschedulable, supply: Supply, plan: ProvisionPlan) -> Iterator[tuple[str, Gap]]:
    offers = {offer.name: offer for offer in supply.offers}
    nodes = {host.name: host for host in supply.hosts}
    claims = {claim.name: claim for claim in plan.node_claims}
    asked = failed.rejections or [Rejection(f"nodePool/{name}", failed.reason, failed.message) for name in offers]
    for refusal in [*(r for r in asked if not _of_a_claim(r)), *[r for r in asked if _of_a_claim(r)][:_MOST_CLAIMS]]:
        kind, _, name = refusal.target.partition("/")
        if kind == "nodePool" and name in offers:
            yield refusal.target, _with_reason(_of_pool(pod, offers[name], supply, refusal), refusal)
        elif kind == "node" and name in nodes:
            yield refusal.target, _with_reason(_of_node(pod, nodes[name], supply), refusal)
        elif kind == "nodeClaim" and name in claims:
            claim = claims[name]
            yield refusal.target, _with_reason(_of_claim(pod, claim, offers[claim.node_pool], supply), refusal)


def _of_a_claim(refusal: Rejection) -> bool:
    return refusal.target.startswith("nodeClaim/")


def _with_reason(gap: Gap, refusal: Rejection) -> Gap:
    """The gap, with what the refusal names and counting does not see."""
    if refusal.reason == Reason.TOPOLOGY or not gap.lacking:
        word = _OTHERWISE.get(refusal.reason, str(refusal.reason))
        for kind, field in _TOPOLOGY.items():
            if refusal.reason == Reason.TOPOLOGY and f" for {kind.value}, key=" in refusal.message:
                word = field
                break
        return Gap({**gap.lacking, word: refusal.message.partition(" (")[0].rpartition("key=")[2]}, gap.short)
    return gap


def untolerated(taints: Sequence[Taint], tolerations: tuple[Toleration, ...]) -> list[Taint]:
    return [taint for taint in taints if not any(toleration.lifts(taint) for toleration in tolerations)]


def _of_node(pod: FitPod, host: Host, supply: Supply) -> Gap:
    lacking = {t.key: f"toleration of {t}" for t in untolerated(host.taints, supply.tolerations(pod))}
    held = Requirements.of_labels({**host.labels, HOSTNAME: host.hostname})
    lacking |= _labels(pod, held, allowed=())[0]
    short = {r: need - host.remaining.get(r, 0) for r, need in pod.requests.items() if need > host.remaining.get(r, 0)}
    short |= {r: -left for r, left in host.remaining.items() if left < 0 and r not in short}
    return _gap(lacking, short, pod.requests)


def _of_pool(pod: FitPod, offer: Offer, supply: Supply, refusal: Rejection) -> Gap:
    lacking = {t.key: f"toleration of {t}" for t in untolerated(offer.offer.taints, supply.tolerations(pod))}
    clashes, demand = _labels(pod, offer.offer.requirements, allowed=supply.sets.well_known)
    lacking |= clashes
    index = offer.offer.types
    joined = offer.offer.requirements.add(*(r for key, r in demand.items() if key not in clashes))
    mask = index.agreeing(joined) & index.offered(joined) & index.usable
    if not mask:
        mask = index.agreeing(offer.offer.requirements) & index.usable
        if not mask:
            return _gap({**lacking, INSTANCE_TYPE: "any: the requirements leave none"}, {}, pod.requests)
        if not clashes:
            lacking[INSTANCE_TYPE] = "one that meets all requirements at once"
    short = shortage(pod, offer, mask)
    if refusal.reason in (Reason.LIMITS, Reason.NODE_LIMIT) and not short:
        over = _over_limit(pod, offer, supply, mask)
        return Gap(lacking | over.lacking, over.short)
    return _gap(lacking, short, pod.requests)


def _of_claim(pod: FitPod, claim: PlannedClaim, offer: Offer, supply: Supply) -> Gap:
    lacking = {t.key: f"toleration of {t}" for t in untolerated(offer.offer.taints, supply.tolerations(pod))}
    lacking |= _labels(pod, Requirements.of(claim.requirements), allowed=supply.sets.well_known)[0]
    best: dict[str, int] | None = None
    asked = [(r, need + claim.requests.get(r, 0)) for r, need in pod.requests.items() if need]
    columns = [(r, need, offer.offer.types.table.allocatable.get(r)) for r, need in asked]
    for at in (offer.place_of_type[name] for name in claim.instance_types):
        short = {r: need - (a[at] if a else 0) for r, need, a in columns if need > (a[at] if a else 0)}
        if best is None or _rank(short, pod.requests) < _rank(best, pod.requests):
            best = short
    return _gap(lacking, best or {}, pod.requests)


def _labels(
    pod: FitPod, held: Requirements, *, allowed: frozenset[str] | tuple[()]
) -> tuple[dict[str, str], Requirements]:
    """The label keys on which a target misses what the pod demands, by the demand that comes closest."""
    best: tuple[dict[str, str], Requirements] | None = None
    for term in pod.constraints.required or (EMPTY,):
        for volume in pod.volumes or (EMPTY,):
            demand = pod.constraints.selector.add(term, volume)
            clashes = {
                key: _needed(wanted)
                for key, wanted in demand.items()
                if held.conflict(Requirements.of((wanted,)), allowed)
            }
            if best is None or len(clashes) < len(best[0]):
                best = clashes, demand
    assert best is not None
    return best


def _needed(wanted: Requirement) -> str:
    if wanted.operator == "In":
        return " or ".join(sorted(wanted.values))
    return str(wanted).removeprefix(f"{wanted.key} ")


def shortage(pod: FitPod, offer: Offer, mask: int) -> dict[str, int]:
    """What the best type is short of: fewest resources, then the smallest share."""
    best: dict[str, int] | None = None
    allocatable = offer.offer.types.table.allocatable
    for group in offer.groups:
        asked = {r: need + group.overhead.get(r, 0) for r, need in pod.requests.items() if need}
        columns = [(r, need, allocatable.get(r)) for r, need in asked.items()]
        for at in bits(group.types & mask):
            short = {r: need - (a[at] if a else 0) for r, need, a in columns if need > (a[at] if a else 0)}
            if best is None or _rank(short, pod.requests) < _rank(best, pod.requests):
                best = short
                if not short:
                    return {}
    return best or {}


def _over_limit(pod: FitPod, offer: Offer, supply: Supply, mask: int) -> Gap:
    """By how much the type that needs the least exceeds what is left of the limits."""
    table = offer.offer.types.table
    fitting = list(bits(offer.holding(pod.requests) & mask))
    none = (0,) * len(table)
    found: dict[str, str] = {}
    share = 0.0
    for resource, left in supply.limits_left(offer).items():
        capacity = table.capacity.get(resource, none)
        least = quantity.UNIT if resource == "nodes" else min((capacity[at] for at in fitting), default=0)
        if least > left:
            found[f"limits.{resource}"] = written(resource, least - left)
            share += min(1.0, (least - left) / max(least, 1))
    return Gap(found, share)


def _rank(short: Mapping[str, int], requests: Mapping[str, int]) -> tuple[int, float]:
    return len(short), _share(short, requests)


def _share(short: Mapping[str, int], requests: Mapping[str, int]) -> float:
    return sum(amount / max(requests.get(r, 0), amount, 1) for r, amount in short.items())


def _gap(lacking: dict[str, str], short: Mapping[str, int], requests: Mapping[str, int]) -> Gap:
    texts = {resource: written(resource, amount) for resource, amount in short.items()}
    return Gap(lacking | texts, _share(short, requests))
