"""Which nodes may take a pod, which are looked at, and in what words a pod learns that none may (sections 2, 3, 28)."""

import pytest

from baseload.decide.schedule import messages
from baseload.decide.schedule.engine import Found, Unfit
from baseload.decide.schedule.nodes import alternating
from baseload.decide.schedule.profile import Profile, nodes_to_find
from baseload.kube.types import core
from tests.decide.schedule.building import engine, node, pod, read


def refusal(nodes: list[core.Node], running: list[core.Pod], new: core.Pod) -> Unfit:
    made = engine(nodes, running)
    found = made.choose(read(made, new))
    assert isinstance(found, Unfit)
    return found


def test_so_many_nodes_are_searched_for() -> None:
    assert [nodes_to_find(n) for n in (5, 99, 100, 500, 1000, 5000, 6000)] == [5, 99, 100, 230, 420, 500, 300]
    assert [nodes_to_find(n, 10) for n in (50, 500, 5000)] == [50, 100, 500]


def test_reasons_are_counted_and_stand_in_the_order_of_their_text() -> None:
    nodes = [node("t", taints=[{"key": "k", "effect": "NoSchedule"}]), node("a", cpu="1"), node("b", cpu="1")]
    told = refusal(nodes, [], pod("p", "1500m"))
    assert told.message() == "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu."


@pytest.mark.parametrize(
    ("full", "cordoned", "text"),
    [
        (10, 2, "10 Insufficient cpu, 2 node(s) were unschedulable."),
        (9, 3, "3 node(s) were unschedulable, 9 Insufficient cpu."),
    ],
)
def test_ten_of_one_thing_stand_before_two_of_another(full: int, cordoned: int, text: str) -> None:
    nodes = [node(f"f{at}", cpu="1") for at in range(full)] + [
        node(f"c{at}", unschedulable=True) for at in range(cordoned)
    ]
    assert refusal(nodes, [], pod("p", "1500m")).message() == f"0/12 nodes are available: {text}"


def test_a_node_gives_the_reasons_of_one_filter_alone_and_all_that_it_lacks() -> None:
    tainted = node("t", taints=[{"key": "k", "effect": "NoExecute"}], cpu="1")
    told = refusal([tainted, node("full", cpu="1", memory="1Gi", pods="0")], [], pod("p", "1500m", "2Gi"))
    assert told.message() == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 Too many pods, "
        "1 node(s) had untolerated taint(s)."
    )


def test_more_than_a_whole_node_has_cannot_be_had_by_removing_pods() -> None:
    too_large = refusal([node("a")], [pod("low", "1", on="a")], pod("p", "3"))
    full = refusal([node("a")], [pod("low", "1", on="a")], pod("p", "1500m"))
    assert [status.resolvable for status, _ in too_large.counts] == [False]
    assert [status.resolvable for status, _ in full.counts] == [True]


def test_without_any_node_that_is_what_is_said() -> None:
    assert refusal([], [], pod("p")).message() == "no nodes available to schedule pods"


def test_a_pod_tied_to_nodes_by_name_is_tried_on_those_alone() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["b"]}]
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}
        }
    }
    nodes = [node("a"), node("b"), node("c")]
    made = engine(nodes)
    assert made.choose(read(made, pod("p", affinity=affinity))) == Found("b", 1, 1)
    told = refusal(nodes, [pod("x", "2", on="b")], pod("p", "1", affinity=affinity))
    assert told.message() == (
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )
    conflict = [*fields, {"key": "metadata.name", "operator": "In", "values": ["a"]}]
    both = {"nodeSelectorTerms": [{"matchFields": conflict}]}
    torn = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": both}}
    assert refusal(nodes, [], pod("p", affinity=torn)).message() == (
        "0/3 nodes are available: pod affinity terms conflict."
    )


def tied(name: str) -> dict[str, object]:
    """The affinity of a pod of a DaemonSet."""
    terms = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_a_pod_tied_to_a_node_that_is_gone_fits_nowhere() -> None:
    assert refusal([node("a"), node("b")], [], pod("p", affinity=tied("c"))).message() == (
        "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_a_pod_tied_to_a_full_node_is_told_the_same_until_that_node_changes() -> None:
    made = engine([node("a"), node("b"), node("c")], [pod("x", "2", on="b")])
    waiting = read(made, pod("p", "1", affinity=tied("b")))
    outlook = made.outlook(waiting)
    assert outlook is not None
    made.cluster.put_pod(read(made, pod("y", "2", on="a")))
    assert made.outlook(waiting) == outlook
    made.cluster.drop_pod("uid-x")
    assert made.outlook(waiting) != outlook


def test_a_pod_that_fails_as_before_has_the_next_search_begin_where_it_would_after_a_look() -> None:
    one, other = (engine([node(name) for name in "abc"], [pod("x", "2", on="b")]) for _ in range(2))
    for made in (one, other):
        assert isinstance(made.choose(read(made, pod("p", "1", affinity=tied("b")))), Unfit)
    one.choose(read(one, pod("p", "1", affinity=tied("b"))))
    other.passes(read(other, pod("p", "1", affinity=tied("b"))).kind)
    assert one.first == other.first == 2


def test_the_list_of_nodes_takes_one_of_each_zone_in_turn() -> None:
    assert alternating({"z1": ["a", "b", "c"], "z2": ["d"], "z3": ["e", "f"]}) == ["a", "d", "e", "b", "f", "c"]


def test_the_search_ends_when_it_has_enough_and_goes_on_there_with_the_next_pod() -> None:
    made = engine([node(f"n{at:03}", unschedulable=at % 2 == 0) for at in range(200)])
    first = made.choose(read(made, pod("p")))
    assert isinstance(first, Found)
    assert (first.feasible, first.evaluated, made.first) == (100, 200, 0)
    few = engine([node(f"n{at:03}") for at in range(200)], settings=Profile(percentage_of_nodes_to_score=50))
    searched = [few.choose(read(few, pod(f"p{at}"))) for at in range(3)]
    assert [found.evaluated for found in searched if isinstance(found, Found)] == [100, 100, 100]
    names = [found.node for found in searched if isinstance(found, Found)]
    assert [name < "n100" for name in names] == [True, False, True]


def test_one_node_that_fits_is_taken_whatever_its_score() -> None:
    nodes = [node("a", cpu="1"), node("b", cpu="4", taints=[{"key": "soft", "effect": "PreferNoSchedule"}])]
    made = engine(nodes, [pod("x", "2", "4000Mi", on="b")])
    assert made.choose(read(made, pod("p", "1500m"))) == Found("b", 1, 2)


def test_equal_nodes_are_drawn_by_seed_and_pod_and_the_same_each_time() -> None:
    nodes = [node(f"n{at}") for at in range(10)]
    made = engine(nodes)
    picks = [made.choose(read(made, pod(f"p{at}"))) for at in range(60)]
    assert picks == [engine(nodes).choose(read(made, pod(f"p{at}"))) for at in range(60)]
    assert len({found.node for found in picks if isinstance(found, Found)}) > 5


def test_a_node_promised_to_a_more_important_pod_has_to_hold_both() -> None:
    made = engine([node("a")])
    promised = read(made, pod("vip", "1500m", priority=10))
    promised.node = "a"
    new = read(made, pod("p", "1"))
    assert isinstance(made.choose(new, nominated=[promised]), Unfit)
    assert made.choose(new) == Found("a", 1, 1)
    assert made.choose(promised, nominated=[promised]) == Found("a", 1, 1)


def test_a_long_message_is_cut_in_its_event() -> None:
    assert messages.note("x" * 1024) == "x" * 1024
    assert messages.note("x" * 1025) == "x" * 1020 + " ..."


def test_pods_of_a_lost_node_count_again_when_it_comes_back() -> None:
    made = engine([node("a")], [pod("x", "1500m", on="a")])
    lost = made.cluster.at(0).facts
    made.cluster.drop_node("a")
    assert made.choose(read(made, pod("p", "1"))) == Unfit(0)
    made.cluster.set_node(lost)
    told = made.choose(read(made, pod("p", "1")))
    assert isinstance(told, Unfit)
    assert told.message() == "0/1 nodes are available: 1 Insufficient cpu."
