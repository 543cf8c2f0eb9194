"""The drawn clusters are worth deciding, and what the reference decides on them is consistent."""

import copy
from collections import Counter

from hypothesis import given

from benchmarks import mix

from . import catalogue, resources
from .clusters import Cluster, clusters, seeded
from .provision import solve


def test_interesting_outcomes_are_frequent() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        result = solve(*seeded(seed))
        kinds = {kind for kind, _ in result.placements.values()}
        steps = {step for taken in result.relaxations.values() for step in taken}
        seen.update({"unschedulable": bool(result.errors), "relaxed": bool(steps)})
        seen.update({"on a node": "node" in kinds, "on a claim": "claim" in kinds})
        seen.update({"shared claim": any(len(claim.pods) > 1 for claim in result.claims)})
    assert {name for name, count in seen.items() if count < 12} == set()


@given(clusters())
def test_every_pod_has_one_place_and_every_claim_holds_its_pods(cluster: Cluster) -> None:
    objects, catalog, _ = cluster
    result = solve(*cluster)
    assert not result.placements.keys() & result.errors.keys()
    listed = [(pod, ("claim", i)) for i, claim in enumerate(result.claims) for pod in claim.pods]
    assert sorted(listed) == sorted((pod, p) for pod, p in result.placements.items() if p[0] == "claim")
    types = {t.name: t for t in catalogue.types_of(catalog)}
    if any(o["kind"] == "NodeOverlay" for o in objects):
        return
    for claim in result.claims:
        assert resources.fits(claim.requests, types[claim.instance_type].allocatable)
        assert claim.types[0] == claim.instance_type or claim.capacity_type == "reserved"


@given(clusters(most_pods=8))
def test_the_same_cluster_is_decided_alike_twice_and_left_alone(cluster: Cluster) -> None:
    before = copy.deepcopy(cluster)
    assert solve(*cluster) == solve(*before)
    assert cluster == before


def test_the_benchmark_mix_leaves_no_pod_behind_and_a_fifth_of_it_alone() -> None:
    result = solve([mix.node_pool(), *mix.diverse(100)], mix.catalog(60), {})
    assert result.errors == {}
    assert len(result.claims) == 20


def test_preferences_cost_a_node_a_pod_and_ignoring_them_packs() -> None:
    objects = [mix.node_pool(), *mix.preference(12)]
    assert len(solve(objects, mix.catalog(20), {}).claims) == 12
    assert len(solve(objects, mix.catalog(20), {"preferencePolicy": "Ignore"}).claims) == 1


def test_the_hidden_loads_are_placed_but_for_the_one_whose_limit_is_reached() -> None:
    for pods, catalog in (
        (mix.workloads(60, 6), mix.catalog(20)),
        (mix.distinct_sizes(60), mix.small_catalog()),
        (mix.affinity_chain(6, 60), mix.catalog(20)),
        (mix.spread_over_types(60, 20), mix.catalog(20)),
    ):
        assert solve([mix.node_pool(), *pods], catalog, {}).errors == {}
    pods, pool = mix.limit_reached(40)
    assert len(solve([pool, *pods], mix.catalog(400), {}).errors) == 4


def test_the_loads_are_the_same_in_every_process() -> None:
    assert mix.diverse(50) == mix.diverse(50)
    letters = [p["metadata"]["labels"]["my-label"] for p in mix.diverse(15)[:3]]
    assert letters == ["f", "f", "b"]
    assert len({p["metadata"]["uid"] for p in mix.workloads(50, 5)}) == 50
