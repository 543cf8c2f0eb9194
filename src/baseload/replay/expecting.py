"""Reading the expectations of a scenario: which series, when, and what bound; impossible ones are faults."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from baseload.cloud.simulated import forms
from baseload.cloud.simulated.forms import Form, Tree
from baseload.kube.kinds import most_similar
from baseload.replay import fields, together
from baseload.replay.fields import Field, about
from baseload.replay.happenings import CAPACITY_TYPES
from baseload.replay.judge import BOUNDS, Bound, Expectation, When, span
from baseload.replay.series import CHOICES, KINDS, PENDING_LONGER, Query
from baseload.values import duration
from baseload.world.living import PROCESSES

_OF_CLOUD: Final = re.compile(r"ip-[0-9]+-[0-9]+-[0-9]+-[0-9]+\.")
Interval = tuple[int, int | None]
"""From a moment on, until another one or the end"""


def _interval(given: object) -> Interval:
    if given is True:
        return 0, None
    if not isinstance(given, Mapping) or not set(given) <= {"from", "until"}:
        raise ValueError
    begins = forms.DURATION.read(given.get("from", "0"))
    until = given.get("until")
    return begins, None if until is None else forms.DURATION.read(until)


_INTERVAL: Final = Field(
    Form(_interval, "true, or an interval, e.g. {from: 10m, until: 2h}"),
    {
        "oneOf": [
            {"const": True},
            {
                "type": "object",
                "additionalProperties": False,
                "properties": {"from": fields.SPAN.schema, "until": fields.SPAN.schema},
            },
        ]
    },
    "",
)

WHEN: Final[Mapping[str, Field]] = {
    "at": about(fields.SPAN, "at this moment, and `for` so long from then on"),
    "always": about(_INTERVAL, "throughout the run, or an interval of it"),
    "eventually": about(_INTERVAL, "from some moment of the run, or of an interval, on"),
    "within": about(fields.SPAN, "from some moment on that is at most so long after `after`"),
    "after": about(fields.SPAN, "from when `within` is counted; the start where nothing is said"),
    "for": about(fields.LENGTH, "for so long from then on; for that moment where nothing is said"),
}
FILTERS: Final[Mapping[str, Field]] = {
    "namespace": about(fields.TEXT, "pods, or events about objects, of a namespace"),
    "workload": about(fields.TEXT, "pods of a workload, by its name"),
    "nodePool": about(fields.TEXT, "of a NodePool"),
    "instanceType": about(fields.TEXT, "of an instance type"),
    "capacityType": about(fields.one_of(*CAPACITY_TYPES), "of a capacity type"),
    "zone": about(fields.TEXT, "in a zone"),
    "cause": about(fields.TEXT, "of a cause"),
    "reason": about(fields.TEXT, "events or disruptions with a reason"),
    "kind": about(fields.TEXT, "events about objects of a kind, or what came round"),
    "controller": about(fields.one_of(*PROCESSES), "of a controller"),
}
VALUES: Final[Mapping[str, Field]] = {
    "is": about(fields.NUMBER, "equal to this"),
    "isNot": about(fields.NUMBER, "other than this"),
    "atMost": about(fields.NUMBER, "this or less"),
    "atLeast": about(fields.NUMBER, "this or more"),
    "below": about(fields.NUMBER, "less than this"),
    "above": about(fields.NUMBER, "more than this"),
}
OWN: Final[Mapping[str, Field]] = {
    "series": about(fields.one_of(*KINDS), "which series").required,
    "longerThan": about(fields.LENGTH, f"of {PENDING_LONGER}"),
}
TABLE: Final[Mapping[str, Field]] = {**OWN, **FILTERS, **WHEN, **VALUES}


def filter_of(series: str, name: str) -> Field:
    """A filter of one series, which may know all its values."""
    choices = CHOICES.get(series, ()) if name == "cause" else ()
    return about(fields.one_of(*choices), "of a cause") if choices else FILTERS[name]


@dataclass(frozen=True, slots=True)
class Known:
    """What a run has, as far as the scenario says: names that an expectation may ask for; None where any will do."""

    workloads: frozenset[str]
    places: frozenset[tuple[str, str]]  # (namespace, workload)
    node_pools: frozenset[str]
    namespaces: frozenset[str]
    nodes: frozenset[str]  # those of manifests; machines of the cloud are named after their addresses
    zones: frozenset[str] | None = None
    types: frozenset[str] | None = None


def read(trees: Iterator[Tree], path: str, *, length: int, known: Known) -> tuple[Expectation, ...]:
    """The expectations of a list of maps, in its order."""
    held: dict[str, tuple[Expectation, Tree]] = {}  # by its path
    for index, tree in enumerate(trees):
        one = _one(tree, f"{path}[{index}]", length, known)
        if one is not None:
            held[one.path] = one, tree
    found = tuple(one for one, _ in held.values())
    for later, earlier in together.clashes(found):
        held[later.path][1].note("", f"cannot hold beside {earlier.path}: {earlier}", "what can be kept together")
    return found


def _one(tree: Tree, path: str, length: int, known: Known) -> Expectation | None:
    given = fields.read(tree, TABLE)
    query, when, bounds = _query(tree, given, known), _when(tree, given, length), _bounds(tree, given)
    if query is None or when is None or not bounds:
        return None
    kind, begins, ends, lasts = when
    return Expectation(query, kind, begins, ends, bounds, lasts, path)


def _query(tree: Tree, given: Mapping[str, Any], known: Known) -> Query | None:
    series = given["series"]
    if series is None:
        return None
    kind = KINDS[series]
    for name in FILTERS:
        if given[name] is not None and name not in kind.filters:
            tree.note(name, f"does not narrow {series}", f"what does: {', '.join(kind.filters) or 'nothing'}")
    if (given["longerThan"] is None) == (series == PENDING_LONGER) and not (
        tree.says("longerThan") and series == PENDING_LONGER
    ):
        tree.note(
            "longerThan",
            f"Required value of {series}" if series == PENDING_LONGER else f"is not of {series}",
            "a duration, e.g. 5m" if series == PENDING_LONGER else f"of {PENDING_LONGER} alone",
        )
        return None
    choices = CHOICES.get(series, ())
    if given["cause"] is not None and "cause" in kind.filters and given["cause"] not in choices:
        tree.note("cause", f"Invalid value: {forms.shown(given['cause'])}", f"one of {', '.join(choices)}")
    note_unknown(tree, given, known)
    filters = tuple((name, given[name]) for name in kind.filters if given[name] is not None)
    return Query(series, filters, given["longerThan"])


def note_unknown(tree: Tree, given: Mapping[str, Any], known: Known) -> None:
    """Notes names of what the scenario does not have."""
    for name, plural, names in (
        ("workload", "workloads", known.workloads),
        ("nodePool", "NodePools", known.node_pools),
        ("zone", "zones", known.zones),
        ("namespace", "namespaces", known.namespaces),
    ):
        value = given.get(name)
        if value is not None and names is not None and value not in names:
            there = ", ".join(sorted(names)) or "none"
            what = f"no manifest of the scenario has it; {plural} there are: {there}"
            tree.note(name, f"unknown: {forms.shown(value)}", what if name != "zone" else f"one of {there}")
    node = given.get("node")
    if node is not None and node not in known.nodes and not _OF_CLOUD.match(node):
        there = ", ".join(sorted(known.nodes)) or "none"
        tree.note(
            "node", f"unknown: {forms.shown(node)}", f"no manifest of the scenario has it; Nodes there are: {there}"
        )
    note_misplaced(tree, given, known)
    given_type = given.get("instanceType")
    if given_type is not None and known.types is not None and given_type not in known.types:
        near = most_similar(given_type, sorted(known.types))
        tree.note("instanceType", f"unknown: {forms.shown(given_type)}", f"did you mean {near}?" if near else "")


def note_misplaced(tree: Tree, given: Mapping[str, Any], known: Known) -> None:
    """Notes a workload that is not in the namespace in which it is looked for."""
    workload, namespace = given.get("workload"), given.get("namespace")
    if workload in known.workloads and namespace in known.namespaces and (namespace, workload) not in known.places:
        there = ", ".join(sorted(place for place, name in known.places if name == workload))
        tree.note("namespace", f"there is no {workload} in {namespace}", f"it is in {there}")


def _when(tree: Tree, given: Mapping[str, Any], length: int) -> tuple[When, int, int, int] | None:
    said: list[When] = [name for name in ("at", "always", "eventually", "within") if tree.says(name)]
    if len(said) != 1:
        what = f"says {' and '.join(said)}" if said else "says not when"
        tree.note("", what, "one of at, always, eventually, within")
        return None
    [kind] = said
    if given[kind] is None:
        return None  # its form was noted
    if given["after"] is not None and kind != "within":
        tree.note("after", f"says nothing beside {kind}", "of within alone")
    lasts = given["for"] or 0
    begins, ends = _ends(kind, given, length)
    if lasts and kind == "always":
        tree.note("for", "says nothing beside always", "leave it out, or give always an interval")
        return None
    if ends + lasts > length:
        names = {"at": "at", "within": "within"}
        after = duration.format(ends + lasts)
        tree.note(names.get(kind, f"{kind}.until"), f"{after} is after the end", f"at most {duration.format(length)}")
        return None
    if begins > ends:
        tree.note(kind, f"the interval from {duration.format(begins)} to {duration.format(ends)} is empty")
        return None
    return kind, begins, ends, lasts


def _ends(kind: When, given: Mapping[str, Any], length: int) -> tuple[int, int]:
    if kind == "at":
        return given["at"], given["at"]
    if kind == "within":
        after = given["after"] or 0
        return after, after + given["within"]
    begins, until = given[kind]
    lasts = given["for"] or 0
    return begins, max(length - lasts, 0) if until is None else until


def _bounds(tree: Tree, given: Mapping[str, Any]) -> tuple[Bound, ...]:
    said = [name for name in BOUNDS if tree.says(name)]
    if not said:
        tree.note("", "says not what is expected", f"one of {', '.join(BOUNDS)}")
    if given["series"] is None or any(given[name] is None for name in said):
        return ()
    scale = KINDS[given["series"]].scale
    bounds = tuple(Bound(name, given[name][0] * scale, given[name][1]) for name in said)
    lowest, highest = span(bounds)
    if lowest > highest or (lowest == highest and any(one.name == "isNot" and one.value == lowest for one in bounds)):
        tree.note("", f"{' and '.join(map(str, bounds))}: no number does", "bounds that can be kept together")
        return ()
    if highest < 0:
        tree.note("", f"{bounds[0]}: no series is ever below 0", "0 or more")
        return ()
    return bounds
