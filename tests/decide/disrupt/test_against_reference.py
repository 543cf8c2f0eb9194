"""A pass starts the commands that the slow, literal reading of the rules starts."""

from collections import Counter

import pytest
from hypothesis import given, settings

from baseload.decide.disrupt.decide import disrupt
from baseload.plan.disrupt import Method
from tests.decide import drawn
from tests.reference import disrupt as reference
from tests.reference.clusters import Cluster
from tests.reference.drawn_fleets import fleets, seeded_fleet

Told = list[tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...], tuple[tuple[str, str], ...]]]


def decided(cluster: Cluster) -> Told:
    plan = disrupt(*drawn.inputs(*cluster))
    told: Told = []
    for command in plan.commands:
        launched = tuple(claim.instance_types for claim in command.replacements)
        new = {claim.name for claim in command.replacements}
        places = tuple(sorted((moved.pod, moved.to) for moved in command.pods if moved.to not in new))
        nodes = tuple(candidate.node for candidate in command.candidates)
        told.append((str(command.method), nodes, () if command.method is Method.STATIC_DRIFT else launched, places))
    return sorted(told)


def expected(cluster: Cluster) -> Told:
    return sorted((c.method, c.nodes, c.launched, c.places) for c in reference.decide(*cluster))


@settings(max_examples=60)
@given(fleets())
def test_a_pass_starts_what_the_literal_reading_starts(cluster: Cluster) -> None:
    assert decided(cluster) == expected(cluster)


@pytest.mark.parametrize("seed", range(60))
def test_a_pass_on_a_cluster_drawn_by_a_seed_starts_what_the_literal_reading_starts(seed: int) -> None:
    cluster = seeded_fleet(seed)

    assert decided(cluster) == expected(cluster)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_thousand_passes_start_what_the_literal_reading_starts() -> None:
    wrong = [seed for seed in range(1_000) if decided(seeded_fleet(seed)) != expected(seeded_fleet(seed))]

    assert wrong == []


def test_enough_of_the_clusters_come_to_a_command_and_each_method_among_them() -> None:
    """Otherwise the comparison would say little."""
    found = [decided(seeded_fleet(seed)) for seed in range(300)]
    methods = Counter(told[0][0] for told in found if told)

    assert sum(methods.values()) >= 100
    assert set(methods) == {str(method) for method in Method} - {"Forceful"}
    assert sum(1 for told in found for one in told if one[2]) >= 20, "commands with replacements"
