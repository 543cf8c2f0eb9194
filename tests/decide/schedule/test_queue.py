"""Whose turn it is among pods that wait (cluster-actors 1, 28.1, 28.18)."""

from baseload.decide.schedule import hints, statuses
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.nodes import facts
from baseload.decide.schedule.queue import Queue, Waiting, backoff
from baseload.kube.types import core
from baseload.values import instant
from tests.decide.schedule.building import engine, node, pod, read

S = instant.SECOND
FIT = frozenset({statuses.NODE_RESOURCES_FIT})
START = 1_000_000 * S


def waiting(name: str, cpu: str = "1", **spec: object) -> Pod:
    return read(engine([]), pod(name, cpu, **spec))  # type: ignore[arg-type]


def popped(queue: Queue, now: int) -> str | None:
    entry = queue.pop(now)
    return None if entry is None else entry.pod.name


def failed(queue: Queue, one: Pod, plugins: frozenset[str], now: int) -> Waiting:
    entry = queue.pop(now)
    assert entry is not None
    assert entry.pod is one
    queue.reject(entry, plugins, now)
    return entry


def facts_of(one: core.Node) -> object:
    return facts(one.metadata.name, one.metadata.labels, one.spec, one.status)


def test_back_off_doubles_up_to_ten_seconds() -> None:
    assert [backoff(count) // S for count in range(7)] == [0, 1, 2, 4, 8, 10, 10]
    assert backoff(100_000) == 10 * S


def test_priority_goes_first_then_who_waits_longer() -> None:
    queue = Queue()
    for name, priority, at in (("late", 0, 2), ("early", 0, 1), ("vip", 7, 3)):
        queue.add(waiting(name, priority=priority), START + at)
    assert [popped(queue, START + 9) for _ in range(4)] == ["vip", "early", "late", None]


def test_who_was_rejected_waits_for_an_event_that_helps() -> None:
    queue, one = Queue(), waiting("p")
    queue.add(one, START)
    failed(queue, one, FIT, START)
    assert popped(queue, START + 20 * S) is None
    elsewhere = waiting("gone")
    assert queue.wake(hints.pod_placed(elsewhere), START + 20 * S) == 0
    assert queue.wake(hints.pod_gone(elsewhere), START + 20 * S) == 1
    assert popped(queue, START + 20 * S) == "p"


def test_on_an_idle_scheduler_a_woken_pod_need_not_sit_out_its_back_off_but_yields_to_others() -> None:
    queue, one = Queue(), waiting("p")
    queue.add(one, START)
    failed(queue, one, FIT, START)
    queue.wake(hints.pod_gone(waiting("gone")), START + S // 2)
    queue.add(waiting("fresh"), START + S // 2)
    assert [popped(queue, START + S // 2) for _ in range(2)] == ["fresh", "p"]


def test_a_pod_that_met_an_error_waits_to_the_end_of_its_back_off() -> None:
    queue, one = Queue(), waiting("p")
    queue.add(one, START)
    entry = failed(queue, one, frozenset(), START)
    assert entry.where == "error"
    assert popped(queue, START + S) is None
    assert queue.due(START + S) == START + 2 * S
    assert popped(queue, START + 2 * S) == "p"


def test_five_minutes_without_any_event_are_enough() -> None:
    queue, one = Queue(), waiting("p")
    queue.add(one, START)
    failed(queue, one, FIT, START)
    due = queue.due(START)
    assert due is not None
    assert 300 * S < due - START <= 330 * S
    assert popped(queue, due - 1) is None
    assert popped(queue, due) == "p"


def test_a_pod_that_left_the_queue_or_is_gated_is_never_next() -> None:
    queue = Queue()
    queue.add(waiting("gone"), START)
    queue.add(waiting("gated"), START, gated=True)
    queue.remove("uid-gone")
    assert popped(queue, START + 1000 * S) is None
    assert queue.due(START + 1000 * S) is None


def test_a_node_wakes_those_for_whom_it_changes_something() -> None:
    def wakes(plugin: str, one: Pod, before: core.Node | None, after: core.Node) -> bool:
        entry = Waiting(one, START, 1, plugins=frozenset({plugin}))
        old = None if before is None else facts_of(before)
        return hints.node_changed(old, facts_of(after)).wakes(entry)  # type: ignore[arg-type]

    fit, taints = statuses.NODE_RESOURCES_FIT, statuses.TAINT_TOLERATION
    small, tainted = node("n", cpu="1"), node("n", taints=[{"key": "k", "effect": "NoSchedule"}])
    assert not wakes(fit, waiting("p", "2"), None, small)
    assert wakes(fit, waiting("p", "2"), None, node("n"))
    assert wakes(fit, waiting("p", "2"), small, node("n"))
    assert not wakes(fit, waiting("p", "2"), node("n"), node("n", labels={"a": "b"}))
    assert wakes(taints, waiting("p"), tainted, node("n"))
    assert not wakes(taints, waiting("p"), node("n"), node("n", cpu="9"))
    assert wakes(statuses.NODE_UNSCHEDULABLE, waiting("p"), node("n", unschedulable=True), node("n"))
    chooses = waiting("p", nodeSelector={"a": "b"})
    assert wakes(statuses.NODE_AFFINITY, chooses, node("n"), node("n", labels={"a": "b"}))
    assert not wakes(statuses.NODE_AFFINITY, chooses, None, node("n"))


def test_pods_wake_those_that_look_for_them_or_keep_away_from_them() -> None:
    web = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [web]}
    near = waiting("near", affinity={"podAffinity": required})
    away = waiting("away", affinity={"podAntiAffinity": required})
    other = read(engine([]), pod("other", labels={"app": "web"}))

    def wakes(hint: object, one: Pod) -> bool:
        entry = Waiting(one, START, 1, plugins=frozenset({statuses.INTER_POD_AFFINITY}))
        return hint.wakes(entry)  # type: ignore[attr-defined, no-any-return]

    assert [wakes(hints.pod_placed(other), one) for one in (near, away)] == [True, False]
    assert [wakes(hints.pod_gone(other), one) for one in (near, away)] == [False, True]
