"""Whether nodes are judged one by one or many at once makes no difference."""

from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.schedule import nodes as reading
from baseload.decide.schedule.engine import Engine
from baseload.decide.schedule.kinds import Pod
from tests.decide.schedule.building import engine, node, pod, read

CPU = st.sampled_from((None, "0", "100m", "700m", "1", "3"))
MEMORY = st.sampled_from((None, "0", "100Mi", "1Gi", "3Gi"))
NODES = st.tuples(
    st.sampled_from(("1", "1500m", "2", "4")),
    st.sampled_from(("1Gi", "2500Mi", "4Gi")),
    st.sampled_from(("1", "3", "110")),
)
PODS = st.tuples(st.integers(0, 39), CPU, MEMORY)


def standing(made: Engine, kinds: list[Pod]) -> list[list[tuple[object, int, int]]]:
    found = []
    for one in kinds:
        held = made.standing(one.kind)
        slots = sorted(made.cluster.slots.values())
        codes = [int(held.codes[slot]) for slot in slots]
        scores = [int(held.scores[slot]) if not code else 0 for slot, code in zip(slots, codes, strict=True)]
        told = [made.judge.statuses[code] for code in codes]
        counts = {made.judge.statuses[code]: number for code, number in held.counts.items()}
        assert {status: told.count(status) for status in told} == counts
        found.append(list(zip(told, codes, scores, strict=True)))
    return [[(status, score, bool(code)) for status, code, score in one] for one in found]


@given(
    st.lists(NODES, min_size=40, max_size=40),
    st.lists(PODS, max_size=60),
    st.lists(st.tuples(CPU, MEMORY), min_size=1, max_size=3),
    st.booleans(),
)
def test_nodes_that_are_judged_together_stand_as_each_does_alone(
    sizes: list[tuple[str, str, str]],
    running: list[tuple[int, str | None, str | None]],
    asks: list[tuple[str | None, str | None]],
    without_cpu: bool,
) -> None:
    together, alone = engine([]), engine([])
    facts = []
    for at, (cpu, memory, pods) in enumerate(sizes):
        made = node(f"n{at:02}", cpu="0" if without_cpu and at == 7 else cpu, memory=memory, pods=pods)
        facts.append(reading.facts(made.metadata.name, made.metadata.labels, made.spec, made.status))
    waiting = [pod(f"w{at}", cpu, memory) for at, (cpu, memory) in enumerate(asks)]
    ours, theirs = [read(together, one) for one in waiting], [read(alone, one) for one in waiting]
    for one in facts:
        together.cluster.set_node(one)
        alone.cluster.set_node(one)
        standing(alone, theirs)
    assert standing(together, ours) == standing(alone, theirs)
    for number, (at, own_cpu, own_memory) in enumerate(running):
        bound = pod(f"r{number}", own_cpu, own_memory, on=f"n{at:02}")
        together.cluster.put_pod(read(together, bound))
        alone.cluster.put_pod(read(alone, bound))
        standing(alone, theirs)
    assert standing(together, ours) == standing(alone, theirs)
