"""The engine decides what the slow, literal reading of the rules decides, placement by placement."""

import pytest
from hypothesis import given, settings

from benchmarks import mix
from tests.decide import drawn
from tests.reference import compare, provision
from tests.reference.clusters import Cluster, clusters


def differences(cluster: Cluster) -> list[str]:
    return compare.compare(provision.solve(*cluster), drawn.plan(*cluster))


@settings(max_examples=60)
@given(clusters())
def test_a_plan_equals_the_literal_reading_of_the_rules(cluster: Cluster) -> None:
    assert differences(cluster) == []


@pytest.mark.long
@pytest.mark.timeout(900)
@settings(max_examples=1000)
@given(clusters(most_pods=60))
def test_a_plan_for_many_pods_equals_the_literal_reading(cluster: Cluster) -> None:
    assert differences(cluster) == []


@pytest.mark.parametrize("preferences", ["Respect", "Ignore"])
@pytest.mark.parametrize("pods", [mix.diverse(60), mix.preference(30)], ids=["diverse", "preference"])
def test_the_benchmark_mix_is_placed_as_the_literal_reading_places_it(
    pods: list[mix.Manifest], preferences: str
) -> None:
    settings = {"preferencePolicy": preferences}
    assert differences(([mix.node_pool(), *pods], mix.catalog(400), settings)) == []


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_benchmark_mix_of_500_is_placed_as_the_literal_reading_places_it() -> None:
    assert differences(([mix.node_pool(), *mix.diverse(500)], mix.catalog(400), {})) == []


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("pods", "types"),
    [
        (mix.workloads(300, 40), mix.catalog(40)),
        (mix.distinct_sizes(300), mix.small_catalog()),
        (mix.affinity_chain(20, 200), mix.catalog(40)),
        (mix.affinity_chain(20, 200, mix.HOSTNAME), mix.catalog(40)),
        (mix.spread_over_types(200, 40), mix.catalog(40)),
    ],
    ids=["workloads", "sizes", "chain", "host-chain", "types"],
)
def test_loads_that_the_mix_hides_are_placed_as_the_literal_reading_places_them(
    pods: list[mix.Manifest], types: list[mix.Manifest]
) -> None:
    assert differences(([mix.node_pool(), *pods], types, {})) == []
