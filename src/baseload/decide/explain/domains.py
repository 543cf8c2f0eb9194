"""Why a spread holds a pod back: the domains that count least and pin the others, and why nothing there takes the pod.

A domain counts although the pod can never use it: by default taints are not looked at when domains are counted, and a
pool that the pod cannot use lends its zones all the same.
"""

from collections.abc import Iterator, Mapping

from baseload.decide.explain.demands import Case
from baseload.decide.explain.supply import Supply
from baseload.decide.fit.constraints import Spread
from baseload.decide.fit.groups import CountedNode
from baseload.decide.fit.shape import FitPod
from baseload.decide.fit.taints import tolerated
from baseload.decide.fit.topology import NodeFilter
from baseload.decide.provision import hosts
from baseload.model.view import View, name_of
from baseload.plan.provision import ProvisionPlan, Rejection
from baseload.plan.reason import Reason
from baseload.values.label import HOSTNAME
from baseload.values.requirement import EMPTY

_MOST_DOMAINS = 4


def blocked(case: Case, view: View, supply: Supply, plan: ProvisionPlan) -> Iterator[str]:
    """A sentence for each domain that holds a hard spread of the pod back and takes no pod itself."""
    reading = supply.reading(case.pod)
    nodes = hosts.counted_nodes(view, hosts.offered(view))
    for spread in reading.constraints.spread:
        if not spread.hard or spread.key == HOSTNAME:
            continue
        counts = _counts(reading, spread, nodes, view, supply, plan)
        if not counts:
            continue
        least = min(counts.values())
        if spread.min_domains is not None and len(counts) < spread.min_domains:
            reached = f"{len(counts)} of minDomains {spread.min_domains} are there"
            yield f"only {reached}, so the smallest count is taken as 0"
            continue
        for domain in [d for d in sorted(counts) if counts[d] == least][:_MOST_DOMAINS]:
            why = _why_unusable(case, spread.key, domain, nodes, supply)
            if why is not None:
                held = f"so others hold at most {least + spread.max_skew} (maxSkew {spread.max_skew})"
                yield f"{spread.key}={domain} counts {least}, {held}, yet it cannot be used: {why}"


def _counts(
    reading: FitPod,
    spread: Spread,
    nodes: Mapping[str, CountedNode],
    view: View,
    supply: Supply,
    plan: ProvisionPlan,
) -> dict[str, int]:
    """Matching pods by domain, as the spread counts them once the plan is carried out."""
    strict = reading.constraints.selector
    filter_ = NodeFilter(
        honor_taints=spread.honor_taints,
        honor_affinity=spread.honor_affinity,
        tolerations=reading.constraints.tolerations,
        alternatives=tuple(strict.add(term) for term in reading.constraints.required or (EMPTY,)),
    )
    counts: dict[str, int] = {}
    for offer in supply.offers:
        if not spread.honor_taints or tolerated(offer.offer.taints, reading.constraints.tolerations):
            counts |= dict.fromkeys(offer.domains(spread.key), 0)
    where = {n.name: n.labels[spread.key] for n in nodes.values() if spread.key in n.labels and _counts_on(n, filter_)}
    counts |= {where[n.name]: 0 for n in nodes.values() if n.registers and n.name in where}
    for claim in plan.node_claims:
        chosen = {r.key: r for r in claim.requirements}.get(spread.key)
        if chosen is not None and not chosen.complement and len(chosen.values) == 1:
            where[claim.name] = next(iter(chosen.values))
    places = {p.pod: p.node or p.node_claim or "" for p in plan.placements}
    for pod in view.pods:
        at = where.get(places.get(name_of(pod)) or pod.spec.node_name)
        if at is None or pod.metadata.namespace != reading.namespace or pod.metadata.deletion_timestamp:
            continue
        if spread.selector is None or spread.selector.matches(pod.metadata.labels):
            counts[at] = counts.get(at, 0) + 1
    reach = reading.constraints.strict.get(spread.key)
    return counts if reach is None else {domain: n for domain, n in counts.items() if reach.has(domain)}


def _counts_on(node: CountedNode, filter_: NodeFilter) -> bool:
    return filter_.matches(node.taints, node.requirements)


def _why_unusable(case: Case, key: str, domain: str, nodes: Mapping[str, CountedNode], supply: Supply) -> str | None:
    """Why no target in a domain takes the pod; None where one might."""
    refused = {r.target: r for r in case.failed.rejections}
    told: list[str] = []
    for offer in supply.offers:
        refusal = refused.get(f"nodePool/{offer.name}")
        if refusal is None:
            continue
        if domain in offer.domains(key):
            if refusal.reason == Reason.TOPOLOGY:
                return None
            told.append(f"NodePool {offer.name}: {_brief(refusal)}")
        elif refusal.reason == Reason.TOPOLOGY:
            told.append(f"NodePool {offer.name} serves only {', '.join(sorted(offer.domains(key))) or 'none'}")
    for node in nodes.values():
        refusal = refused.get(f"node/{node.name}")
        if node.labels.get(key) == domain and refusal is not None:
            if refusal.reason == Reason.TOPOLOGY:
                return None
            told.append(f"node {node.name}: {_brief(refusal)}")
    return "; ".join(told) or None


def _brief(refusal: Rejection) -> str:
    return refusal.message.partition(" (")[0]
