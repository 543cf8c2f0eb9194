"""Who goes when memory runs short: the kernel's choice and the kubelet's (cluster-actors spec 22, 23, 28.37, 28.38)."""

from baseload.decide.node.eviction import Candidate, Use, message, ranked
from baseload.decide.node.qos import Victim, chosen, oom_score_adj

MIB = 2**20
MACHINE = 7782 * MIB


def pod(name: str, request: float, used: float, priority: int = 0, *, is_static: bool = False) -> Candidate:
    use = Use("main", int(used * MIB), int(request * MIB))
    return Candidate((name,), priority, (use,), is_static)


def names(pods: list[Candidate]) -> list[str]:
    return [one.key[0] for one in pods]


def test_pods_above_their_request_go_first_then_low_priority_then_large_excess() -> None:
    pods = [
        pod("p1", 1024, 1228.8),
        pod("p2", 0, 100, priority=1000),
        pod("p3", 2048, 1945.6, priority=-10),
        pod("p4", 100, 900),
    ]

    assert names(ranked(pods)) == ["p4", "p1", "p2", "p3"]


def test_critical_and_static_pods_are_never_evicted() -> None:
    pods = [pod("cni", 0, 500, priority=2_000_001_000), pod("static", 0, 500, is_static=True), pod("web", 400, 300)]

    assert names(ranked(pods)) == ["web"]


def test_equal_pods_go_by_their_names() -> None:
    assert names(ranked([pod("b", 0, 10), pod("a", 0, 10)])) == ["a", "b"]


def test_an_evicted_pod_says_what_was_short_and_who_used_more_than_it_asked_for() -> None:
    uses = [Use("a", 900 * MIB, 128 * MIB), Use("b", 10 * MIB, 20 * MIB)]

    assert message(uses, 57 * MIB) == (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 57Mi. "
        "Container a was using 900Mi, request is 128Mi, has larger consumption of memory. "
    )


def test_a_small_request_makes_a_container_easier_to_kill() -> None:
    assert oom_score_adj("Burstable", 128 * MIB, MACHINE) == 984
    assert oom_score_adj("Burstable", 4000 * MIB, MACHINE) == 486
    assert oom_score_adj("Burstable", 0, MACHINE) == 999
    assert oom_score_adj("Burstable", MACHINE, MACHINE) == 3
    assert oom_score_adj("BestEffort", 0, MACHINE) == 1000
    assert oom_score_adj("Guaranteed", 128 * MIB, MACHINE) == -997
    assert oom_score_adj("BestEffort", 0, MACHINE, priority=2_000_001_000) == -997


def test_the_kernel_kills_best_effort_before_a_hog_that_asked_for_much_and_guaranteed_last() -> None:
    best, hog, safe = (
        Victim(("best",), 50 * MIB, 1000),
        Victim(("hog",), 3000 * MIB, 486),
        Victim(("safe",), MACHINE, -997),
    )

    assert chosen([hog, best, safe], MACHINE) == best
    assert chosen([hog, safe], MACHINE) == hog
    assert chosen([safe], MACHINE) == safe
    assert chosen([], MACHINE) is None
    assert chosen([Victim(("b",), 1, 1000), Victim(("a",), 1, 1000)], MACHINE) == Victim(("a",), 1, 1000)
