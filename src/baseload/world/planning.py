"""From inputs to a plan: the decision, and what the input itself adds to it."""

from collections.abc import Iterator
from dataclasses import replace

from baseload.decide.provision import decide
from baseload.kube.bulk import paused_gc
from baseload.model.real_use import ANNOTATION, daemon_memory
from baseload.plan.provision import ProvisionPlan
from baseload.report.amounts import amount
from baseload.report.table import few, fold
from baseload.world.files import Inputs


def provision(inputs: Inputs) -> ProvisionPlan:
    """What one provisioning pass on these inputs would do."""
    with paused_gc():
        plan = decide.provision(inputs.view, inputs.tables, inputs.options)
    return replace(plan, expanded=inputs.expanded, notes=(*plan.notes, *_gap(inputs, plan)))


def _gap(inputs: Inputs, plan: ProvisionPlan) -> Iterator[str]:
    """What daemons use beyond their requests, and the planned nodes that this overfills."""
    memory = daemon_memory(inputs.view)
    if memory.gap <= 0:
        return
    requested, used, gap = (amount("memory", nanos) for nanos in (memory.requested, memory.used, memory.gap))
    yield (
        f"daemons request {requested} of memory a node and use {used} ({ANNOTATION}): "
        f"{gap} a node that the plan does not count"
    )
    full: dict[tuple[str, str, str], list[str]] = {}
    for claim in plan.node_claims:
        really, of = claim.requests.get("memory", 0) + memory.gap, claim.allocatable.get("memory", 0)
        if really > of:
            key = claim.instance_type, amount("memory", really), amount("memory", of)
            full.setdefault(key, []).append(claim.name)
    lines = [
        f"in truth {fold(names)} ({kind}) would have to hold {really} and has {of}"
        for (kind, really, of), names in full.items()
    ]
    yield from few(lines)
