"""What an explanation claims is so: proved by changing that one field of the manifests and planning again."""

import pytest
from hypothesis import given, settings

from baseload.decide.explain.explain import explain
from tests.decide.explain.telling import Told
from tests.reference.clusters import Cluster, clusters, seeded


@settings(max_examples=25)
@given(clusters(most_pods=10))
def test_dropping_any_one_of_a_conflict_places_the_pod_and_so_does_the_fix(cluster: Cluster) -> None:
    assert Told(*cluster).falsehoods() == []


@pytest.mark.parametrize("seed", [23, 36, 42])
def test_explanations_of_wilder_clusters_are_true(seed: int) -> None:
    assert Told(*seeded(seed)).falsehoods() == []


@pytest.mark.long
@settings(max_examples=300)
@given(clusters())
def test_explanations_of_larger_clusters_are_true(cluster: Cluster) -> None:
    assert Told(*cluster).falsehoods() == []


@settings(max_examples=10)
@given(clusters(most_pods=10))
def test_an_explanation_is_the_same_every_time_and_changes_no_decision(cluster: Cluster) -> None:
    found = Told(*cluster)
    again = explain(found.view, found.tables(found.view), found.options, found.bare)
    assert again == found.plan
    assert (again.placements, again.node_claims) == (found.bare.placements, found.bare.node_claims)
    assert [(u.pod, u.reason) for u in again.unschedulable] == [(u.pod, u.reason) for u in found.bare.unschedulable]
