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
from baseload.decide.schedule.preempt import Outcome, Request
from baseload.kube.types import core
from tests.decide.schedule.building import engine, read
from tests.decide.schedule.drawing import clusters
from tests.servers import real, schedulers
from tests.servers.real import Real

ASSETS = real.assets()
pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1200),  # each cluster takes a third of a second, and more on a busy machine
    # A cluster is long to print, which must not hide in what it differs.
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
]
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
    made = engine(nodes, running)
    pod = read(made, new)
    ours = made.choose(pod)
    outcome = preempt.preempt(made, Request(pod, ours)) if isinstance(ours, Unfit) else Outcome()
    try:
        schedulers.post(server, nodes, running)
        before = schedulers.ending(server)
        schedulers.create(server, new)
        theirs = schedulers.decided(server, new)
        nominated = theirs["status"].get("nominatedNodeName")
        taken = schedulers.ended(server, before, victims(outcome)) if nominated else set()
    finally:
        schedulers.clear(server)
    told = schedulers.condition(theirs)
    if isinstance(ours, Found):
        chosen, best = theirs["spec"].get("nodeName"), best_nodes(made, pod)
        assert chosen in best, f"{chosen} of {best}: {told}"
        return
    expected = ours.message(messages.after_filter(outcome.message))
    assert told == expected, f"{told!r} and not {expected!r}"
    assert nominated == (outcome.chosen.node if outcome.chosen else None)
    assert taken == victims(outcome), f"{taken} and not {victims(outcome)}"


def victims(outcome: Outcome) -> set[str]:
    """The pods that are to be deleted; those that end already are not deleted again."""
    chosen = outcome.chosen.victims if outcome.chosen else ()
    return {victim.name for victim in chosen if not victim.is_terminating}


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
