"""The engine's filters, reasons and choices are those of the rules read literally, whatever the cluster."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.schedule.engine import Found, Unfit
from baseload.kube.types import core
from tests.decide.schedule.building import engine, read
from tests.decide.schedule.drawing import clusters, pods
from tests.decide.schedule.reference import Rules, Verdict

Cluster = tuple[list[core.Node], list[core.Pod], core.Pod]


def verdicts(rules: Rules, pod: core.Pod) -> list[Verdict | None]:
    return [rules.verdict(pod, node) for node in rules.nodes]


@given(clusters(), st.sampled_from((None, {"app": "a"})))
def test_a_pod_goes_where_the_rules_send_it_or_is_told_why_not(
    cluster: Cluster, spread_by: dict[str, str] | None
) -> None:
    nodes, running, new = cluster
    made, rules = engine(nodes, running), Rules(nodes, running, spread_by)
    pod = read(made, new, spread_by=spread_by)

    chosen = made.choose(pod)

    expected = verdicts(rules, new)
    open_to = [node for node, verdict in zip(nodes, expected, strict=True) if verdict is None]
    if not open_to:
        assert isinstance(chosen, Unfit)
        told = {
            made.cluster.at(slot).facts.name: (s.plugin, s.reasons, s.resolvable) for slot, s in chosen.by_node.items()
        }
        assert told == {node.metadata.name: verdict for node, verdict in zip(nodes, expected, strict=True)}
        return
    assert isinstance(chosen, Found)
    assert chosen.feasible == len(open_to)
    scores = rules.scores(new, open_to)
    slots = np.array([made.cluster.slots[node.metadata.name] for node in open_to], np.int64)
    if len(open_to) > 1:
        own = made.scores(pod.kind, slots).tolist()
        assert own == scores
    best = {n.metadata.name for n, score in zip(open_to, scores, strict=True) if score == max(scores)}
    assert chosen.node in best


@given(clusters(), st.data())
def test_what_is_kept_from_pod_to_pod_is_what_a_new_look_would_show(cluster: Cluster, data: st.DataObject) -> None:
    nodes, running, first = cluster
    made = engine(nodes, running)
    waiting = [first, *(data.draw(pods(f"q{number}")) for number in range(3))]
    for number, new in enumerate(waiting):
        pod = read(made, new)
        made.choose(pod)  # so that something is remembered of it
        if running:
            gone = running.pop(data.draw(st.integers(0, len(running) - 1)))
            made.cluster.drop_pod(gone.metadata.uid)
        if len(nodes) > 1 and data.draw(st.integers(0, 3)) == 0:
            lost = nodes.pop(data.draw(st.integers(0, len(nodes) - 1)))
            made.cluster.drop_node(lost.metadata.name)
        moved = data.draw(pods(f"m{number}", data.draw(st.sampled_from([node.metadata.name for node in nodes]))))
        running.append(moved)
        made.cluster.put_pod(read(made, moved))

        fresh = engine(nodes, running)
        anew = read(fresh, new)
        kept = {name: made.status(pod, slot) for name, slot in made.cluster.slots.items()}
        assert kept == {name: fresh.status(anew, slot) for name, slot in fresh.cluster.slots.items()}
        open_to = [name for name, status in kept.items() if status is None]
        if open_to:
            slots = np.array([made.cluster.slots[name] for name in open_to], np.int64)
            other = np.array([fresh.cluster.slots[name] for name in open_to], np.int64)
            assert made.scores(pod.kind, slots).tolist() == fresh.scores(anew.kind, other).tolist()
