"""YAML as Kubernetes reads it, turned into plain values.

Kubernetes knows the booleans of YAML 1.1 (`yes`, `on`) but neither its dates nor its base-60 numbers, and takes
`1e3` for a number.
The parser is PyYAML's C one; scalars are resolved here, and the tree is built here, because a manifest must not repeat
a key, point an alias at itself, or blow up into more than it says.
"""

import math
import re
from collections.abc import Iterator
from functools import lru_cache

import yaml

from baseload.kube import fieldpath
from baseload.kube.sources import Source
from baseload.values.errors import Fault

MAX_DEPTH = 100
MAX_ALIASED = 100_000
"""How many values aliases may add to those that are written out."""
LONG_TEXT = 100
"""Characters that count as one value more: a long text, repeated by aliases, is a bomb as well."""

_TAG = "tag:yaml.org,2002:"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INT = re.compile(r"[-+]?(0b[01]+|0x[0-9a-fA-F]+|0o?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_STARTS_A_NUMBER = frozenset("+-.0123456789")
_BASES = {"0b": 2, "0x": 16, "0o": 8}


@lru_cache(maxsize=4096)
def _tag(text: str) -> str:
    """The tag of a plain scalar."""
    if text in _NULLS:
        return _TAG + "null"
    if text in _TRUE or text in _FALSE:
        return _TAG + "bool"
    if text == "<<":
        return _TAG + "merge"
    return _TAG + ("str" if isinstance(_number(text), str) else "float")


class _Parser(yaml.CSafeLoader):
    """The C parser with Kubernetes' reading of plain scalars."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: tuple[bool, bool]) -> str:
        if kind is yaml.ScalarNode:
            return _tag(value) if implicit[0] else _TAG + "str"
        return _TAG + ("seq" if kind is yaml.SequenceNode else "map")


class _Refused(Exception):
    """A document that cannot be built at all."""

    def __init__(self, message: str, node: yaml.Node) -> None:
        self.message = f"{message} (line {node.start_mark.line + 1}, column {node.start_mark.column + 1})"


def read(source: Source, *, has_number_keys: bool = False) -> tuple[list[tuple[int, object]], list[Fault]]:
    """The documents of a YAML file with their numbers, as plain values; empty ones are counted and left out.

    With `has_number_keys` numbers are keys too, as they are written.
    """
    values: list[tuple[int, object]] = []
    faults: list[Fault] = []
    number = 1
    try:
        for node in _nodes(source.text):
            value = _Tree(source.file, number, faults, has_number_keys=has_number_keys).document(node)
            if value is not None:
                values.append((number, value))
            number += 1  # an error in what follows is the next document's
    except yaml.YAMLError as error:
        faults.append(Fault(f"is not YAML: {_reason(error)}", file=source.file, document=number))
    except RecursionError:
        faults.append(Fault("is nested too deeply", file=source.file, document=number))
    return values, faults


def _nodes(text: bytes) -> Iterator[yaml.Node]:
    parser = _Parser(text)
    try:
        while parser.check_node():
            node = parser.get_node()
            if node is not None:
                yield node
    finally:
        parser.dispose()


def _reason(error: yaml.YAMLError) -> str:
    if not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).split())
    said = ": ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark or error.context_mark
    return f"{said}: line {mark.line + 1}, column {mark.column + 1}" if mark else said


class _Tree:
    """One document under construction."""

    def __init__(self, file: str, number: int, faults: list[Fault], *, has_number_keys: bool) -> None:
        self.file = file
        self.key_tags = {_TAG + "str", _TAG + "float"} if has_number_keys else {_TAG + "str"}
        self.number = number
        self.faults = faults
        self.steps: list[fieldpath.Step] = []
        self.built: dict[int, tuple[object, int]] = {}  # id of a node -> its value and how many values that holds
        self.open: set[int] = set()
        self.written = 0
        self.merged = 0  # entries that << has copied

    def document(self, node: yaml.Node) -> object:
        """The value of the root, or None where the document was refused or is empty."""
        before = len(self.faults)
        try:
            value, _ = self._build(node)
        except _Refused as refused:
            self._fault(refused.message)
            return None
        return None if len(self.faults) > before else value

    def _fault(self, message: str, allowed: str = "") -> None:
        self.faults.append(
            Fault(message, file=self.file, document=self.number, path=fieldpath.text(self.steps), allowed=allowed)
        )

    def _build(self, node: yaml.Node) -> tuple[object, int]:
        known = self.built.get(id(node))
        if known is not None:
            return known
        self.written += 1
        if isinstance(node, yaml.ScalarNode):
            return self._text(node) if len(node.value) >= LONG_TEXT else (self._scalar(node), 1)
        if id(node) in self.open:
            raise _Refused("an alias points at a value that contains it", node)
        if len(self.steps) >= MAX_DEPTH:
            raise _Refused(f"is nested more than {MAX_DEPTH} levels deep", node)
        self.open.add(id(node))
        built = self._sequence(node) if isinstance(node, yaml.SequenceNode) else self._mapping(node)
        self.open.discard(id(node))
        if built[1] - self.written > MAX_ALIASED:
            raise _Refused(f"aliases stand for more than {MAX_ALIASED} values", node)
        self.built[id(node)] = built
        return built

    def _text(self, node: yaml.ScalarNode) -> tuple[object, int]:
        size = 1 + len(node.value) // LONG_TEXT
        self.written += size - 1
        built = self.built[id(node)] = self._scalar(node), size
        return built

    def _scalar(self, node: yaml.ScalarNode) -> object:
        kind = node.tag.removeprefix(_TAG)
        if kind in ("str", "merge"):
            return node.value
        if kind == "null":
            return None
        if kind == "bool" and node.value in _TRUE | _FALSE:
            return node.value in _TRUE
        if kind in ("int", "float") and _tag(node.value) == _TAG + "float":
            return self._number(node)
        raise _Refused(f"the tag {node.tag} does not go with {node.value!r}", node)

    def _number(self, node: yaml.ScalarNode) -> object:
        value = _number(node.value)
        if value is None:
            raise _Refused(f"{node.value} is no number that JSON knows", node)
        return value

    def _sequence(self, node: yaml.SequenceNode) -> tuple[object, int]:
        if node.tag != _TAG + "seq":
            raise _Refused(f"the tag {node.tag} is unknown", node)
        items: list[object] = []
        total = 1
        for index, child in enumerate(node.value):
            self.steps.append(index)
            value, size = self._build(child)
            self.steps.pop()
            items.append(value)
            total += size
        return items, total

    def _mapping(self, node: yaml.Node) -> tuple[object, int]:
        if node.tag != _TAG + "map":
            raise _Refused(f"the tag {node.tag} is unknown", node)
        entries: dict[str, object] = {}
        merged: dict[str, object] = {}
        total = 1
        for key_node, child in node.value:
            if key_node.tag == _TAG + "merge":
                total += self._merge(child, merged)
                continue
            key = self._key(key_node)
            self.steps.append(key)
            value, size = self._build(child)
            if key in entries:
                self._fault(f"the key {key} stands twice in one map (line {key_node.start_mark.line + 1})")
            self.steps.pop()
            entries[key] = value
            total += size + len(key) // LONG_TEXT
        return merged | entries if merged else entries, total

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise _Refused("a list or a map is used as a key", node)
        if node.tag not in self.key_tags:
            self._fault(
                f"the key {node.value or 'null'} is not a string (line {node.start_mark.line + 1})",
                allowed=f'in quotes it is: "{node.value}"',
            )
        return str(node.value)

    def _merge(self, node: yaml.Node, into: dict[str, object]) -> int:
        """Take over the entries of another map (`<<: *defaults`), or of several; the first to name a key wins."""
        value, size = self._build(node)
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                raise _Refused("<< takes a map or a list of maps", node)
            self.merged += len(part)
            if self.merged > MAX_ALIASED:
                raise _Refused(f"<< stands for more than {MAX_ALIASED} values", node)
            for key, held in part.items():
                into.setdefault(key, held)
        return size


def _number(text: str) -> int | float | str | None:
    """The number of a plain scalar as Go's reader takes it, None where JSON has none for it, the text if it is none."""
    if text[:1] not in _STARTS_A_NUMBER:
        return text
    if _SPECIAL_FLOAT.fullmatch(text):
        return None
    plain = text.replace("_", "")
    if _INT.fullmatch(plain) and len(plain) < 70:
        whole = _whole(plain)
        if -(2**63) <= whole < 2**64:
            return whole
    if not _FLOAT.fullmatch(plain) or not math.isfinite(float(plain)):
        return text
    value = float(plain)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _whole(text: str) -> int:
    digits = text.lstrip("+-")
    sign = -1 if text.startswith("-") else 1
    base = _BASES.get(digits[:2], 8 if digits.startswith("0") else 10)
    return sign * int(digits[2:] if digits[:2] in _BASES else digits, base)
