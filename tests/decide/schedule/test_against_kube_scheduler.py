"""A real kube-scheduler and the engine choose alike: the same node up to ties, and the same words where there is none.

It runs where KUBEBUILDER_ASSETS has a kube-scheduler (docs/real-server.md), among the long tests.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from baseload.decide.schedule import messages, preempt
from baseload.decide.schedule.engine import Engine, Found, Unfit
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.preempt import Request
from baseload.kube.types import core
from tests.decide.schedule.building import engine, read
from tests.decide.schedule.drawing import clusters
from tests.servers import real, schedulers
from tests.servers.real import Real

ASSETS = real.assets()
pytestmark = pytest.mark.long
CLUSTERS = 500
Cluster = tuple[list[core.Node], list[core.Pod], core.Pod]


@pytest.fixture(scope="module")
def scheduled_server(real_server: Real, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    """A real server with a scheduler."""
    assert ASSETS is not None
    with schedulers.scheduling(real_server, ASSETS, tmp_path_factory.mktemp("scheduler")):
        schedulers.furnish(real_server)
        yield real_server
        schedulers.clear(real_server)


def best_nodes(made: Engine, pod: Pod) -> set[str]:
    """All nodes with the highest score."""
    codes = made.codes(pod)
    slots = np.array([slot for slot in made.cluster.slots.values() if codes[slot] == 0], np.int64)
    if len(slots) == 1:
        return {made.cluster.at(int(slots[0])).facts.name}
    scores = made.scores(pod.kind, slots)
    return {made.cluster.at(int(slot)).facts.name for slot in slots[scores == scores.max()]}


def compare(server: Real, nodes: Sequence[core.Node], running: Sequence[core.Pod], new: core.Pod) -> None:
    try:
        schedulers.post(server, nodes, running)
        before = schedulers.ending(server)
        schedulers.create(server, new)
        theirs = schedulers.decided(server, new)
        taken = schedulers.ending(server) - before
    finally:
        schedulers.clear(server)
    made = engine(nodes, running)
    pod = read(made, new)
    ours = made.choose(pod)
    if isinstance(ours, Found):
        chosen, best = theirs["spec"].get("nodeName"), best_nodes(made, pod)
        assert chosen in best, f"{chosen} of {best}: {schedulers.condition(theirs)}"
        return
    assert isinstance(ours, Unfit)
    outcome = preempt.preempt(made, Request(pod, ours))
    told, expected = schedulers.condition(theirs), ours.message(messages.after_filter(outcome.message))
    assert told == expected, f"{told!r} and not {expected!r}"
    if len(taken) and outcome.chosen is not None and theirs["status"].get("nominatedNodeName") == outcome.chosen.node:
        victims = {victim.name for victim in outcome.chosen.victims if not victim.is_terminating}
        assert taken == victims, f"{taken} and not {victims}"
    assert (theirs["status"].get("nominatedNodeName") is None) == (outcome.chosen is None)


if ASSETS is not None and (ASSETS / schedulers.PROGRAM).exists():

    @given(clusters(priorities=(0, 0, 10, 50, 100)))
    @settings(
        max_examples=CLUSTERS,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    def test_a_real_scheduler_chooses_alike(scheduled_server: Real, cluster: Cluster) -> None:
        compare(scheduled_server, *cluster)
