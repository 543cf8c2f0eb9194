"""What a story claims is so: the plan does what it says, and each change, made in the manifests, frees the node."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import checker
from tests.decide.explain_node.building import CATALOG
from tests.decide.explain_node.drawn import cluster
from tests.decide.explain_node.telling import Told

CASES = sorted(file.parent for file in (Path(__file__).parents[2] / "cases/disrupt").glob("*/expect.yaml"))
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def of(seed: int) -> Told:
    objects, options = cluster(seed)
    return Told(objects, CATALOG, options)


@settings(max_examples=10)
@given(SEEDS)
def test_a_story_never_contradicts_the_plan_and_its_change_frees_the_node(seed: int) -> None:
    assert of(seed).falsehoods() == []


@pytest.mark.long
@pytest.mark.timeout(600)
@settings(max_examples=200)
@given(SEEDS)
def test_stories_of_many_clusters_are_true(seed: int) -> None:
    assert of(seed).falsehoods() == []


@pytest.mark.parametrize("seed", [55, 59, 70])
def test_of_several_fields_that_are_to_change_none_is_changed_in_vain(seed: int) -> None:
    assert any(story.change and len(story.walls) > len(story.change.fixes) for story in of(seed).stories())
    assert of(seed).falsehoods() == []


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_the_stories_of_every_case_are_true(folder: Path) -> None:
    case = checker.read(folder)
    assert case.catalog is not None
    settings = yaml.safe_load((folder / "options.yaml").read_text(encoding="utf-8"))
    catalog = json.loads(case.catalog.read_text(encoding="utf-8"))
    assert Told([dict(one) for one in case.objects], catalog, settings).falsehoods() == []


def test_a_story_is_the_same_every_time() -> None:
    assert of(7).stories() == of(7).stories()
