"""The tree of errors in the docstring of `baseload.values.errors` is the tree of the classes."""

import textwrap
from collections.abc import Iterator

from baseload.values import errors
from baseload.values.errors import BadInput, BaseloadError, Fault


def drawn(docstring: str) -> list[tuple[int, str]]:
    """The (depth, name) lines of the tree, which is the docstring's last paragraph."""
    lines = textwrap.dedent(docstring.split("\n\n")[-1]).splitlines()
    return [((len(line) - len(line.lstrip())) // 4, line.split()[0]) for line in lines]


def walked(error: type[BaseloadError], depth: int = 0) -> Iterator[tuple[int, str]]:
    yield depth, error.__name__
    for kind in error.__subclasses__():
        if kind.__module__ == error.__module__:
            yield from walked(kind, depth + 1)


def test_the_docstring_draws_the_tree_of_errors() -> None:
    assert drawn(errors.__doc__ or "") == list(walked(BaseloadError))


def test_a_fault_says_where_what_and_what_is_allowed() -> None:
    fault = Fault(
        "Required value", file="pool.yaml", document=2, path="spec.limits", allowed="a map", object="NodePool default"
    )

    assert str(fault) == "pool.yaml, document 2: NodePool default: spec.limits: Required value (a map)"


def test_bad_input_keeps_every_fault_in_the_order_of_the_input() -> None:
    faults = [Fault("first"), Fault("second")]

    assert BadInput(iter(faults)).faults == tuple(faults)
