"""Answers in YAML, laid out as a real server lays them out: keys in natural order, texts that could be read as
something else in quotes, long ones folded.
"""

import re
from functools import cmp_to_key
from typing import Final

import msgspec
import yaml

_WORDS: Final = frozenset(
    word
    for lower in ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "", "~", "<<", ".inf", ".nan")
    for word in (lower, lower.capitalize(), lower.upper(), ".Inf", ".NaN", "+.inf", "-.inf")
)
_NUMBER: Final = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?0(?:[xX][0-9a-fA-F_]+|[bB][01_]+|[oO]?[0-7_]+)"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?")


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


def written(body: bytes) -> bytes:
    """JSON as YAML."""
    text: bytes = yaml.dump(
        _sorted(msgspec.json.decode(body)), Dumper=_Dumper, sort_keys=False, allow_unicode=True, encoding="utf-8"
    )
    return text


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value, key=cmp_to_key(_order))}
    return [_sorted(held) for held in value] if isinstance(value, list) else value


def _order(one: str, other: str) -> int:
    """Natural order: numbers in names by their value, letters after all else."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left == right:
            continue
        if left.isalpha() or right.isalpha():
            is_less = left < right if left.isalpha() and right.isalpha() else right.isalpha()
            return -1 if is_less else 1
        mine, others = _digits(one, place), _digits(other, place)
        key, other_key = (int(mine or 0), len(mine), left), (int(others or 0), len(others), right)
        return -1 if key < other_key else 1
    return len(one) - len(other)


def _digits(text: str, place: int) -> str:
    found = re.compile(r"[0-9]*").match(text, place)
    return found[0] if found else ""


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    style = None
    if "\n" in text:
        style = "|"
    elif text in _WORDS or _NUMBER.fullmatch(text) or _DATE.fullmatch(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


def _float(dumper: _Dumper, number: float) -> yaml.Node:
    text = repr(number).removesuffix(".0")
    kind = "float" if "." in text else "int" if text.lstrip("-").isdigit() else "str"  # else the tag would be told
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _float)
