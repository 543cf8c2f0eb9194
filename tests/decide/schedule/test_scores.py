"""Scores worked out by hand from the documented rules (cluster-actors 4 and 28)."""

import numpy as np
import pytest

from baseload.decide.schedule import resources, spread
from baseload.decide.schedule.asks import Ask, of_pod
from baseload.decide.schedule.engine import Engine
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.nodes import Node
from baseload.decide.schedule.nodes import facts as facts_of
from baseload.decide.schedule.profile import Profile, Weights
from baseload.kube.types import core
from tests.decide.schedule.building import engine, node, pod, read

ONLY_TAINTS = Profile(weights=Weights(3, 0, 0, 0, 0, 0))
ONLY_AFFINITY = Profile(weights=Weights(0, 2, 0, 0, 0, 0))
ONLY_SPREAD = Profile(weights=Weights(0, 0, 0, 1, 0, 0))
ONLY_NEIGHBOURS = Profile(weights=Weights(0, 0, 0, 0, 1, 0))


def with_load(cpu: int, memory: int, *, counted_cpu: int | None = None) -> Node:
    """A node of 2000m and 4096Mi on which so much was asked for, in thousandths and MiB."""
    written = node("n")
    made = Node(0, facts_of("n", written.metadata.labels, written.spec, written.status))
    made.read(made.facts)
    made.asked = {"cpu": cpu, "memory": memory << 20}
    made.counted_cpu, made.counted_memory = cpu if counted_cpu is None else counted_cpu, memory << 20
    return made


def ask(cpu: int, memory: int) -> Ask:
    return of_pod(pod("p", f"{cpu}m", f"{memory}Mi").spec)


def of_nodes(made: Engine, one: Pod) -> dict[str, int]:
    names = sorted(made.cluster.slots)
    slots = np.array([made.cluster.slots[name] for name in names], np.int64)
    return dict(zip(names, made.scores(one.kind, slots).tolist(), strict=True))


@pytest.mark.parametrize(("load", "score"), [((500, 512), 62), ((1600, 512), 37)])
def test_the_emptier_a_node_the_better(load: tuple[int, int], score: int) -> None:
    assert resources.fit_score(Profile())(ask(500, 512), with_load(*load)) == score


def test_most_allocated_packs_and_counts_an_overfull_resource_as_full() -> None:
    packing = resources.fit_score(Profile(scoring_strategy="MostAllocated"))
    assert packing(ask(500, 1024), with_load(0, 1024, counted_cpu=2000)) == 75


@pytest.mark.parametrize(("shape", "like"), [(((0, 0), (100, 10)), 75), (((0, 10), (100, 0)), 50)])
def test_a_ratio_follows_its_shape_and_leaves_out_what_scores_nothing(
    shape: tuple[tuple[int, int], ...], like: int
) -> None:
    by_ratio = resources.fit_score(Profile(scoring_strategy="RequestedToCapacityRatio", shape=shape))
    assert by_ratio(ask(500, 1024), with_load(0, 1024, counted_cpu=2000)) == like


def test_a_shape_is_straight_between_its_points() -> None:
    shape = ((0, 0), (40, 10), (60, 3))
    assert [resources.on_shape(shape, at) for at in (-5, 0, 10, 40, 45, 60, 90)] == [0, 0, 25, 100, 83, 30, 30]


@pytest.mark.parametrize(
    ("load", "pod_asks", "score"), [((500, 1024), (500, 0), 68), ((500, 2048), (500, 0), 81), ((0, 0), (250, 512), 75)]
)
def test_a_balance_that_improves_is_worth_more_than_75(
    load: tuple[int, int], pod_asks: tuple[int, int], score: int
) -> None:
    balance = resources.balance_score(Profile())
    assert balance is not None
    assert balance(ask(*pod_asks), with_load(*load)) == score


def test_a_pod_that_asks_for_nothing_has_no_say_in_the_balance() -> None:
    made = engine([node("a"), node("b")], [pod("big", "1900m", "64Mi", on="a")])
    only_balance = engine([node("a"), node("b")], settings=Profile(weights=Weights(0, 0, 0, 0, 0, 1)))
    assert of_nodes(only_balance, read(only_balance, pod("p"))) == {"a": 0, "b": 0}
    assert of_nodes(made, read(made, pod("p"))) == {"a": 46 + 300, "b": 95 + 300}


def test_a_container_without_requests_counts_for_100m_and_200_mi_unless_it_asks_for_0() -> None:
    assert (of_pod(pod("p").spec).counted_cpu, of_pod(pod("p").spec).counted_memory) == (100, 200 << 20)
    assert (of_pod(pod("p", "0", "0").spec).counted_cpu, of_pod(pod("p", "0").spec).counted_memory) == (0, 200 << 20)


def test_init_containers_count_by_their_largest_step() -> None:
    containers = [
        {"name": name, "resources": {"requests": {"cpu": cpu}}} for name, cpu in (("a", "200m"), ("b", "300m"))
    ]
    inits = [
        {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
        {"name": "step", "resources": {"requests": {"cpu": "800m"}}},
    ]
    assert of_pod(pod("p", containers=containers, initContainers=inits).spec).cpu == 900


def test_soft_taints_and_wanted_labels() -> None:
    soft = [{"key": f"t{at}", "effect": "PreferNoSchedule"} for at in range(2)]
    made = engine([node("a"), node("b", taints=soft[:1]), node("c", taints=soft)], settings=ONLY_TAINTS)
    assert of_nodes(made, read(made, pod("p"))) == {"a": 300, "b": 150, "c": 0}

    labels = [{"w": "30"}, {"w": "80"}, {"w": "0"}]
    made = engine([node(f"n{at}", labels=held) for at, held in enumerate(labels)], settings=ONLY_AFFINITY)
    wanted = [
        {"weight": int(w), "preference": {"matchExpressions": [{"key": "w", "operator": "In", "values": [w]}]}}
        for w in ("30", "80")
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wanted}}
    assert of_nodes(made, read(made, pod("p", affinity=affinity))) == {"n0": 74, "n1": 200, "n2": 0}


def spread_pods(counts: dict[str, int]) -> list[core.Pod]:
    return [pod(f"{name}-{at}", on=name, labels={"app": "w"}) for name, count in counts.items() for at in range(count)]


@pytest.mark.parametrize(
    ("zones", "counts", "expected"),
    [
        ({"a": "z", "b": "z"}, {"a": 1}, {"a": 87, "b": 100}),
        ({"a": "z", "b": "z"}, {"a": 3}, {"a": 69, "b": 100}),
        ({"a1": "a", "a2": "a", "b1": "b"}, {"a1": 2, "b1": 1}, {"a1": 75, "a2": 100, "b1": 100}),
    ],
)
def test_pods_of_one_workload_keep_their_distance_by_themselves(
    zones: dict[str, str], counts: dict[str, int], expected: dict[str, int]
) -> None:
    nodes = [node(name, zone=zone) for name, zone in zones.items()]
    made = engine(nodes, spread_pods(counts), settings=ONLY_SPREAD)
    new = read(made, pod("new", labels={"app": "w"}), spread_by={"app": "w"})
    assert of_nodes(made, new) == expected


def test_the_weight_of_a_constraint_is_a_logarithm_to_the_last_digit() -> None:
    assert [spread.weight(size) for size in (0, 1, 2, 1000)] == [
        0.6931471805599453,
        1.0986122886681098,
        1.3862943611198906,
        6.90975328164481,
    ]


def test_neighbours_draw_between_the_extremes() -> None:
    near = {"matchLabels": {"app": "db"}}
    far = {"matchLabels": {"app": "noise"}}
    term = {"topologyKey": "kubernetes.io/hostname"}
    affinity = {
        "podAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 10, "podAffinityTerm": {**term, "labelSelector": near}}
            ]
        },
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 5, "podAffinityTerm": {**term, "labelSelector": far}}
            ]
        },
    }
    running = [pod("db", on="a", labels={"app": "db"}), pod("noise", on="b", labels={"app": "noise"})]
    made = engine([node("a"), node("b"), node("c")], running, settings=ONLY_NEIGHBOURS)
    assert of_nodes(made, read(made, pod("p", affinity=affinity))) == {"a": 100, "b": 0, "c": 33}


def test_independent_singletons_fill_the_empty_node_20_times_in_a_row() -> None:
    # Section 7: two nodes of 1930m and 3190Mi; daemons ask 180m and 260Mi on each, 20 pods of 50m and 128Mi are on one.
    nodes = [node(name, zone="z", cpu="1930m", memory="3190Mi") for name in ("n1", "n2")]
    running = [pod(f"d-{name}", "180m", "260Mi", on=name) for name in ("n1", "n2")]
    running += [pod(f"s{at}", "50m", "128Mi", on="n1") for at in range(20)]
    made = engine(nodes, running)
    sums = []
    for at in range(21):
        new = read(made, pod(f"new{at}", "50m", "128Mi", labels={"app": f"a{at}"}), spread_by={"app": f"a{at}"})
        found = of_nodes(made, new)
        sums.append(found["n2"])
        if at == 20:
            assert found["n1"] == found["n2"]
            break
        assert found["n2"] > found["n1"] == 95 + 500
        new.node = "n2"
        made.cluster.put_pod(new)
    assert [sums[at] - 500 for at in (0, 1, 2, 5, 10, 18, 20)] == [162, 159, 154, 145, 128, 103, 95]
