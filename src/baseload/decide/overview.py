"""What a node viewer shows: every node with what its pods ask for, NodeClaims without a node, pods without one.

A node is filled by what its pods request, as schedulers count, not by what they use. A NodeClaim counts as coming until
its Node is there. States are the ones that people look for: what ends, then what is wrong, then what is not done yet.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, Protocol

from baseload.kube.types.core import Node, Pod
from baseload.kube.types.karpenter import NodeClaim
from baseload.kube.types.meta import Condition, ObjectMeta
from baseload.model import requests
from baseload.model.requests import Amounts
from baseload.model.statenode import INITIALIZED, is_deleting
from baseload.model.view import View, is_terminal
from baseload.plan.overview import NodeRow, Overview, PodRow, PoolRow
from baseload.values import instant
from baseload.values.label import CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL, REGION, ZONE
from baseload.values.quantity import QuantityError
from baseload.values.selector import Selector

Sort = Literal["name", "price", "age", "cpu", "memory"]

_DISRUPTED: Final = "karpenter.sh/disrupted"
_GROUP_CAPACITY: Final = "eks.amazonaws.com/capacityType"  # of managed node groups: ON_DEMAND, SPOT
_GROUP_NAME: Final = "eks.amazonaws.com/nodegroup"
_INFINITE: Final = float("inf")


class Prices(Protocol):
    """What machines cost."""

    def __call__(self, *, region: str, zone: str, instance_type: str, capacity_type: str) -> tuple[float | None, bool]:
        """Dollars an hour, None where they are not known; and whether that is an estimate."""
        ...


def overview(
    view: View,
    now: int,
    prices: Prices,
    *,
    selector: Selector | None = None,
    sort: Sort = "name",
) -> Overview:
    """The cluster at a moment; of nodes and NodeClaims those that a selector means."""
    by_node: dict[str, list[PodRow]] = {}
    pending: list[PodRow] = []
    counts: Counter[str] = Counter()
    for pod in view.pods:
        row = _pod(pod)
        counts[row.state] += 1
        if is_terminal(pod):
            continue
        if pod.spec.node_name:
            by_node.setdefault(pod.spec.node_name, []).append(row)
        else:
            pending.append(row)
    claims = {claim.status.provider_id: claim for claim in view.node_claims if claim.status.provider_id}
    paired = [(node, claims.pop(node.spec.provider_id, None)) for node in view.nodes]
    joined = {claim.metadata.name for _, claim in paired if claim is not None}
    rows = [
        _node(node, claim, by_node.get(node.metadata.name, ()), prices)
        for node, claim in paired
        if _is_meant(node.metadata, selector)
    ]
    coming = [
        _coming(claim, prices)
        for claim in view.node_claims
        if claim.metadata.name not in joined and _is_meant(claim.metadata, selector)
    ]
    return Overview(
        now,
        tuple(sorted(rows, key=_order(sort))),
        tuple(sorted(coming, key=_order(sort))),
        tuple(sorted(pending, key=lambda pod: (pod.created or 0, pod.name))),
        _pools(view),
        {state: counts[state] for state in sorted(counts)},
    )


def _is_meant(metadata: ObjectMeta, selector: Selector | None) -> bool:
    return selector is None or selector.matches(metadata.labels)


def _order(sort: Sort) -> Callable[[NodeRow], tuple[float, str]]:
    """The dearest, the fullest and the youngest come first; equals by name."""

    def key(row: NodeRow) -> tuple[float, str]:
        if sort == "price":
            return -(row.price_per_hour or 0.0), row.name
        if sort == "age":
            return (_INFINITE if row.created is None else -row.created), row.name
        return (0.0 if sort == "name" else -row.fill(sort)), row.name

    return key


def _node(node: Node, claim: NodeClaim | None, pods: Iterable[PodRow], prices: Prices) -> NodeRow:
    allocatable = _amounts(node.status.allocatable) or (_amounts(claim.status.allocatable) if claim else {})
    state, reason = _state(node, claim)
    held = tuple(sorted(pods, key=lambda pod: pod.name))
    return _row(node.metadata, claim, state, reason, allocatable, held, prices)


def _coming(claim: NodeClaim, prices: Prices) -> NodeRow:
    state, reason = _state_of_claim(claim)
    return _row(claim.metadata, claim, state, reason, _amounts(claim.status.allocatable), (), prices)


def _row(
    metadata: ObjectMeta,
    claim: NodeClaim | None,
    state: str,
    reason: str,
    allocatable: Amounts,
    pods: tuple[PodRow, ...],
    prices: Prices,
) -> NodeRow:
    labels = metadata.labels
    total: Amounts = {}
    for pod in pods:
        requests.add(total, pod.requests)
    capacity_type = labels.get(CAPACITY_TYPE) or labels.get(_GROUP_CAPACITY, "").lower().replace("_", "-")
    price, estimated = prices(
        region=labels.get(REGION, ""),
        zone=labels.get(ZONE, ""),
        instance_type=labels.get(INSTANCE_TYPE, ""),
        capacity_type=capacity_type,
    )
    return NodeRow(
        name=metadata.name,
        claim=claim.metadata.name if claim else "",
        state=state,
        reason=reason,
        node_pool=labels.get(NODEPOOL) or labels.get(_GROUP_NAME, ""),
        instance_type=labels.get(INSTANCE_TYPE, ""),
        zone=labels.get(ZONE, ""),
        capacity_type=capacity_type,
        price_per_hour=price,
        estimated=estimated,
        created=_moment(metadata.creation_timestamp),
        requests=total,
        allocatable=allocatable,
        pods=pods,
    )


def _state(node: Node, claim: NodeClaim | None) -> tuple[str, str]:
    ready = _condition(node.status.conditions, "Ready")
    if node.metadata.deletion_timestamp or (claim is not None and is_deleting(claim)):
        return "Terminating", ""
    if any(taint.key == _DISRUPTED for taint in node.spec.taints):
        return "Disrupted", ""
    if ready is None or ready.status != "True":
        state = "Unknown" if ready is not None and ready.status == "Unknown" else "NotReady"
        return state, ready.reason if ready is not None else ""
    if node.spec.unschedulable:
        return "Cordoned", ""
    if claim is not None and node.metadata.labels.get(INITIALIZED) != "true":
        waits = _condition(claim.status.conditions, "Initialized")
        return "Initializing", waits.reason if waits is not None else ""
    return "Ready", ""


def _state_of_claim(claim: NodeClaim) -> tuple[str, str]:
    if is_deleting(claim):
        return "Terminating", ""
    for type, state in (("Launched", "Launching"), ("Registered", "Booting")):
        condition = _condition(claim.status.conditions, type)
        if condition is None or condition.status != "True":
            says = condition is not None and condition.reason not in ("", "AwaitingReconciliation", type)
            return state, condition.reason if says and condition is not None else ""
    return "NodeGone", ""


def _pod(pod: Pod) -> PodRow:
    scheduled = _condition(pod.status.conditions, "PodScheduled")
    waits = scheduled is not None and scheduled.status != "True" and not pod.spec.node_name
    return PodRow(
        name=f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}",
        state=_state_of_pod(pod),
        reason=(scheduled.message or scheduled.reason) if waits and scheduled is not None else "",
        created=_moment(pod.metadata.creation_timestamp),
        requests=requests.of_pod(pod),
    )


def _state_of_pod(pod: Pod) -> str:
    if pod.metadata.deletion_timestamp:
        return "Terminating"
    phase = pod.status.phase or "Pending"
    if phase == "Pending" and pod.spec.node_name:
        return "Starting"
    if phase == "Running":
        ready = _condition(pod.status.conditions, "Ready")
        return "Running" if ready is None or ready.status == "True" else "NotReady"
    return phase


def _pools(view: View) -> tuple[PoolRow, ...]:
    nodes = Counter(node.labels.get(NODEPOOL, "") for node in view.state_nodes)
    return tuple(
        PoolRow(
            pool.metadata.name,
            nodes[pool.metadata.name],
            _amounts(pool.status.resources),
            _amounts(pool.spec.limits),
        )
        for pool in sorted(view.node_pools, key=lambda pool: pool.metadata.name)
    )


def _condition(conditions: Iterable[Condition], type: str) -> Condition | None:
    return next((condition for condition in conditions if condition.type == type), None)


def _amounts(written: Mapping[str, str | int | float]) -> Amounts:
    """Amounts as numbers; nothing where one is none."""
    try:
        return requests.amounts(dict(written))
    except QuantityError:
        return {}


def _moment(text: str) -> int | None:
    try:
        return instant.parse(text)
    except ValueError:
        return None
