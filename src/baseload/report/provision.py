"""The provisioning plan as a person reads it: nodes and what they cost first, then every pod that has no place.

Nodes of one type, zone and price are one line with a count, and so are pods that fail for the same reason: a plan of
four thousand nodes is a screen, not four thousand lines. `wide` gives every node and pod its own line, and every
rejection.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from baseload.plan.encode import runner_up
from baseload.plan.provision import Demand, Fix, Nearest, PlannedClaim, ProvisionPlan, Unschedulable
from baseload.report import amounts
from baseload.report.table import columns, counted, few, fold, folded

_ALWAYS: Final = ("cpu", "memory", "pods")
_ON_A_LINE: Final = 6  # folded names of pods
_COMPARES: Final = {"Gt": ">", "Gte": ">=", "Lt": "<", "Lte": "<=", "minValues": "minValues"}
_LEGEND: Final = "~ estimated price"
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./-]*")
_QUANTITY: Final = re.compile(r"\.(requests|limits|overhead)\b")  # a number will do there as well as a string
_NO_STRING: Final = re.compile(  # what YAML reads as a truth value, nothing, a number or a date
    r"true|false|yes|no|on|off|y|n|null|[-+]?\.(inf|nan)|[-+.\d][-+.\d_]*(e[-+]?\d+)?|0[xo][\da-f_]+|0b[01_]+",
    re.IGNORECASE,
)
Lines = Iterator[str]


def render(plan: ProvisionPlan, *, wide: bool = False) -> str:
    """The whole report."""
    sections = (
        nodes(plan, wide=wide),
        _existing(plan, wide),
        _unschedulable(plan, wide),
        _static_pools(plan),
        _buffers(plan),
        _expanded(plan, wide),
        (f"note: {note}" for note in plan.notes),
    )
    texts = ["\n".join(lines) for lines in sections]
    return "\n\n".join(text for text in texts if text) + "\n"


@dataclass(frozen=True, slots=True)
class _Group:
    """Nodes that are one line."""

    claims: tuple[PlannedClaim, ...]

    @property
    def first(self) -> PlannedClaim:
        return self.claims[0]

    @property
    def names(self) -> str:
        if len(self.claims) == 1:
            return self.first.name
        return f"{len(self.claims)} x {self.first.node_pool}"


def nodes(plan: ProvisionPlan, *, wide: bool = False) -> Lines:
    """What is launched, and the totals."""
    claims = plan.node_claims
    if not claims:
        yield f"No node is launched: {_outcome(plan)}."
        return
    yield f"{counted(len(claims), 'node')} to launch: {_outcome(plan)}."
    yield ""
    groups = [_Group((claim,)) for claim in claims] if wide else list(_groups(claims))
    resources = _resources(claims)
    header = ("NODE", "TYPE", "ZONE", "CAPACITY", "$/HOUR", "PODS", *map(_heading, resources), "BINDS", "NEXT BEST")
    rows = [_row(group, resources) for group in groups]
    lines = columns(header, rows, right=frozenset(range(4, 6 + len(resources))))
    yield lines[0]
    for line, group in zip(lines[1:], groups, strict=True):
        yield line
        for names in few(_pods(group.claims, wide), most=3, wide=wide):
            yield f"    {names}"
    yield ""
    total, estimated = plan.price_per_hour, any(claim.estimated for claim in claims)
    guessed = estimated or any(second[2] for claim in claims if (second := runner_up(claim)) is not None)
    legend = f"  ({_LEGEND})" if guessed else ""
    yield (
        f"Total: {amounts.price(total, estimated=estimated)} an hour, "
        f"{amounts.month(total, estimated=estimated)} a month of {amounts.HOURS_A_MONTH} hours{legend}"
    )


def _outcome(plan: ProvisionPlan) -> str:
    if not plan.pods and not plan.unschedulable:
        return "no pod is pending"
    on_nodes = sum(placement.node is not None for placement in plan.placements)
    parts = [f"{counted(len(plan.placements), 'pod')} placed"]
    if on_nodes:
        parts.append(f"{on_nodes} of them on nodes that are there")
    if plan.unschedulable:
        parts.append(f"{len(plan.unschedulable)} without a place")
    return ", ".join(parts)


def _groups(claims: Iterable[PlannedClaim]) -> Iterator[_Group]:
    found: dict[tuple[object, ...], list[PlannedClaim]] = {}
    for claim in claims:
        key = (claim.node_pool, claim.instance_type, claim.zone, claim.capacity_type, claim.price_per_hour)
        found.setdefault((*key, claim.estimated, claim.binding, runner_up(claim)), []).append(claim)
    return (_Group(tuple(group)) for group in found.values())


def _resources(claims: Sequence[PlannedClaim]) -> list[str]:
    """The resources that get a column: the usual ones, and what else fills a node to a noticeable share."""
    others = {r for claim in claims for r, share in claim.fill.items() if share >= 0.005 and r not in _ALWAYS}
    return [*_ALWAYS, *sorted(others)]


def _heading(resource: str) -> str:
    return "SLOTS" if resource == "pods" else resource.upper()


def _row(group: _Group, resources: Sequence[str]) -> tuple[str, ...]:
    first = group.first
    return (
        group.names,
        first.instance_type,
        first.zone,
        first.capacity_type,
        amounts.price(first.price_per_hour, estimated=first.estimated),
        amounts.numbers(len(claim.pods) for claim in group.claims),
        *(amounts.shares(claim.fill.get(resource, 0.0) for claim in group.claims) for resource in resources),
        _binding(group),
        _next_best(first),
    )


def _binding(group: _Group) -> str:
    """The resource that fills first, and how full it is where it is one node or several equal ones."""
    first, resource = group.first, group.first.binding
    used, of = first.requests.get(resource, 0), first.allocatable.get(resource, 0)
    if any(claim.requests.get(resource, 0) != used for claim in group.claims):
        return resource
    return f"{resource} {amounts.amount(resource, used)} of {amounts.amount(resource, of)}"


def _next_best(claim: PlannedClaim) -> str:
    second = runner_up(claim)
    if second is None:
        return "none"
    return f"{second[0]} {amounts.price(second[1], estimated=second[2])}"


def _pods(claims: Sequence[PlannedClaim], wide: bool) -> list[str]:
    names = sorted((pod for claim in claims for pod in claim.pods), key=_by_number)
    parts = folded(names, wide=wide)
    return parts if len(parts) > _ON_A_LINE and not wide else [", ".join(parts)]


def _by_number(name: str) -> tuple[str, int]:
    """Names in the order in which a person counts: x2 before x10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def _existing(plan: ProvisionPlan, wide: bool) -> Lines:
    """Pods that go to nodes that are there."""
    found: dict[str, list[str]] = {}
    for placement in plan.placements:
        if placement.node is not None:
            found.setdefault(placement.node, []).append(placement.pod)
    if not found:
        return
    yield "Placed on nodes that are there:"
    lines = columns(
        ("NODE", "PODS", ""),
        [(node, str(len(p)), fold(sorted(p, key=_by_number), wide=wide)) for node, p in found.items()],
        frozenset({1}),
    )
    yield from (f"  {line}" for line in (lines[0], *few(lines[1:], most=20, wide=wide)))


def _unschedulable(plan: ProvisionPlan, wide: bool) -> Lines:
    failed = plan.unschedulable
    if not failed:
        return
    yield f"{counted(len(failed), 'pod')} without a place:"
    groups = [(pod.pod,) for pod in failed] if wide else list(_equal(failed))
    by_name = {pod.pod: pod for pod in failed}
    for names in groups if wide else groups[:20]:
        yield ""
        yield from reasons(by_name[names[0]], names, wide=wide)
    if not wide and len(groups) > 20:
        yield ""
        yield f"… and {len(groups) - 20} more kinds of failure (-v lists all)"


def _equal(failed: Sequence[Unschedulable]) -> Iterator[tuple[str, ...]]:
    """Names of pods that fail in the same way, but for their own name."""
    found: dict[object, list[str]] = {}
    for pod in failed:
        found.setdefault(_nameless(pod), []).append(pod.pod)
    return (tuple(names) for names in found.values())


def _nameless(pod: Unschedulable) -> object:
    """What a pod shares with others that fail in the same way."""

    def unnamed(text: str) -> str:
        return text.replace(pod.pod, "*")

    conflict = tuple(replace(demand, object=unnamed(demand.object)) for demand in pod.conflict)
    fix = (unnamed(pod.fix.object), pod.fix.path, str(pod.fix.from_), str(pod.fix.to)) if pod.fix else None
    nearest = (pod.nearest.target, tuple(pod.nearest.lacking.items())) if pod.nearest else None
    return pod.reason, unnamed(pod.message), conflict, fix, nearest


def reasons(pod: Unschedulable, names: Sequence[str], *, wide: bool = False) -> Lines:
    """Why pods have no place: in words, the conflict, what comes nearest, and the one field to change."""
    yield ", ".join(few(folded(names, wide=wide), most=_ON_A_LINE, wide=wide))
    yield f"  {pod.reason}: {pod.message}"
    if pod.conflict:
        label = "conflict"
        rows = [(demand.object, demand.path, said(demand)) for demand in pod.conflict]
        for line in columns(("", "", ""), rows)[1:]:
            yield f"  {label:9} {line}"
            label = ""
    if pod.nearest is not None:
        yield f"  nearest   {_lacking(pod.nearest)}"
    if pod.fix is not None or pod.nearest is not None or pod.conflict:
        alike = " (the same for each)" if pod.fix and len(names) > 1 and pod.pod in pod.fix.object else ""
        yield f"  change    {change(pod.fix)}{alike}"
    if wide:
        yield from (f"  tried     {r.target}: {r.reason}: {r.message}" for r in pod.rejections)


def _lacking(nearest: Nearest) -> str:
    """A target and what it lacks; where that is no amount or label it is told in a sentence of its own."""
    lacks = [
        f"a {need}" if need.startswith("toleration of ") else f"{what} {need}"
        for what, need in nearest.lacking.items()
        if not need.startswith(what)
    ]
    told = [need for what, need in nearest.lacking.items() if need.startswith(what)]
    text = f"{nearest.target} lacks {', '.join(lacks)}" if lacks else nearest.target
    return "; ".join([text, *told]) if lacks else ": ".join([text, *told])


def said(demand: Demand) -> str:
    """A demand in one line."""
    values = ", ".join(demand.values)
    if ".taints[" in demand.path:
        return f"taint {demand.key}{'=' if values else ''}{values}:{demand.operator}"
    if demand.operator in _COMPARES:
        return f"{demand.key} {_COMPARES[demand.operator]} {values}"
    return f"{demand.key} {demand.operator}" + (f" [{values}]" if values else "")


def change(fix: Fix | None) -> str:
    """What to change, or that no single field would do."""
    if fix is None:
        return "no single field would place it"
    told = str if _QUANTITY.search(fix.path) and isinstance(fix.from_, str) and isinstance(fix.to, str) else _value
    before, after = told(fix.from_), told(fix.to)
    if fix.from_ is None:
        return f"{fix.object}: set {fix.path} to {after}"
    return (
        f"{fix.object}: {fix.path} from {before} to {after}" if after else f"{fix.object}: remove {fix.path}: {before}"
    )


def _value(value: object) -> str:
    """A value as YAML's one-line form has it, so that it can be typed in; nothing for an absent one."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_value(held)}" for key, held in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if value is None:
        return ""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and not _NO_STRING.fullmatch(value) else json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _static_pools(plan: ProvisionPlan) -> Lines:
    for pool in plan.static_pools:
        does = (
            f"launches {counted(pool.delta, 'node')}" if pool.delta > 0 else f"deletes {counted(-pool.delta, 'node')}"
        )
        yield f"Static NodePool {pool.node_pool} {does} to reach spec.replicas"


def _buffers(plan: ProvisionPlan) -> Lines:
    for buffer in plan.buffers:
        yield f"CapacityBuffer {buffer.buffer}: {counted(buffer.replicas, 'replica')}, {buffer.provisioning}"


def _expanded(plan: ProvisionPlan, wide: bool) -> Lines:
    """Said aloud, since these pods stand in no file."""
    if plan.expanded:
        yield "Made for workloads that lack pods (--expand never leaves them out):"
        lines = [f"  {e.workload}: {fold(e.pods, wide=wide)}" for e in plan.expanded]
        yield from few(lines, most=10, wide=wide)
