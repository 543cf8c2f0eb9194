"""Whose place a more important pod takes (cluster-actors 5, 28.5, 28.16, 28.17)."""

from collections.abc import Sequence

from baseload.decide.schedule import preempt
from baseload.decide.schedule.engine import Engine, Unfit
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.preempt import Budget, Candidate, Outcome, Request
from baseload.kube.types import core
from baseload.values.selector import Selector
from tests.decide.schedule.building import engine, node, pod, read


def low(name: str, on: str, priority: int, cpu: str = "1", *, started: str = "", **spec: object) -> Pod:
    made = read(engine([]), pod(name, cpu, on=on, priority=priority, **spec))  # type: ignore[arg-type]
    made.started = started
    return made


def asked(made: Engine, new: core.Pod, budgets: Sequence[Budget] = (), nominated_node: str = "") -> Outcome:
    one = read(made, new)
    unfit = made.choose(one)
    assert isinstance(unfit, Unfit)
    return preempt.preempt(made, Request(one, unfit, budgets=lambda: budgets, nominated_node=nominated_node))


def names(outcome: Outcome) -> tuple[str, list[str]]:
    assert outcome.chosen is not None
    return outcome.chosen.node, [victim.name for victim in outcome.chosen.victims]


def test_as_few_as_will_do_and_the_least_important_first() -> None:
    running = [pod(f"p{value}", "500m", on="n", priority=value) for value in (10, 20, 30, 40)]
    assert names(asked(engine([node("n")], running), pod("vip", "900m", priority=100))) == ("n", ["p20", "p10"])


def test_who_is_as_important_stays() -> None:
    outcome = asked(engine([node("n")], [pod("p", "2", on="n", priority=100)]), pod("vip", "1", priority=100))
    assert outcome == Outcome(message="0/1 nodes are available: 1 No preemption victims found for incoming pod.")


def test_a_pod_larger_than_the_node_preempts_nobody() -> None:
    outcome = asked(engine([node("a"), node("b")], [pod("p", "1", on="a")]), pod("vip", "3", priority=100))
    assert outcome.message == "0/2 nodes are available: 2 Preemption is not helpful for scheduling."


def test_the_text_of_the_documented_example() -> None:
    nodes = [node("t", taints=[{"key": "k", "effect": "NoSchedule"}]), node("a"), node("b")]
    running = [pod("x", "1", on="a", priority=7), pod("y", "1", on="b", priority=7)]
    outcome = asked(engine(nodes, running), pod("new", "1500m"))
    assert outcome.message == (
        "0/3 nodes are available: 1 Preemption is not helpful for scheduling, "
        "2 No preemption victims found for incoming pod."
    )


def test_nothing_is_changed_by_looking() -> None:
    running = [pod(f"p{at}", "500m", on="n", priority=at) for at in range(4)]
    made = engine([node("n")], running)
    asked(made, pod("vip", "900m", priority=100))
    assert {uid: held.node for uid, held in made.cluster.pods.items()} == {f"uid-p{at}": "n" for at in range(4)}
    assert made.cluster.at(0).asked["cpu"] == 2000


def test_a_budget_is_kept_where_another_victim_will_do_and_broken_where_none_does() -> None:
    running = [pod("guarded", "1", on="n", priority=1, labels={"app": "db"}), pod("free", "1", on="n", priority=5)]
    budget = Budget("default", Selector.of({"app": "db"}), 0)
    made = engine([node("n")], running)
    assert names(asked(made, pod("vip", "1", priority=9), [budget])) == ("n", ["free"])
    outcome = asked(made, pod("vip", "2", priority=9), [budget])
    assert names(outcome) == ("n", ["free", "guarded"])
    assert outcome.chosen is not None
    assert outcome.chosen.violations == 1


def test_a_budget_that_guards_everything_or_nothing_guards_nobody() -> None:
    one = low("p", "n", 1, labels={"app": "db"})
    assert [Budget("default", selector, 0).guards(one) for selector in (Selector(), Selector.of({"app": "db"}))] == [
        False,
        True,
    ]
    assert not Budget("default", Selector.of({"app": "db"}), 0, frozenset({"p"})).guards(one)


def test_the_node_where_least_is_lost_is_chosen() -> None:
    fifty, ten = low("x1", "x", 50), low("x2", "x", 10)
    other = low("y1", "y", 50)
    assert preempt.best([Candidate("x", (fifty, ten)), Candidate("y", (other,))]).node == "y"
    assert preempt.best([Candidate("x", (fifty,)), Candidate("y", (other,), violations=1)]).node == "x"
    assert preempt.best([Candidate("x", (fifty,)), Candidate("y", (ten,))]).node == "y"
    early, late = low("e", "x", 5, started="2026-11-30T10:00:00Z"), low("l", "y", 5, started="2026-11-30T11:00:00Z")
    assert preempt.best([Candidate("x", (early,)), Candidate("y", (late,))]).node == "y"


def test_who_has_victims_that_still_end_waits_for_them() -> None:
    made = engine([node("n")], [pod("p", "2", on="n", priority=1)])
    victim = made.cluster.pods["uid-p"]
    victim.is_terminating = victim.is_preempted = True
    outcome = asked(made, pod("vip", "1", priority=9), nominated_node="n")
    assert outcome == Outcome(message=preempt.WAITS, keeps_nomination=True)
    victim.is_preempted = False  # scaled down, say
    assert names(asked(made, pod("vip", "1", priority=9), nominated_node="n")) == ("n", ["p"])


def test_preemption_makes_room_under_spread_and_anti_affinity_too() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    keeps_off = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    running = [pod("db", "100m", on="n", priority=1, labels={"app": "db"}), pod("other", "100m", on="n", priority=1)]
    outcome = asked(engine([node("n")], running), pod("vip", "100m", priority=9, affinity=keeps_off))
    assert names(outcome) == ("n", ["db"])
