"""Judges a disruption plan by what a case's expect.yaml says of it (README.md beside this file).

A plan is taken as the JSON contract has it; each key of `expect` is one function here, as in `checker`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tests.cases.checker import Case, Json

Faults = Iterator[str]


class Outcome:
    """A plan by its parts."""

    def __init__(self, plan: Json) -> None:
        self.commands = plan["commands"]
        self.nodes = sorted(it["node"] for command in self.commands for it in command["candidates"])
        self.replacements = [it for command in self.commands for it in command["replacements"]]
        self.skipped = {it["node"]: it["reason"] for it in plan["skipped"]}
        self.tried = {it["node"]: it["reason"] for it in plan["tried"]}  # the last method's word
        self.places = {it["pod"]: it["to"] for command in self.commands for it in command["pods"]}


Test = Callable[[Outcome, Any], Faults]


def judge(case: Case, plan: Json) -> list[str]:
    """All that is not as the case says."""
    outcome = Outcome(plan)
    return [f"{key}: {fault}" for key, wanted in case.expect.items() for fault in TESTS[key](outcome, wanted)]


def _number(what: Callable[[Outcome], list[Any]]) -> Test:
    def test(outcome: Outcome, wanted: int) -> Faults:
        got = what(outcome)
        if len(got) != wanted:
            yield f"{len(got)}, not {wanted}: {outcome.nodes}"

    return test


def _disrupted(outcome: Outcome, wanted: list[str]) -> Faults:
    if outcome.nodes != sorted(wanted):
        yield f"{outcome.nodes}, not {sorted(wanted)}"


def _disrupted_any_of(outcome: Outcome, wanted: list[str]) -> Faults:
    if not outcome.nodes or not set(outcome.nodes) <= set(wanted):
        yield f"{outcome.nodes}, not among {wanted}"


def _of_commands(field: str) -> Test:
    def test(outcome: Outcome, wanted: str | list[str]) -> Faults:
        got = sorted({command[field] for command in outcome.commands})
        if got != (sorted(wanted) if isinstance(wanted, list) else [wanted]):
            yield f"{got}, not {wanted}"

    return test


def _instance_types(outcome: Outcome, wanted: list[str]) -> Faults:
    if not outcome.replacements:
        yield "nothing is launched"
    for claim in outcome.replacements:
        if claim["instanceTypes"] != wanted:
            yield f"{claim['name']}: {claim['instanceTypes']}, not {wanted}"


def _options(outcome: Outcome, wanted: int) -> Faults:
    if [len(claim["instanceTypes"]) for claim in outcome.replacements] != [wanted]:
        yield f"{[claim['instanceTypes'] for claim in outcome.replacements]}, not {wanted} types"


def _requirements(outcome: Outcome, wanted: Json) -> Faults:
    for claim in outcome.replacements or [{"name": "no replacement", "requirements": []}]:
        got = {entry["key"]: sorted(entry["values"]) for entry in claim["requirements"] if entry["operator"] == "In"}
        for key, values in wanted.items():
            if got.get(key) != sorted(values):
                yield f"{claim['name']}: {key} is {got.get(key)}, not {values}"


def _savings(outcome: Outcome, wanted: float) -> Faults:
    got = sum(command["savingsPerHour"] for command in outcome.commands)
    if abs(got - wanted) > 1e-9:
        yield f"{got}, not {wanted}"


def _held(field: Callable[[Outcome], Mapping[str, str]]) -> Test:
    def test(outcome: Outcome, wanted: Mapping[str, str]) -> Faults:
        got = field(outcome)
        return (f"{name}: {got.get(name)}, not {value}" for name, value in wanted.items() if got.get(name) != value)

    return test


TESTS: Final[Mapping[str, Test]] = {
    "commands": _number(lambda outcome: outcome.commands),
    "disrupted": _disrupted,
    "disruptedAnyOf": _disrupted_any_of,
    "reason": _of_commands("reason"),
    "methods": _of_commands("method"),
    "replacements": _number(lambda outcome: outcome.replacements),
    "instanceTypes": _instance_types,
    "replacementOptions": _options,
    "replacementRequirements": _requirements,
    "savings": _savings,
    "skipped": _held(lambda outcome: outcome.skipped),
    "tried": _held(lambda outcome: outcome.tried),
    "podsTo": _held(lambda outcome: outcome.places),
}
