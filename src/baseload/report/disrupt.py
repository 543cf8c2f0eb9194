"""The disruption plan as a person reads it: what goes and what that saves first, then what is kept, and why.

Nodes that are kept for the same reason are told together. `wide` gives each its own line.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from baseload.plan.disrupt import (
    Command,
    Compared,
    Comparison,
    DisruptPasses,
    DisruptPlan,
    Method,
    Mode,
    Skipped,
    Tried,
)
from baseload.report import amounts
from baseload.report.table import columns, counted, few, fold

_POD_LINES: Final = 8
_KEPT_LINES: Final = 20
Lines = Iterator[str]


def render(plan: DisruptPlan, *, wide: bool = False) -> str:
    """The whole report of one pass."""
    sections = (
        _commands(plan, wide),
        _tried(plan.tried, wide),
        _skipped(plan.skipped, wide),
        _lifecycle(plan),
        _drain(plan, wide),
        (f"note: {note}" for note in plan.notes),
    )
    texts = ["\n".join(lines) for lines in sections]
    return "\n\n".join(text for text in texts if text) + "\n"


def render_passes(passes: DisruptPasses, *, wide: bool = False) -> str:
    """Each pass that does something, what the last one keeps, and the end."""
    parts: list[str] = []
    for number, plan in enumerate(passes.passes, 1):
        if plan.commands:
            parts.append(f"Pass {number}. " + "\n".join(_commands(plan, wide)))
    last = passes.passes[-1]
    kept = ["\n".join(lines) for lines in (_tried(last.tried, wide), _skipped(last.skipped, wide))]
    parts += [text for text in kept if text]
    parts += [f"note: {note}" for note in last.notes]
    return "\n\n".join([*parts, _end(passes)]) + "\n"


def render_compared(
    compared: Compared[DisruptPlan] | Compared[DisruptPasses], mode: Mode, *, wide: bool = False
) -> str:
    """The plan of the optimal mode, before it the compatible one where both are asked for, and how they compare."""
    parts = []
    if mode == "both":
        parts.append("COMPATIBLE: as Karpenter decides.\n\n" + _either(compared.compatible, wide))
    parts.append("OPTIMAL: beyond Karpenter, under the same rules.\n\n" + _either(compared.optimal, wide))
    return "\n".join([*parts, "\n".join(_compared(compared.comparison)) + "\n"])


def _either(plan: DisruptPlan | DisruptPasses, wide: bool) -> str:
    return render(plan, wide=wide) if isinstance(plan, DisruptPlan) else render_passes(plan, wide=wide)


def _compared(of: Comparison) -> Lines:
    rows = [("before", "", amounts.price(of.before), amounts.month(of.before), "")]
    for name, outlay in (("compatible", of.compatible), ("optimal", of.optimal)):
        dollars = outlay.price_per_hour
        rows.append((name, str(outlay.nodes), amounts.price(dollars), amounts.month(dollars), str(outlay.moves)))
    rows.append(("bound", "", amounts.price(of.bound), amounts.month(of.bound), ""))
    yield from columns(("", "NODES", "$/HOUR", "$/MONTH", "PODS MOVED"), rows, frozenset({1, 2, 3, 4}))
    less = of.compatible.price_per_hour - of.optimal.price_per_hour
    yield f"Optimal costs {amounts.price(less)} an hour less than compatible, {amounts.month(less)} a month."
    if of.above_bound is not None:
        yield (
            f"No end in which all these pods run costs less than the bound; optimal is {of.above_bound:.1%} above it."
        )


def _end(passes: DisruptPasses) -> str:
    end = passes.end
    does = sum(bool(plan.commands) for plan in passes.passes)
    price = f"{amounts.price(end.price_per_hour)} an hour, {amounts.month(end.price_per_hour)} a month"
    text = f"After {counted(does, 'pass', 'passes')}: {counted(end.nodes, 'node')}, {price}"
    if end.loop is not None:
        text += f". It does not end: the nodes after pass {end.loop[1]} are those after pass {end.loop[0]} again."
        text += "".join(f"\nGoes round: {_going(command)}." for command in passes.going_round)
    else:
        text += ", and nothing is left to do." if end.stable else "; there is more to do."
    return "\n".join([text, *(f"Comes back: {one.message} ({one.kind})." for one in end.repeated)])


def _going(command: Command) -> str:
    """A command by what its nodes are, since their names are others each time."""
    nodes = Counter(f"{it.node_pool}/{it.instance_type or 'unknown type'}" for it in command.candidates)
    told = ", ".join(f"{count} {name}" for name, count in nodes.items())
    does = "replace" if command.replacements else "delete"
    return f"{command.method}: {does} {told}, {command.reason}"


def _commands(plan: DisruptPlan, wide: bool) -> Lines:
    if not plan.commands:
        yield "No node is disrupted."
        return
    gone = sum(len(command.candidates) for command in plan.commands)
    launched = sum(len(command.replacements) for command in plan.commands)
    saves = plan.savings_per_hour
    text = f"{counted(gone, 'node')} to disrupt, {counted(launched, 'node')} to launch"
    yield f"{text}: {_saves(saves)}."
    for command in plan.commands:
        yield ""
        yield from _command(command, wide)


def _saves(dollars: float) -> str:
    told = f"{amounts.price(abs(dollars))} an hour, {amounts.month(abs(dollars))} a month"
    return f"saves {told}" if dollars >= 0 else f"costs {told} more"


def _command(command: Command, wide: bool) -> Lines:
    does = "replace" if command.replacements else "delete"
    before = sum(candidate.price_per_hour for candidate in command.candidates)
    after = before - command.savings_per_hour
    head = f"{command.method}: {does}, {command.reason}"
    is_forceful = command.method is Method.FORCEFUL  # nobody asked whether that saves anything
    yield head if is_forceful else f"{head}  {amounts.price(before)} -> {amounts.price(after)} an hour"
    rows = [
        (c.node, c.node_pool, c.instance_type, amounts.price(c.price_per_hour), f"{c.disruption_cost:.2f}")
        for c in command.candidates
    ]
    lines = columns(("NODE", "NODEPOOL", "TYPE", "$/HOUR", "COST"), rows, frozenset({3, 4}))
    yield from (f"  {line}" for line in (lines[0], *few(lines[1:], wide=wide)))
    for claim in command.replacements:
        others = len(claim.instance_types) - 1
        choice = f" or {counted(others, 'other type')}" if others else ""
        place = f"{claim.instance_type}{choice}, {claim.capacity_type}, {claim.zone}"
        yield f"  by {claim.name}: {place}, {amounts.price(claim.price_per_hour, estimated=claim.estimated)}"
    by_target: dict[str, list[str]] = {}
    for moved in command.pods:
        by_target.setdefault(moved.to, []).append(moved.pod)
    moves = [f"  pods to {target}: {fold(sorted(pods), wide=wide)}" for target, pods in by_target.items()]
    yield from few(moves, most=_POD_LINES, wide=wide)


def _tried(tried: Sequence[Tried], wide: bool) -> Lines:
    """The last word on each node: a later method tried it after the earlier ones."""
    last = {one.node: one for one in tried}
    if not last:
        return
    yield f"{counted(len(last), 'node')} tried and kept:"
    yield from _kept([(one.node, f"{one.method}: {one.reason}", one.message) for one in last.values()], wide)


def _skipped(skipped: Sequence[Skipped], wide: bool) -> Lines:
    if not skipped:
        return
    yield f"{counted(len(skipped), 'node')} not considered:"
    yield from _kept([(one.node, str(one.reason), one.message) for one in skipped], wide)


def _kept(rows: Sequence[tuple[str, str, str]], wide: bool) -> Lines:
    """Nodes with the same words on one line."""
    found: dict[tuple[str, str], list[str]] = {}
    for node, reason, message in rows:
        found.setdefault((reason, message), []).append(node)
    lines = columns(
        ("NODE", "REASON", ""),
        [(fold(sorted(nodes), wide=wide), reason, message) for (reason, message), nodes in found.items()],
    )
    yield from (f"  {line}" for line in (lines[0], *few(lines[1:], most=_KEPT_LINES, wide=wide)))


def _lifecycle(plan: DisruptPlan) -> Lines:
    for claim in plan.node_claims:
        if claim.deleted:
            yield f"NodeClaim {claim.name} is deleted: {claim.deleted}"
    for offering in plan.unavailable_offerings:
        yield f"Not asked for again for now: {offering.instance_type}, {offering.capacity_type}, {offering.zone}"


def _drain(plan: DisruptPlan, wide: bool) -> Lines:
    if plan.drain.evict:
        yield f"Evicted now: {fold(sorted(plan.drain.evict), wide=wide)}"
    for pod, grace in plan.drain.delete:
        yield f"Deleted now, with {counted(grace, 'second')} of grace: {pod}"
