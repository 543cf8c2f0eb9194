"""The tree of errors in the docstring of `baseload.embedded.store.errors` is the tree of the classes."""

import textwrap
from collections.abc import Iterator

import pytest

from baseload.embedded.store import errors
from baseload.embedded.store.errors import Cause, StatusError
from baseload.values.errors import BaseloadError
from tests.embedded.store.kinds import DEPLOYMENT, POD


def drawn(docstring: str) -> list[tuple[int, str]]:
    """The (depth, name) lines of the tree, which is the docstring's last paragraph."""
    lines = textwrap.dedent(docstring.split("\n\n")[-1]).splitlines()
    return [((len(line) - len(line.lstrip())) // 4, line.split()[0]) for line in lines]


def walked(error: type[BaseloadError], depth: int) -> Iterator[tuple[int, str]]:
    yield depth, error.__name__
    for kind in error.__subclasses__():
        if kind.__module__ == errors.__name__:  # the API adds its own
            yield from walked(kind, depth + 1)


def test_the_docstring_draws_the_tree_of_errors() -> None:
    assert drawn(errors.__doc__ or "") == [(0, "BaseloadError"), *walked(StatusError, 1)]


OWN = [kind for kind in StatusError.__subclasses__() if kind.__module__ == errors.__name__]


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.__name__)
def test_each_refusal_has_a_code_and_a_reason(kind: type[StatusError]) -> None:
    assert 400 <= kind.code < 600
    assert bool(kind.reason) is (kind is not errors.Unreasoned)


def test_kinds_outside_the_core_group_are_named_with_their_group() -> None:
    assert str(errors.not_found(POD, "a")) == 'pods "a" not found'
    assert str(errors.not_found(DEPLOYMENT, "a")) == 'deployments.apps "a" not found'


def test_several_faults_of_an_object_stand_in_brackets() -> None:
    faults = (Cause("FieldValueInvalid", "Invalid value", "spec.a"), Cause("FieldValueRequired", "Required", "spec.b"))

    assert str(errors.invalid(DEPLOYMENT, "web", faults[:1])) == (
        'Deployment.apps "web" is invalid: spec.a: Invalid value'
    )
    assert str(errors.invalid(DEPLOYMENT, "web", faults)) == (
        'Deployment.apps "web" is invalid: [spec.a: Invalid value, spec.b: Required]'
    )
