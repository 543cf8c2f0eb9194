"""Who leaves a node that goes away, in which order, and what holds it (spec 6, 23)."""

from typing import Any

import msgspec
import pytest

from baseload.decide.lifecycle import conditions, drain, termination
from baseload.decide.lifecycle import pods as of_pods
from baseload.kube.types.core import PersistentVolumeClaim, Pod
from baseload.kube.types.storage import VolumeAttachment
from tests.decide.lifecycle.builders import at, claim, condition, node, pod, text

TOLERATES = {"tolerations": [{"operator": "Exists"}]}
CRITICAL = {"priorityClassName": "system-cluster-critical"}
PROTECTED: Any = {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}


def step(*pods: Pod, deadline: float | None = None, now: float = 0) -> tuple[list[str], dict[str, int], list[str], int]:
    found = drain.drain(pods, None if deadline is None else at(deadline), at(now))
    return (
        [one.metadata.name for one in found.evict],
        {one.metadata.name: grace for one, grace in found.delete},
        [one.metadata.name for one in found.held],
        found.waiting,
    )


def everyone() -> list[Pod]:
    return [
        pod("dns", spec=CRITICAL),
        pod("net", owner="DaemonSet", spec={"priorityClassName": "system-node-critical"}),
        pod("agent", owner="DaemonSet"),
        pod("web"),
        pod("proxy", owner="Node"),
        pod("stayer", spec=TOLERATES),
        pod("done", phase="Succeeded"),
    ]


def test_groups_leave_one_after_the_other_and_some_pods_never() -> None:
    left, order = everyone(), []
    while names := step(*left)[0]:
        order.append(names)
        left = [one for one in left if one.metadata.name not in names]

    assert order == [["web"], ["agent"], ["dns"], ["net"]]
    assert [one.metadata.name for one in left] == ["proxy", "stayer", "done"]
    assert step(*left) == ([], {}, [], 0)


def test_the_next_group_waits_until_the_one_before_is_really_gone() -> None:
    web = pod("web", deletionTimestamp=text(10))

    assert step(web, pod("agent", owner="DaemonSet")) == ([], {}, [], 2)


def test_a_pod_that_should_be_gone_for_more_than_a_minute_is_waited_for_no_more() -> None:
    web = pod("web", deletionTimestamp=text(0))

    assert step(web, now=60)[3] == 1
    assert step(web, pod("agent", owner="DaemonSet"), now=61) == (["agent"], {}, [], 1)


def test_a_protected_pod_is_waited_for_but_not_evicted() -> None:
    assert step(pod("web", **PROTECTED), pod("agent", owner="DaemonSet")) == ([], {}, ["web"], 2)


def test_critical_is_who_has_the_class_whatever_his_number() -> None:
    assert step(pod("high", spec={"priority": 2_000_000_000}), pod("dns", spec=CRITICAL))[0] == ["high"]


def test_tolerating_a_cordon_does_not_help_a_pod_to_stay() -> None:
    cordon = {"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}

    assert step(pod("web", spec=cordon))[0] == ["web"]


def test_pods_that_need_all_the_time_left_are_deleted_with_it_whatever_their_group() -> None:
    slow = pod("slow", spec={"terminationGracePeriodSeconds": 60}, **PROTECTED)
    dns = pod("dns", spec={**CRITICAL, "terminationGracePeriodSeconds": 30})
    quick = pod("quick", spec={"terminationGracePeriodSeconds": 5})

    assert step(slow, dns, quick, deadline=20) == (["quick"], {"dns": 20, "slow": 20}, [], 3)


@pytest.mark.parametrize(
    ("now", "forced"), [(480, {}), (480.001, {"slow": 119}), (599.5, {"slow": 1}), (700, {"slow": 1})]
)
def test_the_force_point_is_just_after_the_deadline_less_the_grace(now: float, forced: dict[str, int]) -> None:
    slow = pod("slow", spec={"terminationGracePeriodSeconds": 120}, **PROTECTED)

    assert step(slow, deadline=600, now=now)[1] == forced


def test_a_pod_without_a_grace_period_is_never_forced() -> None:
    assert step(pod("web", **PROTECTED), deadline=0, now=5000) == ([], {}, ["web"], 1)


def test_a_pod_that_would_end_after_the_deadline_is_deleted_again_with_less_time() -> None:
    late, early = pod("late", deletionTimestamp=text(60)), pod("early", deletionTimestamp=text(30))

    assert step(late, early, deadline=45, now=10) == ([], {"late": 35}, [], 2)


def test_without_a_deadline_nothing_is_forced() -> None:
    assert step(pod("web", deletionTimestamp=text(5000), spec={"terminationGracePeriodSeconds": 5000}))[1] == {}


def test_an_eviction_is_attempted_delayed_or_dropped_by_what_the_pod_is_now() -> None:
    def attempt(one: Pod | None, deadline: float | None = None) -> str:
        return drain.attempt(one, None if deadline is None else at(deadline), at(0))

    assert attempt(None) == "drop"
    assert attempt(pod("web")) == "evict"
    assert attempt(pod("web", **PROTECTED)) == "later"
    assert attempt(pod("web", phase="Failed")) == "drop"
    assert attempt(pod("web", deletionTimestamp=text(10))) == "drop"
    assert attempt(pod("web", spec={"terminationGracePeriodSeconds": 30}), deadline=20) == "delete"


def test_a_drain_lasts_5_seconds_at_least() -> None:
    held = termination.draining(claim(), is_over=False, now=at(0))
    began = conditions.since(held.status.conditions, "Drained")

    assert not drain.is_settled(began, at(4.9))
    assert drain.is_settled(began, at(5))
    over = termination.draining(held, is_over=True, now=at(5))
    drained = conditions.find(over.status.conditions, "Drained")
    assert drained is not None
    assert (drained.status, drained.reason) == ("True", "Drained")
    assert (
        termination.draining(over, is_over=False, now=at(9)) == over
    )  # somebody came late; it is taken back by nobody


def test_pods_are_told_why_they_are_evicted() -> None:
    assert termination.eviction_reason(claim()) == "Forceful Termination"
    disrupted = claim(condition("DisruptionReason", "True", reason="Underutilized"))
    assert termination.eviction_reason(disrupted) == "Underutilized"
    assert termination.eviction_reason(claim(condition("DisruptionReason", "False"))) == "Forceful Termination"
    assert termination.eviction_reason(None) == ""


def test_an_event_names_five_attachments() -> None:
    few = [attachment(f"csi-{number}", "pv") for number in range(5)]
    assert termination.listed(few) == "csi-0, csi-1, csi-2, csi-3, csi-4"
    assert termination.listed([*few, *few]) == "csi-0, csi-1, csi-2, csi-3, csi-4 and 5 other(s)"


def test_the_deadline_is_the_deletion_and_the_grace_period_and_never_moves() -> None:
    deleted: dict[str, Any] = {"deletionTimestamp": text(0), "spec": {"terminationGracePeriod": "10m"}}

    dated = termination.with_deadline(claim(**deleted))
    assert termination.deadline_of(dated) == at(600)
    earlier = claim(**deleted, annotations={"karpenter.sh/nodeclaim-termination-timestamp": text(60)})
    assert termination.with_deadline(earlier) is earlier
    endless = claim(deletionTimestamp=text(0))
    assert termination.deadline_of(termination.with_deadline(endless)) is None


def test_a_node_that_goes_takes_no_pods_and_no_traffic() -> None:
    wrong = {"key": "karpenter.sh/disrupted", "value": "x", "effect": "NoExecute"}
    gone = termination.cordoned(node("n1", wrong, {"key": "team", "effect": "NoSchedule"}))

    assert [(taint.key, taint.effect) for taint in gone.spec.taints] == [
        ("team", "NoSchedule"),
        ("karpenter.sh/disrupted", "NoSchedule"),
    ]
    assert gone.metadata.labels == {"node.kubernetes.io/exclude-from-external-load-balancers": "karpenter"}
    assert termination.cordoned(gone) == gone


def test_nodes_of_a_claim_that_never_registered_are_left_alone() -> None:
    registered, launching = claim(condition("Registered", "True")), claim(condition("Registered", "Unknown"))

    assert termination.nodes_to_delete(registered, [node(), node("n2", deletionTimestamp=text(0))]) == (node(),)
    assert termination.nodes_to_delete(launching, [node()]) == ()
    assert termination.awaits_nodes(registered, [node()])
    assert not termination.awaits_nodes(launching, [node()])


def attachment(name: str, volume: str = "", on: str = "n1") -> VolumeAttachment:
    source = {"persistentVolumeName": volume} if volume else {}
    tree = {"metadata": {"name": name}, "spec": {"nodeName": on, "source": source}}
    return msgspec.convert(tree, VolumeAttachment)


def test_volumes_of_pods_that_leave_are_waited_for_until_the_deadline() -> None:
    there = [attachment("a", "pv-web"), attachment("b", "pv-stayer"), attachment("c"), attachment("d", "pv-x", "n2")]
    data = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-stayer"}}]}
    stayer = pod("stayer", spec={**TOLERATES, **data})
    held = msgspec.convert(
        {"metadata": {"name": "data-stayer"}, "spec": {"volumeName": "pv-stayer"}}, PersistentVolumeClaim
    )

    pending = termination.attached(there, node(), [stayer], {("default", "data-stayer"): held}, at(0))

    assert [one.metadata.name for one in pending] == ["a"]

    def says(deadline: float | None, now: float) -> tuple[str, str]:
        limit = None if deadline is None else at(deadline)
        told = termination.detaching(claim(), pending, limit, at(now)).status.conditions
        found = conditions.find(told, "VolumesDetached")
        assert found is not None
        return found.status, found.reason

    assert says(None, 5000) == ("Unknown", "AwaitingVolumeDetachment")
    assert says(60, 59) == ("Unknown", "AwaitingVolumeDetachment")
    assert says(60, 60) == ("Unknown", "AwaitingVolumeDetachment")
    assert says(60, 61) == ("False", "TerminationGracePeriodElapsed")
    done = termination.detaching(claim(), (), None, at(0))
    assert conditions.is_true(done.status.conditions, "VolumesDetached")


def test_what_is_told_of_a_pods_protection() -> None:
    def told(value: str, *, started: float | None = 0, now: float = 60, **more: Any) -> tuple[str, str] | None:
        one = pod("web", annotations={"karpenter.sh/do-not-disrupt": value}, **more)
        if started is not None:
            one = msgspec.structs.replace(one, status=msgspec.structs.replace(one.status, start_time=text(started)))
        found = of_pods.protection_told(one, at(now))
        return None if found is None else (found.reason, found.message)

    assert told("true") is None
    assert told("false") == (
        "InvalidDoNotDisruptAnnotation",
        'Invalid karpenter.sh/do-not-disrupt annotation: failed to parse "false" as a duration: '
        'time: invalid duration "false", ignoring annotation',
    )
    assert told("0s") == (
        "InvalidDoNotDisruptAnnotation",
        'Invalid karpenter.sh/do-not-disrupt annotation: duration "0s" must be positive, ignoring annotation',
    )
    until = f"The karpenter.sh/do-not-disrupt grace period will elapse at {text(120)}"
    assert told("2m", now=119.5) == ("DoNotDisruptUntil", until)
    assert told("2m", now=120) == (
        "DoNotDisruptGracePeriodElapsed",
        "The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable",
    )
    assert told("2m", started=None) is None
    assert told("2m", phase="Succeeded") is None
    assert told("2m", spec=TOLERATES) is None
