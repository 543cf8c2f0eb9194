"""One node's story as a person reads it: the verdict, what is in the way, what would free it, what it costs."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from baseload.plan.disrupt import Command
from baseload.plan.node_story import Change, MethodStory, NodeStory, Rule, Taker, Verdict, Wall
from baseload.plan.provision import Field, Fix
from baseload.report import amounts
from baseload.report.table import columns, counted, few, fold

Lines = Iterator[str]
_SAID: Final = {
    Verdict.TAKEN: "goes now",
    Verdict.LATER: "could",
    Verdict.KEPT: "keeps it",
    Verdict.PASSED_OVER: "not considered",
}
_HOW: Final = {
    "Expiration": "expiry",
    "Interruption": "interruption",
    "NodeRepair": "node repair",
    "Drift": "drift",
    "ManualDeletion": "deletion by hand",
}
_NO_MONEY: Final = 0.00005  # what four decimals do not show
_PENDING: Final = {
    True: "in the way: without it the node would be free",
    False: "no obstacle",
    None: "not tried without it",
}
_ON_ITS_WAY: Final = ("MarkedForDeletion", "AlreadyDisrupted", "NotManaged")
_GUARDED: Final = ("DoNotDisruptPod", "PodDisruptionBudget", "SeveralPodDisruptionBudgets", "DoNotDisruptNode")


def render(story: NodeStory, *, wide: bool = False) -> str:
    """The whole story."""
    sections = (
        _heading(story),
        _methods(story, wide),
        _in_the_way(story, wide),
        _pending(story, wide),
        _freed(story, wide),
        _cost(story),
        _takers(story, wide),
    )
    texts = ["\n".join(lines) for lines in sections]
    return "\n\n".join(text for text in texts if text) + "\n"


def _heading(story: NodeStory) -> Lines:
    what = [f"NodePool {story.node_pool}" if story.node_pool else "no NodePool", story.instance_type]
    priced = f"{amounts.price(story.price_per_hour)} an hour" if story.price_per_hour else "no price is known"
    what += [story.capacity_type, story.zone, priced]
    yield f"Node {story.node}: {', '.join(part for part in what if part)}"
    yield _verdict(story)
    if story.note:
        yield f"note: {story.note}"


def _verdict(story: NodeStory) -> str:
    if story.forced is not None:
        return f"It is given up now by force: {story.forced.reason}."
    if story.taken is not None:
        return f"It is disrupted now, by {story.taken.method}."
    later = next((told for told in story.methods if told.verdict is Verdict.LATER), None)
    if later is not None:
        return f"It could be disrupted by {later.method}, though not in this pass: {later.message}."
    if story.walls:
        candidate = "It is a candidate, and stays" if story.is_candidate else "It is no candidate"
        return f"{candidate}: {story.walls[0].message}."
    return "It stays."


def _methods(story: NodeStory, wide: bool) -> Lines:
    """Every method and its one line; where all say the same, it is said once."""
    if not story.methods:
        if story.forced is not None:
            yield from _command(story.forced, wide)
        return
    walls = {told.wall.message for told in story.methods if told.wall is not None}
    if len(walls) == 1 and all(told.verdict is Verdict.PASSED_OVER for told in story.methods):
        return
    rows = [(str(told.method), _SAID[told.verdict], _why(told)) for told in story.methods]
    yield from columns(("METHOD", "VERDICT", ""), rows)
    for told in story.methods:
        if told.verdict is Verdict.TAKEN and told.command is not None:
            yield ""
            yield "What it does"
            yield from _command(told.command, wide)


def _why(told: MethodStory) -> str:
    if told.wall is not None:
        return told.wall.message
    if told.command is None:
        return told.message
    return "; ".join(part for part in (_short(told.command), told.message) if part)


def _short(command: Command) -> str:
    money = _money(command.savings_per_hour)
    if not command.replacements:
        return f"delete {_nodes(command)}, {money}"
    first = command.replacements[0]
    more = f" and {len(command.replacements) - 1} more" if len(command.replacements) > 1 else ""
    return f"replace {_nodes(command)} by {first.instance_type} {first.capacity_type}{more}, {money}"


def _money(saves: float) -> str:
    if abs(saves) < _NO_MONEY:
        return "at the same price"
    told = f"{amounts.price(abs(saves))} an hour"
    return f"saves {told}" if saves > 0 else f"costs {told} more"


def _nodes(command: Command) -> str:
    return "it" if len(command.candidates) == 1 else f"it and {counted(len(command.candidates) - 1, 'other node')}"


def _command(command: Command, wide: bool) -> Lines:
    yield f"  {_short(command)}"
    others = [one.node for one in command.candidates]
    if len(others) > 1:
        yield f"  together: {fold(sorted(others), wide=wide)}"
    for claim in command.replacements:
        choice = len(claim.instance_types) - 1
        more = f" or {counted(choice, 'other type')}" if choice else ""
        price = amounts.price(claim.price_per_hour, estimated=claim.estimated)
        yield f"  {claim.name}: {claim.instance_type}{more}, {claim.capacity_type}, {claim.zone}, {price}"
    by_target: dict[str, list[str]] = {}
    for moved in command.pods:
        by_target.setdefault(moved.to, []).append(moved.pod)
    lines = [f"  pods to {target}: {fold(sorted(pods), wide=wide)}" for target, pods in by_target.items()]
    yield from few(lines, wide=wide)


def _in_the_way(story: NodeStory, wide: bool) -> Lines:
    if not story.walls:
        return
    told = story.walls if story.change is None or len(story.change.fixes) > 1 else story.walls[:1]
    yield "In the way" if len(told) == 1 else "In the way, one behind the other"
    for wall in told:
        yield from _wall(wall, wide)


def _wall(wall: Wall, wide: bool) -> Lines:
    yield f"  {wall.reason}: {wall.message}"
    lines = [f"    {_rule(rule)}" for rule in wall.rules]
    if wall.facts.get("cheapest"):
        cheapest, price, own = (wall.facts[key] for key in ("cheapest", "cheapestPricePerHour", "pricePerHour"))
        lines.append(
            f"    the cheapest that would do, {cheapest}, costs {_dollars(price)}; the node costs {_dollars(own)}"
        )
    for pod, by in wall.rejections:
        lines.append(f"    {pod} fits nowhere else:")
        refused = columns(("", "", ""), [(one.target, str(one.reason), one.message) for one in by])[1:]
        lines += [f"      {line}" for line in few(refused, most=6, wide=wide)]
    yield from few(lines, most=16, wide=wide)


def _dollars(held: Field) -> str:
    return amounts.price(held) if isinstance(held, float) else str(held)


def _rule(rule: Rule) -> str:
    told = f"{rule.object} {rule.path}: {_value(rule.value)}"
    if rule.facts:
        told += f" ({', '.join(f'{key} {_value(value)}' for key, value in rule.facts.items() if value != '')})"
    if rule.until is not None:
        told += f", until {rule.until}"
    if rule.written_in is not None:
        told += f", from {rule.written_in}"
    return told


def _value(held: Field) -> str:
    if held is None:
        return "not set"
    return held if isinstance(held, str) and held else json.dumps(held)


def _pending(story: NodeStory, wide: bool) -> Lines:
    """Pods that wait anyway, which every simulation takes along."""
    for blocks, text in _PENDING.items():
        pods = [one.pod for one in story.pending if one.is_in_the_way is blocks]
        if pods:
            yield f"Pending before any move, {text}: {fold(pods, wide=wide)}"


def _freed(story: NodeStory, wide: bool) -> Lines:
    if story.change is not None:
        yield from _change(story.change, wide)
    elif story.walls and story.walls[0].reason not in _ON_ITS_WAY:
        yield f"No change is known that frees it: {' and behind it '.join(wall.reason for wall in story.walls)}."
        if story.is_cut_short:
            yield "Not every change was tried, since the input is large."
    if story.wait is not None:
        yield f"Without a change it is free at {story.wait.until}: {story.wait.message}."
        yield f"  {story.wait.method}: {_short(story.wait.command)}"


def _change(change: Change, wide: bool) -> Lines:
    yield "Nearest change" if len(change.fixes) == 1 else "Nearest change: all of these, none alone does"
    for fix, place in zip(change.fixes, change.written_in, strict=True):
        yield f"  {_fix(fix)}" + (f", written in {place}" if place is not None else "")
    yield f"  then {change.method} would"
    yield from (f"  {line}" for line in _command(change.command, wide))


def _fix(fix: Fix) -> str:
    if not fix.path:
        return f"{fix.object}: {'give it another place, or ' if fix.object.startswith('Pod ') else ''}delete it"
    to = "removed" if fix.to is None else _value(fix.to)
    return f"{fix.object} {fix.path}: {_value(fix.from_)} -> {to}"


def _cost(story: NodeStory) -> Lines:
    cost = story.cost_per_hour
    if cost > 0:
        yield f"To leave it so costs {amounts.price(cost)} an hour, {amounts.month(cost)} a month."
    elif story.walls and story.walls[0].reason not in _ON_ITS_WAY:
        yield "To leave it so costs nothing: no move that is known would save anything."


def _takers(story: NodeStory, wide: bool) -> Lines:
    """Told where somebody relies on protection, or asks for all."""
    walls = [told.wall for told in story.methods if told.wall is not None]
    if not story.takers or not (wide or any(wall.reason in _GUARDED for wall in walls)):
        return
    yield "What may still take it"
    yield from (f"  {line}" for line in _lines(story.takers))


def _lines(takers: Sequence[Taker]) -> list[str]:
    rows = [
        (
            _HOW[one.how],
            "yes" if one.is_possible else "no",
            _brief(one.rule),
            one.message,
        )
        for one in takers
    ]
    return columns(("", "", "", ""), rows)[1:]


def _brief(rule: Rule | None) -> str:
    """The rule where the object is plain: it is the NodeClaim, the Node or the controller."""
    return "" if rule is None else f"{rule.path.removeprefix('spec.').removeprefix('metadata.')}: {_value(rule.value)}"
