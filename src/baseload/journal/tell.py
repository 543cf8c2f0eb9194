"""Stories from a journal, as text for people and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Final

from baseload.journal.disruptions import KEEPING, GivenUp
from baseload.journal.lives import Choice, NodeLife, PodLife, Wait
from baseload.journal.record import Entry
from baseload.values import duration, instant

API_VERSION: Final = "baseload.dev/v1alpha1"
_FEW: Final = 12
_SAID_ALREADY: Final = (
    *("Scheduled", "Pulled", "Created", "Started", "FailedScheduling", "Nominated"),  # of pods
    *("Starting", "NodeReady", "NodeNotReady", "RegisteredNode", "RemovingNode"),  # of nodes
)
_TRANSITION: Final = "Status condition transitioned"
_WAITS: Final = {"node": "a node", "containers": "its containers to be ready"}


def pod_text(lives: Sequence[PodLife], start: int, *, wide: bool = False) -> str:
    """The lives of one pod; moments are counted from the start of the journal."""
    return "\n".join("\n".join(_pod(life, start, wide)) + "\n" for life in lives)


def node_text(life: NodeLife, start: int, *, wide: bool = False) -> str:
    """The life of one node."""
    return "\n".join(_node(life, start, wide)) + "\n"


def _pod(life: PodLife, start: int, wide: bool) -> Iterator[str]:
    begins = life.entries[0].moment
    yield f"Pod {life.pod}, created {_at(begins, start).strip()}{_of(life.entries[0])}"
    for wait in life.waits:
        yield ""
        yield _wait(wait)
        if wait.what == "node":
            told = [
                (choice.entry.seq, f"{_at(choice.entry.moment, start)}  {_choice(choice)}") for choice in life.choices
            ]
            told += [(entry.seq, f"{_line(entry, start)}") for entry in life.around]
            yield from (f"  {line}" for _, line in sorted(told))
        yield from (f"  {why}" for why in (wait.why if wide else wait.why[:3]))
    yield ""
    yield f"It was bound to Node {life.node}." if life.node else "It was never bound to a node."
    yield ""
    yield from _lines([entry for entry in life.entries if _is_news(entry)], start, wide)


def _node(life: NodeLife, start: int, wide: bool) -> Iterator[str]:
    names = [f"Node {life.node}" if life.node else "", f"NodeClaim {life.nodeclaim}" if life.nodeclaim else ""]
    yield ", ".join([*filter(None, names), *([f"instance {life.instance}"] if life.instance else [])])
    yield ""
    if life.choice is not None:
        claim = life.choice.claim
        pods = [str(pod) for pod in _list(claim.get("pods"))]
        when = _at(life.choice.entry.moment, start).strip()
        yield f"{when}  {life.choice.entry.object} made it for {len(pods)} pods:"
        yield f"  {', '.join(pods if wide else pods[:_FEW])}{'' if wide or len(pods) <= _FEW else ' …'}"
        yield f"  planned as {_claim(claim)}"
    else:
        yield "No decision of the journal made it."
    yield from _disruption(life, start, wide)
    yield ""
    news = [entry for entry in life.entries if _is_news(entry)]
    yield from _lines([e for e in news if e.event != "event.told" or e.reason not in KEEPING], start, wide)
    if life.guests:
        yield ""
        yield f"{len(life.guests)} pods came to it:"
        for guest in life.guests if wide else life.guests[:_FEW]:
            until = "the end" if guest.until is None else _at(guest.until, start).strip()
            yield f"  {_at(guest.since, start)} to {until}  {guest.pod}"
        if not wide and len(life.guests) > _FEW:
            yield f"  … and {len(life.guests) - _FEW} more (-v tells all)"


def _disruption(life: NodeLife, start: int, wide: bool) -> Iterator[str]:
    """What kept it, and what gave it up."""
    if life.held:
        yield ""
        yield "What kept it, when that was told first:"
        for kept in life.held if wide else life.held[:_FEW]:
            of_pool = f" ({kept.object})" if kept.object.startswith("NodePool ") else ""
            yield f"{_at(kept.entry.moment, start)}  {kept.entry.reason}: {kept.entry.message}{of_pool}"
        if not wide and len(life.held) > _FEW:
            yield f"  … and {len(life.held) - _FEW} more (-v tells all)"
    for gone in life.given_up:
        yield ""
        when = _at(gone.entry.moment, start).strip()
        yield f"{when}  {gone.entry.object} gave it up, {gone.entry.reason}: {gone.entry.message}"
        yield f"  {_money(gone.savings_per_hour)}"
        yield from (f"  replaced by {claim.get('name')}: {_claim(claim)}" for claim in gone.replacements)
        moves = [f"  pod {pod} to {to}" for pod, to in gone.pods]
        yield from moves if wide or len(moves) <= _FEW else (*moves[:_FEW], f"  … and {len(moves) - _FEW} more")


def _money(saves: float) -> str:
    return f"saves ${saves:.4f} an hour" if saves >= 0 else f"costs ${-saves:.4f} an hour more"


def _is_news(entry: Entry) -> bool:
    """Whether an API event says what no other line does."""
    if entry.event != "event.told":
        return True
    return entry.reason not in _SAID_ALREADY and not entry.message.startswith(_TRANSITION)


def _lines(entries: Sequence[Entry], start: int, wide: bool) -> Iterator[str]:
    shown = entries if wide or len(entries) <= 3 * _FEW else entries[: 3 * _FEW]
    yield from (_line(entry, start) for entry in shown)
    if len(shown) < len(entries):
        yield f"… and {len(entries) - len(shown)} more (-v tells all)"


def _line(entry: Entry, start: int) -> str:
    who = entry.object.removeprefix("Controller ") if entry.event.startswith("controller.") else ""
    said = ": ".join(part for part in (who, entry.reason, entry.message) if part)
    return f"{_at(entry.moment, start)}  {entry.event:24}  {said}".rstrip()


def _wait(wait: Wait) -> str:
    if wait.ends is None:
        return f"It waits for {_WAITS[wait.what]} to the end."
    return f"It waited {_span(wait.ends - wait.begins)} for {_WAITS[wait.what]}."


def _choice(choice: Choice) -> str:
    plan = choice.entry.object
    if choice.claim:
        created = f", created as NodeClaim {choice.nodeclaim}" if choice.nodeclaim else ", never created"
        others = len(_list(choice.claim.get("pods"))) - 1
        return f"{plan}: a new node for it and {others} other pods: {_claim(choice.claim)}{created}"
    if choice.node:
        return f"{plan}: it fits on Node {choice.node}"
    rejections = "".join(f"\n                  {one}" for one in choice.rejections)
    return f"{plan}: no place, {choice.reason}: {choice.message}{rejections}"


def _claim(claim: dict[str, object]) -> str:
    parts = [claim.get(name) for name in ("instanceType", "capacityType", "zone")]
    price = claim.get("pricePerHour")
    said = [str(part) for part in parts if part] + ([f"${price} an hour"] if price is not None else [])
    return f"{', '.join(said)}, the cheapest of {claim.get('instanceTypes')} types, NodePool {claim.get('nodePool')}"


def _of(entry: Entry) -> str:
    return f" {entry.message}" if entry.message.startswith("of ") else ""


def _at(moment: int, start: int) -> str:
    return f"{'+' + _span(moment - start):>14}"


def _span(nanoseconds: int) -> str:
    """A duration as people read it, to the hundredth of a second."""
    return duration.format(round(nanoseconds, -7))


def pod_json(pod: str, lives: Sequence[PodLife]) -> dict[str, object]:
    """A pod's lives for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "PodLife",
        "pod": pod,
        "lives": [
            {
                "node": life.node or None,
                "waits": [_wait_json(wait) for wait in life.waits],
                "decisions": [_choice_json(choice) for choice in life.choices],
                "nodeEvents": [_entry(entry) for entry in life.around],
                "events": [_entry(entry) for entry in life.entries],
            }
            for life in lives
        ],
    }


def node_json(life: NodeLife) -> dict[str, object]:
    """A node's life for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "NodeLife",
        "node": life.node or None,
        "nodeClaim": life.nodeclaim or None,
        "instance": life.instance or None,
        "decision": None if life.choice is None else _choice_json(life.choice),
        "events": [_entry(entry) for entry in life.entries],
        "disrupted": [_given_up(gone) for gone in life.given_up],
        "kept": [_entry(kept.entry) for kept in life.held],
        "pods": [
            {
                "pod": guest.pod,
                "from": instant.format(guest.since),
                "until": None if guest.until is None else instant.format(guest.until),
            }
            for guest in life.guests
        ],
    }


def _given_up(gone: GivenUp) -> dict[str, object]:
    return {
        "t": gone.entry.t,
        "command": gone.entry.object,
        "reason": gone.entry.reason,
        "method": gone.method,
        "nodes": list(gone.nodes),
        "replacements": list(gone.replacements),
        "pods": [{"pod": pod, "to": to} for pod, to in gone.pods],
        "savingsPerHour": gone.savings_per_hour,
    }


def _wait_json(wait: Wait) -> dict[str, object]:
    seconds = None if wait.ends is None else (wait.ends - wait.begins) / duration.SECOND
    return {"for": wait.what, "from": instant.format(wait.begins), "seconds": seconds, "why": list(wait.why)}


def _choice_json(choice: Choice) -> dict[str, object]:
    return {
        "t": choice.entry.t,
        "plan": choice.entry.object,
        "claim": choice.claim or None,
        "nodeClaim": choice.nodeclaim or None,
        "node": choice.node or None,
        "reason": choice.reason or None,
        "message": choice.message or None,
        "rejections": list(choice.rejections),
    }


def _entry(entry: Entry) -> dict[str, object]:
    return {
        "t": entry.t,
        "seq": entry.seq,
        "source": entry.source,
        "event": entry.event,
        "object": entry.object,
        "reason": entry.reason,
        "message": entry.message,
    }


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
