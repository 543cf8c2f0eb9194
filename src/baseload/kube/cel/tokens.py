"""The words of an expression: names, literals and signs, each with the place where it begins."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from baseload.kube.cel.values import UInt, Value

Sort = Literal["name", "literal", "sign", "end"]

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n\f]+|//[^\n]*)
      | (?P<text>(?P<prefix>[rR]?[bB]?|[bB][rR])(?P<quote>\"\"\"|'''|"|'))
      | (?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
      | (?P<int>0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU]?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<sign>==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()\[\]{}])
    """,
    re.VERBOSE,
)
_WORDS: Final[dict[str, Value]] = {"true": True, "false": False, "null": None}
_SIMPLE: Final = {
    "a": 7,
    "b": 8,
    "f": 12,
    "n": 10,
    "r": 13,
    "t": 9,
    "v": 11,
    "\\": 92,
    "'": 39,
    '"': 34,
    "`": 96,
    "?": 63,
}
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<simple>[abfnrtv\\'\"`?])|x(?P<byte>[0-9a-fA-F]{2})|u(?P<four>[0-9a-fA-F]{4})"
    r"|U(?P<eight>[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})|(?P<wrong>.))",
    re.DOTALL,
)


class WrongText(ValueError):
    """A literal that cannot be read."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word; `text` as it is written, `value` of a literal."""

    sort: Sort
    text: str
    at: int
    value: Value = None

    @property
    def shown(self) -> str:
        return "<EOF>" if self.sort == "end" else self.text


@dataclass(frozen=True, slots=True)
class Issue:
    """Something wrong in an expression, and where."""

    at: int
    message: str


def scan(text: str) -> tuple[list[Token], list[Issue]]:
    """The tokens of an expression, the end among them, and what is none."""
    tokens: list[Token] = []
    issues: list[Issue] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            # The lexer of a real server takes the character after a lone sign along.
            wrong = text[position : position + 2] if text[position] in "=&|" else text[position]
            issues.append(Issue(position, f"Syntax error: token recognition error at: '{wrong}'"))
            position += len(wrong)
            continue
        token, end = _token(text, match)
        if token is not None:
            tokens.append(token)
        elif match["space"] is None:
            issues.append(Issue(position, f"Syntax error: token recognition error at: '{text[position:end]}'"))
        position = end
    tokens.append(Token("end", "", len(text)))
    return tokens, issues


def _token(text: str, match: re.Match[str]) -> tuple[Token | None, int]:
    at, end, written = match.start(), match.end(), match.group()
    if match["space"] is not None:
        return None, end
    if match["text"] is not None:
        return _quoted(text, match)
    if match["float"] is not None:
        return Token("literal", written, at, float(written)), end
    if match["int"] is not None:
        number = int(match["int"], 16) if match["int"].startswith("0x") else int(match["int"])
        return Token("literal", written, at, UInt(number) if match["unsigned"] else number), end
    if match["sign"] is not None:
        return Token("sign", written, at), end
    if written in _WORDS:
        return Token("literal", written, at, _WORDS[written]), end
    return Token("sign" if written == "in" else "name", written, at), end


def _quoted(text: str, match: re.Match[str]) -> tuple[Token | None, int]:
    quote, prefix, start = match["quote"], match["prefix"].lower(), match.end()
    raw = "r" in prefix
    position = start
    while not text.startswith(quote, position):
        if position >= len(text) or (len(quote) == 1 and text[position] == "\n"):
            return None, min(position, len(text))
        position += 2 if text[position] == "\\" and not raw else 1
    end = position + len(quote)
    held = text[start:position]
    try:
        value = _unescaped(held, is_bytes="b" in prefix) if not raw else _raw(held, is_bytes="b" in prefix)
    except WrongText:
        return None, end
    return Token("literal", text[match.start() : end], match.start(), value), end


def _raw(held: str, *, is_bytes: bool) -> Value:
    return held.encode() if is_bytes else held


def _unescaped(held: str, *, is_bytes: bool) -> Value:
    if not is_bytes:
        return _ESCAPE.sub(lambda match: chr(_code(match)), held) if "\\" in held else held
    parts: list[bytes] = []
    position = 0
    for match in _ESCAPE.finditer(held):
        parts += [held[position : match.start()].encode(), _byte(match)]
        position = match.end()
    return b"".join([*parts, held[position:].encode()])


def _code(match: re.Match[str]) -> int:
    if match["simple"]:
        return _SIMPLE[match["simple"]]
    digits = match["byte"] or match["four"] or match["eight"]
    code = int(digits, 16) if digits else int(match["octal"], 8) if match["octal"] else -1
    if not 0 <= code < 0x110000 or 0xD800 <= code < 0xE000:
        raise WrongText
    return code


def _byte(match: re.Match[str]) -> bytes:
    code = _code(match)
    return bytes([code]) if match["byte"] or match["octal"] else chr(code).encode()
