"""One pod's story: its place in the plan, and what planning again without that place would give.

Why the nodes that are there did not take a pod for which one is launched is found by planning without any NodePool:
then those nodes alone are tried, and each says why not. What else was open is found by planning without the NodePool
that took it, or with the node that took it closed.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from msgspec.structs import replace as with_fields

from baseload.catalog.columns import InstanceTypes
from baseload.decide.explain import explain
from baseload.decide.provision import decide
from baseload.kube.types.core import Node, Pod
from baseload.kube.types.meta import Taint
from baseload.model import requests
from baseload.model.asks import asks
from baseload.model.view import View, is_terminal, name_of
from baseload.plan.provision import Placement, ProvisionPlan, Rejection
from baseload.plan.story import Alternative, Ask, PodStory
from baseload.values.errors import BadInput, Fault
from baseload.world.files import Inputs

_CLOSED: Final = Taint(key="baseload.dev/closed", effect="NoSchedule")


def find(inputs: Inputs, name: str) -> Pod:
    """The pod of that name, `namespace/name` or a name in namespace default; made pods count."""
    full = name if "/" in name else f"default/{name}"
    found = next((pod for pod in inputs.view.pods if name_of(pod) == full), None)
    if found is not None:
        return found
    near = _nearest(full, [name_of(pod) for pod in inputs.view.pods])
    allowed = f"the nearest: {', '.join(near)}" if near else ""
    raise BadInput([Fault(f'there is no pod "{full}" in the input', allowed=allowed)])


def _nearest(full: str, names: Iterable[str]) -> list[str]:
    known = list(dict.fromkeys(names))
    same_name = [name for name in known if name.partition("/")[2] == full.partition("/")[2]]
    return list(dict.fromkeys([*same_name, *difflib.get_close_matches(full, known, n=3)]))[:3]


def story(inputs: Inputs, plan: ProvisionPlan, pod: Pod) -> PodStory:
    """All there is to tell of a pod."""
    name = name_of(pod)
    told = PodStory(
        pod=name,
        phase=pod.status.phase or ("Running" if pod.spec.node_name else "Pending"),
        workload=inputs.workload_of(name),
        requests=requests.of_pod(pod),
        asks=tuple(Ask(path, text) for path, text in asks(pod)),
        runs_on=pod.spec.node_name or None,
        unschedulable=explain.explain_pod(
            name,
            inputs.view,
            inputs.tables,
            inputs.options,
            plan,
            place_of=inputs.place_of,
            retabled=inputs.tables_for,
        ),
    )
    placement = _placement(plan, name)
    if placement is None or is_terminal(pod):
        return told
    if placement.node is not None:
        closed = replace(inputs.view, nodes=tuple(_closed(n, placement.node) for n in inputs.view.nodes))
        other = _alternative(inputs, closed, inputs.tables, name, f"node/{placement.node}")
        return replace(told, node=placement.node, alternative=other)
    claim = next(claim for claim in plan.node_claims if claim.name == placement.node_claim)
    on_nodes = decide.provision(inputs.view, {}, inputs.options)
    tables = {pool: table for pool, table in inputs.tables.items() if pool != claim.node_pool}
    return replace(
        told,
        claim=claim,
        refusals=_refusals(on_nodes, name, "node/"),
        alternative=_alternative(inputs, inputs.view, tables, name, f"nodePool/{claim.node_pool}"),
    )


def _alternative(
    inputs: Inputs, view: View, tables: Mapping[str, InstanceTypes], name: str, without: str
) -> Alternative:
    plan = decide.provision(view, tables, inputs.options)
    placement = _placement(plan, name)
    if placement is None:
        return Alternative(without, rejections=_refusals(plan, name, "nodePool/"))
    claim = next((claim for claim in plan.node_claims if claim.name == placement.node_claim), None)
    return Alternative(without, placement.node, claim)


def _placement(plan: ProvisionPlan, name: str) -> Placement | None:
    return next((placement for placement in plan.placements if placement.pod == name), None)


def _refusals(plan: ProvisionPlan, name: str, targets: str) -> tuple[Rejection, ...]:
    failed = next((u for u in plan.unschedulable if u.pod == name), None)
    return tuple(r for r in failed.rejections if r.target.startswith(targets)) if failed else ()


def _closed(node: Node, name: str) -> Node:
    if node.metadata.name != name:
        return node
    return with_fields(node, spec=with_fields(node.spec, taints=(*node.spec.taints, _CLOSED)))
