"""What a story claims is so: the plan does what it says, and each change, made in the manifests, frees the node."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.decide.explain_node.building import CATALOG
from tests.decide.explain_node.drawn import cluster
from tests.decide.explain_node.telling import Told

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def of(seed: int) -> Told:
    objects, options = cluster(seed)
    return Told(objects, CATALOG, options)


@settings(max_examples=10)
@given(SEEDS)
def test_a_story_never_contradicts_the_plan_and_its_change_frees_the_node(seed: int) -> None:
    assert of(seed).falsehoods() == []


@pytest.mark.long
@settings(max_examples=400)
@given(SEEDS)
def test_stories_of_many_clusters_are_true(seed: int) -> None:
    assert of(seed).falsehoods() == []


def test_a_story_is_the_same_every_time() -> None:
    assert of(7).stories() == of(7).stories()
