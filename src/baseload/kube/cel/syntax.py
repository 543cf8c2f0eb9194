"""Reading an expression: from text to a tree, by the grammar of the language, with the words of a real server's faults.

Operators are calls of functions with the names that the language gives them, `_&&_` and so on. Each node knows where
it stands, for faults that are found later.
"""

from dataclasses import dataclass
from typing import Final

from baseload.kube.cel.tokens import Issue, Token, scan
from baseload.kube.cel.values import Value

_DEEPEST: Final = 60  # expressions within expressions
_BINARY: Final[tuple[dict[str, str], ...]] = (
    {"||": "_||_"},
    {"&&": "_&&_"},
    {sign: f"_{sign}_" for sign in ("==", "!=", "<", "<=", ">", ">=")} | {"in": "@in"},
    {"+": "_+_", "-": "_-_"},
    {"*": "_*_", "/": "_/_", "%": "_%_"},
)
_STARTS: Final = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)
RESERVED: Final = frozenset(
    [
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let"),
        *("loop", "package", "namespace", "return", "var", "void", "while"),
    ]
)
"""Names that no variable may have"""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written out."""

    at: int
    value: Value


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a type, or the first part of a function's name."""

    at: int
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """A field of a map; `maybe` where it is written `.?`."""

    at: int
    operand: "Node"
    field: str
    maybe: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function, macro or operator with its arguments."""

    at: int
    function: str
    target: "Node | None"
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A list that is written out; `maybe` are the places of its optional elements."""

    at: int
    elements: tuple["Node", ...]
    maybe: frozenset[int]


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map that is written out."""

    at: int
    entries: tuple[tuple["Node", "Node"], ...]
    maybe: frozenset[int]


Node = Literal | Name | Select | Call | Listed | Mapped


class Wrong(Exception):
    """An expression that is none, or makes no sense."""

    def __init__(self, issues: list[Issue]) -> None:
        super().__init__(issues)
        self.issues = issues


def parse(text: str) -> Node:
    """The tree of an expression; raises Wrong."""
    tokens, issues = scan(text)
    parser = _Parser(tokens)
    try:
        node = parser.expression()
        parser.end()
    except Wrong as wrong:
        raise Wrong([*issues, *wrong.issues]) from None
    if issues:
        raise Wrong(issues)
    return node


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._depth = 0

    def expression(self) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Wrong([Issue(self._next.at, f"expression recursion limit exceeded: {_DEEPEST}")])
        condition = self._binary(0)
        if (sign := self._take("?")) is not None:
            chosen = self._binary(0)
            self._expect(":")
            condition = Call(sign.at, "_?_:_", None, (condition, chosen, self.expression()))
        self._depth -= 1
        return condition

    def end(self) -> None:
        left = self._next
        if left.sort != "end":
            is_last = self._tokens[self._position + 1].sort == "end"
            head = "extraneous" if is_last else "mismatched"
            raise Wrong([Issue(left.at, f"Syntax error: {head} input '{left.text}' expecting <EOF>")])

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def _take(self, *signs: str) -> Token | None:
        token = self._next
        if token.sort == "sign" and token.text in signs:
            self._position += 1
            return token
        return None

    def _expect(self, sign: str) -> Token:
        token = self._take(sign)
        if token is None:
            at = self._next
            if at.sort == "end":
                raise Wrong([Issue(at.at, f"Syntax error: missing '{sign}' at '<EOF>'")])
            raise Wrong([Issue(at.at, f"Syntax error: mismatched input '{at.text}' expecting '{sign}'")])
        return token

    def _name(self) -> Token:
        token = self._next
        if token.sort != "name" and token.text != "in":
            raise Wrong([Issue(token.at, f"Syntax error: mismatched input '{token.shown}' expecting IDENTIFIER")])
        self._position += 1
        return token

    def _binary(self, level: int) -> Node:
        if level == len(_BINARY):
            return self._unary()
        left = self._binary(level + 1)
        names = _BINARY[level]
        while (sign := self._take(*names)) is not None:
            left = Call(sign.at, names[sign.text], None, (left, self._binary(level + 1)))
        return left

    def _unary(self) -> Node:
        signs: list[Token] = []
        while (sign := self._take("!", "-")) is not None:
            signs.append(sign)
        if signs and signs[-1].text == "-" and type(self._next.value) in (int, float):
            number = self._next
            held = number.value
            assert isinstance(held, int | float)
            self._tokens[self._position] = Token("literal", f"-{number.text}", signs.pop().at, -held)
        node = self._member()
        for sign in reversed(signs):
            node = Call(sign.at, f"{sign.text}_", None, (node,))
        return node

    def _member(self) -> Node:
        node = self._primary()
        while (sign := self._take(".", "[")) is not None:
            if sign.text == "[":
                name = "_[?_]" if self._take("?") else "_[_]"
                node = Call(sign.at, name, None, (node, self.expression()))
                self._expect("]")
                continue
            maybe = self._take("?") is not None
            name_token = self._name()
            if not maybe and (bracket := self._take("(")) is not None:
                node = Call(bracket.at, name_token.text, node, self._arguments(")"))
            else:
                node = Select(sign.at, node, name_token.text, maybe)
        return node

    def _primary(self) -> Node:
        token = self._next
        if token.sort == "literal":
            self._position += 1
            return Literal(token.at, token.value)
        if self._take("("):
            node = self.expression()
            self._expect(")")
            return node
        if self._take("["):
            return self._list(token.at)
        if self._take("{"):
            return self._map(token.at)
        self._take(".")
        return self._call_or_name()

    def _call_or_name(self) -> Node:
        token = self._next
        if token.sort != "name":
            raise Wrong([Issue(token.at, f"Syntax error: mismatched input '{token.shown}' expecting {_STARTS}")])
        self._position += 1
        if (bracket := self._take("(")) is not None:
            return Call(bracket.at, token.text, None, self._arguments(")"))
        if token.text in RESERVED:
            raise Wrong([Issue(token.at, f"reserved identifier: {token.text}")])
        return Name(token.at, token.text)

    def _arguments(self, closing: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while self._take(closing) is None:
            if found:
                self._expect(",")
            found.append(self.expression())
        return tuple(found)

    def _list(self, at: int) -> Node:
        elements: list[Node] = []
        maybe: set[int] = set()
        while self._take("]") is None:
            if elements:
                self._expect(",")
                if self._take("]"):
                    break
            if self._take("?"):
                maybe.add(len(elements))
            elements.append(self.expression())
        return Listed(at, tuple(elements), frozenset(maybe))

    def _map(self, at: int) -> Node:
        entries: list[tuple[Node, Node]] = []
        maybe: set[int] = set()
        while self._take("}") is None:
            if entries:
                self._expect(",")
                if self._take("}"):
                    break
            if self._take("?"):
                maybe.add(len(entries))
            key = self.expression()
            self._expect(":")
            entries.append((key, self.expression()))
        return Mapped(at, tuple(entries), frozenset(maybe))
