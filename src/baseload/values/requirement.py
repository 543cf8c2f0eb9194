"""The algebra of label requirements: what a pod, a pool, a claim or a node says about one label key, and about all.

A requirement is a set of label values, held either as the values it lists (In, DoesNotExist) or as everything but the
values it excludes (`complement`: NotIn, Exists and the comparisons), the latter possibly cut to an inclusive range of
integers. Requirements on one key combine by intersection. An empty concrete set means that the label must be absent.

`Requirements` holds one requirement a key. Two questions are asked of it. `intersects`: do both sides agree on every
key that both name. `compatible`, which is one-way: could the demands of a pod be met given what a node or claim says;
there a key that the node's side leaves open fails unless the caller allows that (well-known keys come with the launch).

Everything here is immutable and hashable, so that decisions can be remembered by the requirements they were made for.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NotRequired, TypedDict

from baseload.values import label
from baseload.values.errors import BadInput, Fault
from baseload.values.label import is_label_value, is_qualified_name, normalise

OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")


class NodeSelectorRequirement(TypedDict):
    """A requirement as manifests and plans write it."""

    key: str
    operator: str
    values: list[str]
    minValues: NotRequired[int]


def _operand(values: Iterable[str]) -> int:
    """The operand of a comparison.

    Preferred terms come here unchecked: there a text that is no integer counts as 0, one beyond 64 bits as the limit.
    """
    text = next(iter(values), "")
    if (number := label.integer(text)) is not None:
        return number
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return label.MIN_INT64 if text.startswith("-") else label.MAX_INT64
    return 0


def _greater(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else max(a, b)


def _lesser(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _crossed(gte: int | None, lte: int | None) -> bool:
    return gte is not None and lte is not None and gte > lte


def _within(value: str, gte: int | None, lte: int | None) -> bool:
    """Whether a value lies within the bounds; under any bound a value that is no integer lies outside."""
    if gte is None and lte is None:
        return True
    number = label.integer(value)
    return number is not None and (gte is None or number >= gte) and (lte is None or number <= lte)


@dataclass(frozen=True, slots=True)
class Requirement:
    """What is demanded of one label key."""

    key: str
    complement: bool
    values: frozenset[str] = frozenset()
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None

    @staticmethod
    def of(key: str, operator: str, values: Iterable[str] = (), min_values: int | None = None) -> "Requirement":
        """The requirement that a manifest writes as key, operator and values; the key is normalised."""
        key = normalise(key)
        match operator:
            case "In":
                return Requirement(key, False, frozenset(values), min_values=min_values)
            case "NotIn":
                return Requirement(key, True, frozenset(values), min_values=min_values)
            case "Exists":
                return Requirement(key, True, min_values=min_values)
            case "DoesNotExist":
                return Requirement(key, False, min_values=min_values)
            case "Gt" | "Gte" | "Lt" | "Lte":
                return _comparison(key, operator, _operand(values), min_values)
        message = f'the requirement on key "{key}" has operator "{operator}"'
        raise BadInput([Fault(message, allowed=f"one of {', '.join(OPERATORS)}")])

    @property
    def operator(self) -> Literal["In", "NotIn", "Exists", "DoesNotExist"]:
        """The operator read back; a comparison reads back as Exists, its bounds notwithstanding."""
        if self.complement:
            return "NotIn" if self.values else "Exists"
        return "In" if self.values else "DoesNotExist"

    @property
    def tolerates_absence(self) -> bool:
        """Whether a node without the label satisfies this."""
        return self.operator in ("NotIn", "DoesNotExist")

    def has(self, value: str) -> bool:
        """Whether the value is allowed."""
        return (value in self.values) is not self.complement and _within(value, self.gte, self.lte)

    def intersect(self, other: "Requirement") -> "Requirement":
        """Both demands at once; `self` itself where the other adds nothing.

        Bounds that cross leave DoesNotExist. Under bounds listed and excluded values outside them are dropped, and a
        concrete result drops the bounds, which its values now embody.
        """
        if self is other:
            return self
        gte, lte = _greater(self.gte, other.gte), _lesser(self.lte, other.lte)
        min_values = _greater(self.min_values, other.min_values)
        if _crossed(gte, lte):
            return Requirement(self.key, False, min_values=min_values)
        values = self._merged_values(other)
        if gte is not None or lte is not None:
            values = frozenset(value for value in values if _within(value, gte, lte))
        if self.complement and other.complement:
            met = Requirement(self.key, True, values, gte, lte, min_values)
        else:
            met = Requirement(self.key, False, values, min_values=min_values)
        return self if met == self else met

    def overlaps(self, other: "Requirement") -> bool:
        """Whether some value may satisfy both. Absence is no value: DoesNotExist overlaps nothing, not even itself."""
        gte, lte = _greater(self.gte, other.gte), _lesser(self.lte, other.lte)
        if _crossed(gte, lte):
            return False
        if self.complement and other.complement:
            return True  # endless on both sides, however many values are excluded
        return any(_within(value, gte, lte) for value in self._merged_values(other))

    def agrees(self, other: "Requirement") -> bool:
        """Whether both go together: by a common value, or because both can do without the label."""
        return self.overlaps(other) or (self.tolerates_absence and other.tolerates_absence)

    def selectors(self) -> list[NodeSelectorRequirement]:
        """This as manifests write it: one entry, or two for a range. Beside bounds excluded values are lost."""
        if self.gte is None and self.lte is None:
            return [self._entry(self.operator, sorted(self.values))]
        bounds = (("Gte", self.gte), ("Lte", self.lte))
        return [self._entry(operator, [str(bound)]) for operator, bound in bounds if bound is not None]

    def _merged_values(self, other: "Requirement") -> frozenset[str]:
        if self.complement:
            return self.values | other.values if other.complement else other.values - self.values
        return self.values - other.values if other.complement else self.values & other.values

    def _entry(self, operator: str, values: list[str]) -> NodeSelectorRequirement:
        entry = NodeSelectorRequirement(key=self.key, operator=operator, values=values)
        if self.min_values is not None:
            entry["minValues"] = self.min_values
        return entry

    def __str__(self) -> str:
        text = f"{self.key} {self.operator}"
        if self.values:
            listed = sorted(self.values)
            more = [f"and {len(listed) - 5} others"] if len(listed) > 5 else []
            text += f" [{' '.join(listed[:5] + more)}]"
        if self.gte is not None:
            text += f" >={self.gte}"
        if self.lte is not None:
            text += f" <={self.lte}"
        return text if self.min_values is None else f"{text} minValues {self.min_values}"


def _comparison(key: str, operator: str, operand: int, min_values: int | None) -> Requirement:
    """Gt, Gte, Lt or Lte. Nothing exceeds the largest integer, and Karpenter forgets minValues in saying so."""
    bound = operand + {"Gt": 1, "Lt": -1}.get(operator, 0)
    if not label.MIN_INT64 <= bound <= label.MAX_INT64:
        return Requirement(key, False)
    if operator in ("Gt", "Gte"):
        return Requirement(key, True, gte=bound, min_values=min_values)
    return Requirement(key, True, lte=bound, min_values=min_values)


@lru_cache(maxsize=4096)
def exists(key: str) -> Requirement:
    """The requirement that says nothing but that the label be there."""
    return Requirement(normalise(key), True)


class Requirements(Mapping[str, Requirement]):
    """One requirement a key, in the order of the keys; immutable."""

    __slots__ = ("_by_key", "_hash")

    def __init__(self, by_key: Mapping[str, Requirement]) -> None:
        self._by_key: Final = {key: by_key[key] for key in sorted(by_key)}
        self._hash: int | None = None

    @staticmethod
    def of(requirements: Iterable[Requirement]) -> "Requirements":
        """These requirements together; those on one key are intersected."""
        return EMPTY.add(*requirements)

    @staticmethod
    def of_labels(labels: Mapping[str, str]) -> "Requirements":
        """What a node with these labels, or a nodeSelector of them, says: each key In its value."""
        return EMPTY.add(*(Requirement.of(key, "In", (value,)) for key, value in labels.items()))

    def __getitem__(self, key: str) -> Requirement:
        return self._by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Requirements) and hash(self) == hash(other) and self._by_key == other._by_key

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self._by_key.values()))
        return self._hash

    def __repr__(self) -> str:
        return f"Requirements({self})"

    def __str__(self) -> str:
        return ", ".join(map(str, self._by_key.values()))

    def add(self, *requirements: "Requirement | Requirements") -> "Requirements":
        """These joined in by intersection; `self` itself where nothing changes."""
        changed: dict[str, Requirement] = {}
        for requirement in _flat(requirements):
            key = requirement.key
            held = changed.get(key) or self._by_key.get(key)
            met = requirement if held is None else held.intersect(requirement)
            if met is not held:
                changed[key] = met
        return Requirements(self._by_key | changed) if changed else self

    def get_or_exists(self, key: str) -> Requirement:
        """The requirement on a key; a key that nobody mentions may have any value."""
        return self._by_key.get(key) or exists(key)

    def intersects(self, other: "Requirements") -> bool:
        """Whether both sides agree on every key that both name."""
        small, large = (self, other) if len(self) <= len(other) else (other, self)
        return all(
            key not in large._by_key or requirement.agrees(large._by_key[key])
            for key, requirement in small._by_key.items()
        )

    def compatible(self, other: "Requirements", allow_undefined: Collection[str] = ()) -> bool:
        """Whether the demands of `other` (a pod) could be met given what this (a node or claim) says."""
        return self.intersects(other) and all(
            requirement.tolerates_absence or key in self._by_key or key in allow_undefined
            for key, requirement in other._by_key.items()
        )

    def conflict(self, other: "Requirements", allow_undefined: Collection[str] = ()) -> tuple[str, str] | None:
        """The first key that makes these incompatible and why, None when they are compatible."""
        for key, demand in other._by_key.items():
            if not (demand.tolerates_absence or key in self._by_key or key in allow_undefined):
                return key, f'label "{key}" does not have known values{self._hint(key, allow_undefined)}'
        for key, demand in other._by_key.items():
            held = self._by_key.get(key)
            if held is not None and not held.agrees(demand):
                return key, f"key {key}, {demand} not in {held}"
        return None

    def _hint(self, key: str, allow_undefined: Collection[str]) -> str:
        """The known key that the user may have meant."""
        name = key.partition("/")[2] or key
        for known in (*sorted(allow_undefined), *self._by_key):
            if key in known or known.endswith(name):
                return f' (typo of "{known}"?)'
        return ""


def _flat(requirements: Iterable[Requirement | Requirements]) -> Iterator[Requirement]:
    for requirement in requirements:
        if isinstance(requirement, Requirements):
            yield from requirement.values()
        else:
            yield requirement


EMPTY: Final = Requirements({})


def invalid(
    key: str,
    operator: str,
    values: Collection[str],
    min_values: int | None = None,
    *,
    well_known: Collection[str],
    reserved_domains: Collection[str] = (),
) -> str | None:
    """Everything that is wrong with a requirement as a user wrote it, None when nothing is."""
    key = normalise(key)
    faults = [
        label.restricted(key, well_known=well_known, reserved_domains=reserved_domains),
        _unknown_values(key, operator, values, min_values) if key in well_known else None,
        None if is_qualified_name(key) else f'key "{key}" is not a qualified name',
        *(f'value "{value}" of key "{key}" is not a label value' for value in values if not is_label_value(value)),
        _operator_fault(key, operator, values, min_values),
    ]
    return "; ".join(fault for fault in faults if fault) or None


def _operator_fault(key: str, operator: str, values: Collection[str], min_values: int | None) -> str | None:
    wanted = f'key "{key}" with operator {operator} must have'
    if operator not in OPERATORS:
        return f'key "{key}" has operator "{operator}", which is none of {", ".join(OPERATORS)}'
    if operator == "In" and not values:
        return f"{wanted} at least one value"
    if operator == "In" and min_values is not None and len(values) < min_values:
        return f"{wanted} at least minValues {min_values} values, not {len(values)}"
    if operator in ("Gt", "Lt", "Gte", "Lte"):
        operands = [label.integer(value) for value in values]
        if len(operands) != 1 or operands[0] is None or operands[0] < 0:
            return f"{wanted} one integer that is not negative as its only value"
    return None


def _unknown_values(key: str, operator: str, values: Collection[str], min_values: int | None) -> str | None:
    """What is wrong with the values of a key whose possible values are known; unknown ones beside known ones pass."""
    known = label.KNOWN_VALUES.get(key)
    if known is None or operator != "In" or not values:
        return None
    needed = min_values or 1
    if sum(value in known for value in values) >= needed:
        return None
    return f'key "{key}" must have at least {needed} of the known values {", ".join(known)}, not {", ".join(values)}'
