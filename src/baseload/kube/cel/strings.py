"""What expressions do with texts."""

from typing import Final

from baseload.kube.cel import literals
from baseload.kube.cel.overloads import function, method
from baseload.kube.cel.values import Failure

_SPACES: Final = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER: Final = str.maketrans({code: code + 32 for code in range(ord("A"), ord("Z") + 1)})
_UPPER: Final = str.maketrans({code: code - 32 for code in range(ord("a"), ord("z") + 1)})

method("string.contains(string) bool")(lambda text, part: part in text)
method("string.startsWith(string) bool")(str.startswith)
method("string.endsWith(string) bool")(str.endswith)
method("string.lowerAscii() string")(lambda text: text.translate(_LOWER))
method("string.upperAscii() string")(lambda text: text.translate(_UPPER))
method("string.trim() string")(lambda text: text.strip(_SPACES))
method("list(string).join() string")("".join)
method("list(string).join(string) string")(lambda parts, between: between.join(parts))


@function("matches(string, string) bool")
@method("string.matches(string) bool")
def _matches(text: str, pattern: str) -> bool:
    return literals.regex(pattern).search(text) is not None


@method("string.find(string) string")
def _find(text: str, pattern: str) -> str:
    found = _regex(pattern).search(text)
    return str(found.group()) if found else ""


@method("string.findAll(string) list(string)", "string.findAll(string, int) list(string)")
def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found = [match.group() for match in _regex(pattern).finditer(text)]
    return found if most < 0 else found[:most]


def _regex(pattern: str) -> literals.Pattern:
    try:
        return literals.regex(pattern)
    except Failure as failure:
        raise Failure(f"Illegal regex: {failure}") from None


@method("string.charAt(int) string")
def _char_at(text: str, place: int) -> str:
    if not 0 <= place <= len(text):
        raise Failure(f"index out of range: {place}")
    return text[place : place + 1]


@method("string.indexOf(string) int", "string.indexOf(string, int) int")
def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    _at_least_zero(start)
    return text.find(part, start)


@method("string.lastIndexOf(string) int", "string.lastIndexOf(string, int) int")
def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    _at_least_zero(start)
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def _at_least_zero(place: int) -> None:
    if place < 0:
        raise Failure(f"index out of range: {place}")


@method("string.replace(string, string) string", "string.replace(string, string, int) string")
def _replace(text: str, old: str, new: str, most: int = -1) -> str:
    return text.replace(old, new, most if most >= 0 else -1)


@method("string.split(string) list(string)", "string.split(string, int) list(string)")
def _split(text: str, between: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    if not between:
        letters = list(text)
        return letters if most < 0 or most >= len(letters) else [*letters[: most - 1], text[most - 1 :]]
    return text.split(between, most - 1 if most > 0 else -1)


@method("string.substring(int) string")
def _substring_from(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise Failure(f"index out of range: {start}")
    return text[start:]


@method("string.substring(int, int) string")
def _substring(text: str, start: int, end: int) -> str:
    if start > end:
        raise Failure(f"invalid substring range. start: {start}, end: {end}")
    for place in (start, end):
        if not 0 <= place <= len(text):
            raise Failure(f"index out of range: {place}")
    return text[start:end]


@function("strings.quote(string) string")
def _quote(text: str) -> str:
    escapes = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", "\\": "\\", '"': '"'}
    return '"' + "".join(f"\\{escapes[sign]}" if sign in escapes else sign for sign in text) + '"'
