"""A simulation without some nodes decides as a fresh pass would, were they on their way out, and leaves no trace."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from baseload.decide.fit.engine import Fitted
from baseload.decide.provision.setup import SetUp, set_up, setting_of
from baseload.model.view import View
from tests.decide import drawn
from tests.reference.clusters import Cluster, clusters

Told = dict[str, Any]


def told(made: SetUp, fitted: Fitted) -> Told:
    return {
        "nodes": sorted((pod.name, made.cluster.hosts[place].name) for pod, place in fitted.on_nodes),
        "claims": [
            (c.template.name, [pod.name for pod in c.pods], c.template.types.names(c.types)) for c in fitted.claims
        ],
        "failed": sorted(pod.name for pod, _ in fitted.failed),
    }


def marked(view: View, name: str) -> View:
    """The view in which a node is being deleted."""

    def gone(objects: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            msgspec.structs.replace(
                o, metadata=msgspec.structs.replace(o.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
            )
            if o.metadata.name == name
            else o
            for o in objects
        )

    return replace(view, nodes=gone(view.nodes), node_claims=gone(view.node_claims))


@settings(max_examples=60)
@given(clusters(), st.integers(0, 4))
def test_a_simulated_removal_equals_a_pass_with_the_node_marked_for_deletion(cluster: Cluster, which: int) -> None:
    check_removal(cluster, which)


@pytest.mark.long
@pytest.mark.timeout(900)
@settings(max_examples=1000)
@given(clusters(), st.integers(0, 4))
def test_many_simulated_removals_equal_passes_with_the_node_marked(cluster: Cluster, which: int) -> None:
    check_removal(cluster, which)


def check_removal(cluster: Cluster, which: int) -> None:
    """A node that is taken out of the simulation, beside one that is marked in the cluster."""
    view, tables, options = drawn.inputs(*cluster)
    simulated = set_up(setting_of(view, tables, options), movable=True)
    names = sorted(simulated.places)
    assume(len(names) > which)
    fresh = set_up(setting_of(marked(view, names[which]), tables, options))
    before = told(simulated, simulated.without([]))
    assert told(simulated, simulated.without([names[which]])) == told(fresh, fresh.fit.solve(fresh.pods))
    assert told(simulated, simulated.without([])) == before
