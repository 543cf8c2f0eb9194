"""Requirements as a user types them, to choose instance types by.

What kubectl's -l takes (`a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>5`, `a<5`), besides `>=` and `<=`,
and Karpenter's own words for the operators: `a In (b,c)`, `a Gt 5`, `a Exists`. Commas join several.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from baseload.values import selector
from baseload.values.errors import BadInput, Fault
from baseload.values.label import normalise
from baseload.values.requirement import Requirement, Requirements, invalid

_FORMS: Final = "KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY, !KEY, KEY>N, KEY<N, KEY>=N, KEY<=N"
_COMPARISONS: Final = {">": "Gt", "<": "Lt", ">=": "Gte", "<=": "Lte"}
_COMPARED: Final = re.compile(r"\s*(\S+?)\s*(>=|<=|>|<|\s(?:Gte|Lte|Gt|Lt)\s)\s*([+-]?[0-9]+)\s*")
_LISTED: Final = re.compile(r"\s*(\S+)\s+(In|NotIn)\s*(\(.*\))\s*")
_PRESENCE: Final = re.compile(r"\s*(\S+)\s+(Exists|DoesNotExist)\s*")
_AT_COMMA: Final = re.compile(r",(?![^(]*\))")


def parse(texts: Iterable[str], known: Collection[str]) -> Requirements:
    """All of these at once; raises BadInput for what cannot be read and for label keys that no type has."""
    faults: list[Fault] = []
    found: list[Requirement] = []
    for text in texts:
        for term in filter(str.strip, _AT_COMMA.split(text)):
            try:
                requirements = list(_term(term))
            except selector.SelectorError as error:
                faults.append(Fault(f"--where {term.strip()!r}: {error}", allowed=_FORMS))
                continue
            found += requirements
            faults += [fault for requirement in requirements for fault in _faults(requirement, term, known)]
    if faults:
        raise BadInput(faults)
    return Requirements.of(found)


def _term(text: str) -> Iterator[Requirement]:
    if match := _COMPARED.fullmatch(text):
        operator = match[2].strip()
        yield Requirement.of(match[1], _COMPARISONS.get(operator, operator), (match[3],))
    elif match := _PRESENCE.fullmatch(text):
        yield Requirement.of(match[1], match[2])
    else:
        if match := _LISTED.fullmatch(text):
            text = f"{match[1]} {match[2].lower()} {match[3]}"
        for term in selector.parse(text).terms:
            yield Requirement.of(term.key, term.operator, term.values)


def _faults(requirement: Requirement, term: str, known: Collection[str]) -> Iterator[Fault]:
    key = normalise(requirement.key)
    if key not in known:
        short = {name.rpartition("/")[2]: name for name in sorted(known)}
        near = get_close_matches(key.rpartition("/")[2], short, n=1) or get_close_matches(
            f"instance-{key}", short, 1, 0.8
        )
        allowed = f"did you mean {short[near[0]]}?" if near else f"one of {', '.join(sorted(known))}"
        yield Fault(f"--where {term.strip()!r}: no instance type has the label {key}", allowed=allowed)
    elif not requirement.complement and requirement.values:
        wrong = invalid(key, "In", sorted(requirement.values), well_known=known)
        if wrong is not None:
            yield Fault(f"--where {term.strip()!r}: {wrong}")
