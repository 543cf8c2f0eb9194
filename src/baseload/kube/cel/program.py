"""One expression, ready to be evaluated.

An expression is compiled against the types of `self` and `oldSelf` once and evaluated often.
An evaluation that comes to no value raises Failure with the server's words.
"""

from dataclasses import dataclass

from baseload.kube.cel import lists, macros, networks, operators, quantities, strings, syntax, times, types, values
from baseload.kube.cel.compiling import Compiler, Run, Scope, Variable
from baseload.kube.cel.syntax import Node, Wrong
from baseload.kube.cel.tokens import Issue
from baseload.kube.cel.types import Type
from baseload.kube.cel.values import Value

LIBRARIES = (lists, macros, networks, operators, quantities, strings, times)
"""The modules that declare functions and macros; importing them is what makes those known"""


class Refused(Exception):
    """An expression that does not compile; its text tells every fault as a real server does."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled expression."""

    type: Type
    uses_old: bool
    places: int
    run: Run

    def evaluate(self, self_: Value, old: Value = None) -> Value:
        """The value for an object, and what it was before."""
        held: list[Value] = [None] * self.places
        held[0], held[1] = self_, old
        try:
            return self.run(held)
        except RecursionError:
            raise values.Failure("expression recursion limit exceeded") from None
        except (AttributeError, TypeError):  # a null in a nullable field is not of the type that is declared
            raise values.no_such_overload() from None


def compile(text: str, self_: Type, *, is_old_optional: bool = False) -> Program:
    """The program of an expression; raises Refused."""
    old = types.optional(self_) if is_old_optional else self_
    scope: Scope = {"self": Variable(self_, 0), "oldSelf": Variable(old, 1)}
    compiler = Compiler(len(scope))
    try:
        node = syntax.parse(text)
        told = compiler.compile(node, scope)
    except Wrong as wrong:
        raise Refused(_told(text, wrong.issues)) from None
    except RecursionError:
        raise Refused(_told(text, [Issue(0, "expression recursion limit exceeded")])) from None
    if compiler.issues:
        raise Refused(_told(text, sorted(compiler.issues, key=lambda issue: issue.at)))
    if compiler.unstartable:
        raise Refused(f"program instantiation failed: {compiler.unstartable}")
    return Program(told.type, _names_old(node), compiler.places, told.run)


def _told(text: str, issues: list[Issue]) -> str:
    return "compilation failed: " + "\n".join(_shown(text, issue) for issue in issues)


def _shown(text: str, issue: Issue) -> str:
    line = text.count("\n", 0, issue.at)
    column = issue.at - (text.rfind("\n", 0, issue.at) + 1)
    source = text.split("\n")[line].replace("\t", " ")
    return f"ERROR: <input>:{line + 1}:{column + 1}: {issue.message}\n | {source}\n | {'.' * column}^"


def _names_old(node: Node) -> bool:
    match node:
        case syntax.Name():
            return node.name == "oldSelf"
        case syntax.Select():
            return _names_old(node.operand)
        case syntax.Call():
            return any(map(_names_old, (*node.arguments, *((node.target,) if node.target is not None else ()))))
        case syntax.Listed():
            return any(map(_names_old, node.elements))
        case syntax.Mapped():
            return any(_names_old(key) or _names_old(value) for key, value in node.entries)
    return False
