"""The tree of refusals in the docstring of `baseload.embedded.api.refusals` is the tree of the classes."""

from baseload.embedded.api import refusals
from baseload.embedded.store.errors import StatusError


def test_the_docstring_draws_the_tree_of_refusals() -> None:
    tree = (refusals.__doc__ or "").split("\n\n")[-1]
    drawn = [line.split()[0] for line in tree.splitlines() if line.startswith("    ")]

    assert drawn == [kind.__name__ for kind in StatusError.__subclasses__() if kind.__module__ == refusals.__name__]


def test_every_refusal_has_its_own_code() -> None:
    kinds = [kind for kind in StatusError.__subclasses__() if kind.__module__ == refusals.__name__]
    assert len({kind.code for kind in kinds}) == len(kinds)
