"""Documents of one file, whether YAML or JSON, as compact JSON.

A file that begins like JSON is JSON: one value, or several after one another.
Everything else is YAML.
One form for both lets what follows treat a hand-written file and a dump of a large cluster alike, and lets equal parts
of many objects be recognised by their bytes.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from baseload.kube import fieldpath
from baseload.kube.sources import Source
from baseload.values.errors import Fault

_LOOKS_LIKE_JSON = re.compile(rb'\s*(\{\s*["}]|\[)')
_SEPARATOR = re.compile(rb"^---", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """One document: compact JSON, and whether a repeated key would have been refused while reading it."""

    number: int  # 1 for the first of its file
    raw: msgspec.Raw
    keys_are_unique: bool


def split(source: Source, *, has_number_keys: bool = False) -> tuple[list[Document], list[Fault]]:
    """The documents of a file; empty ones are left out but counted. Keys of YAML are texts, or else numbers too."""
    if not _LOOKS_LIKE_JSON.match(source.text):
        return _yaml(source, has_number_keys=has_number_keys)
    try:
        return [Document(1, _compact(source.text), keys_are_unique=False)], []
    except RecursionError:
        return [], [Fault("is nested too deeply", file=source.file, document=1)]
    except msgspec.MsgspecError:
        if _SEPARATOR.search(source.text):
            return _yaml(source, has_number_keys=has_number_keys)
        return _json_stream(source)


def _yaml(source: Source, *, has_number_keys: bool) -> tuple[list[Document], list[Fault]]:
    from baseload.kube import yaml_reader  # PyYAML is slow to import and a JSON dump needs none of it

    values, faults = yaml_reader.read(source, has_number_keys=has_number_keys)
    return [Document(number, msgspec.Raw(msgspec.json.encode(value)), True) for number, value in values], faults


def _compact(text: bytes) -> msgspec.Raw:
    """The one JSON value of a text without the blanks in it; the decoding proves that it is JSON throughout."""
    return msgspec.json.decode(msgspec.json.format(text, indent=-1), type=msgspec.Raw)


def _json_stream(source: Source) -> tuple[list[Document], list[Fault]]:
    """Values after one another, as newline-delimited JSON has them; the slow way, which can say where JSON breaks."""
    text = source.text.decode()
    decoder = json.JSONDecoder()
    documents: list[Document] = []
    at = len(text) - len(text.lstrip())
    try:
        while at < len(text):
            _, end = decoder.raw_decode(text, at)
            raw = _compact(text[at:end].encode())
            documents.append(Document(len(documents) + 1, raw, keys_are_unique=False))
            at = end + len(text[end:]) - len(text[end:].lstrip())
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg}: line {error.lineno}, column {error.colno}"
    except msgspec.MsgspecError as error:
        message = f"is not JSON: {error}"
    except RecursionError:
        message = "is nested too deeply"
    else:
        return documents, []
    return documents, [Fault(message, file=source.file, document=len(documents) + 1)]


def excessive_numbers(raw: bytes) -> list[str]:
    """The paths of the numbers that msgspec refuses to decode."""

    def number(text: str) -> float:
        try:
            msgspec.json.decode(text)
        except msgspec.MsgspecError:
            return math.inf
        return 0.0

    return list(_infinite(json.loads(raw, parse_int=number, parse_float=number), ()))


def _infinite(value: object, steps: tuple[fieldpath.Step, ...]) -> Iterator[str]:
    if value == math.inf:
        yield fieldpath.text(steps)
    elif isinstance(value, dict):
        for key, held in value.items():
            yield from _infinite(held, (*steps, key))
    elif isinstance(value, list):
        for index, held in enumerate(value):
            yield from _infinite(held, (*steps, index))


def repeated_keys(raw: bytes) -> list[str]:
    """The keys that stand twice in one map of compact JSON.

    Encoding what was decoded gives the same length if no key was lost; only where it does not is the slow search made.
    """
    if len(msgspec.json.encode(msgspec.json.decode(raw))) == len(raw):
        return []
    repeated: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen and key not in repeated:
                repeated.append(key)
            seen.add(key)

    json.loads(raw, object_pairs_hook=note)
    return repeated
