"""What disruption does to nodes that carry protected pods, to slow networks, and in the traps that others fell into."""

from itertools import pairwise
from typing import Any

import pytest

from tests.scenarios.living import Lived, lived, lived_otherwise, seconds, spec_of

WEEKS = ["hub", "preprod"]
PROTECTED = ("orders-cache-", "prometheus-0", "loki-0", "tempo-0", "mimir-0", "pyroscope-0", "-db-1")


def moved(life: Lived) -> set[str]:
    """The pods that the eviction API moved, or that a drain deleted."""
    return {entry.object for entry in life.told("pod.evicted", reason="api")}


def commands(life: Lived) -> list[Any]:
    return [entry.plan for entry in life.told("disruption.decided")]


def pools(name: str, **disruption: Any) -> list[Any]:
    """The manifests of a scenario with another disruption block in its NodePools."""
    manifests: list[Any] = spec_of(name)["manifests"]
    for one in manifests:
        if isinstance(one, dict) and one["kind"] == "NodePool":
            one["spec"]["disruption"] |= disruption
    return manifests


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("cluster", WEEKS)
def test_in_a_week_no_protected_pod_is_moved_and_what_is_moved_saves_money(cluster: str) -> None:
    name = f"c_week-{cluster}"
    life = lived(name)
    assert not [pod for pod in moved(life) if any(part in pod for part in PROTECTED)]
    decided = commands(life)
    assert len(decided) == life.figure("disruptions") > 0
    assert all(command["savingsPerHour"] > 0 for command in decided)
    never: Any = {"spec": {"disruption": {"consolidateAfter": "Never"}}}
    still = {"at": "0s", "do": "patch", "kind": "NodePool", "name": "elastic", "patch": never}
    idle = [{"series": "disruptions", "always": True, "is": 0}]
    kept = lived_otherwise(name, events=[still, *spec_of(name)["events"]], expect=idle)
    assert kept.report.result == "holds", kept.text
    assert life.figure("cost.total") < kept.figure("cost.total")


@pytest.mark.parametrize("way", ["expiry", "interruption", "repair", "drift"])
def test_a_protected_pod_is_never_evicted_whatever_takes_its_node(way: str) -> None:
    life = lived(f"c_protected-{way}")
    assert life.report.result == "holds", life.text
    assert not moved(life)
    ended = {"interruption": "interrupted"}.get(way, "deleted")
    assert life.figure(f"terminations:{ended}") == 1
    assert life.report.broken == ()


def test_the_drain_of_a_protected_pod_ends_as_long_before_the_deadline_as_the_pod_has_grace() -> None:
    life = lived("c_protected-expiry")
    [deleted] = seconds(life.told("pod.deleted", object="Pod default/db-"), life.report.start)
    [claim] = seconds(life.told("nodeclaim.deleted"), life.report.start)
    assert 600 - 30 <= deleted - claim <= 600 - 30 + 3


def test_without_a_grace_period_an_expired_node_with_a_protected_pod_stays() -> None:
    manifests: Any = spec_of("c_protected-expiry")["manifests"]
    del manifests[2]["spec"]["template"]["spec"]["terminationGracePeriod"]
    life = lived_otherwise(
        "c_protected-expiry",
        manifests=manifests,
        expect=[{"series": "pods.ready", "workload": "db", "always": {"from": "2m"}, "is": 1}],
    )
    assert life.report.result == "holds", life.text
    assert life.figure("terminations") == 0


def test_the_loop_of_a_taint_that_is_not_declared_is_one_of_empty_nodes_and_ends_at_a_quarter_of_an_hour() -> None:
    """The loop: a node is launched for pods that wait, is initialised, and goes as empty behind its taint."""
    loop, ends = lived("c_slow-cni-undeclared-1m"), lived("c_slow-cni-undeclared-15m")
    assert [note for note in loop.report.notes if note.startswith("loop: ") and "LaunchedUnused" in note]
    assert not ends.report.notes
    assert {command["method"] for command in commands(loop)} == {"Emptiness"}
    assert loop.figure("launches") == loop.figure("launches.unused") > 40, "no pod ever came to any of them"
    gone = seconds(loop.told("disruption.decided"), loop.report.start)
    assert max(after - before for before, after in pairwise(gone)) < 120, "it never pauses"
    assert ends.figure("launches") - ends.figure("launches.unused") == 1
    assert len(seconds(ends.told("nodeclaim.created"), ends.report.start)) == ends.figure("launches")
    assert max(seconds(ends.told("nodeclaim.created"), ends.report.start)) < 300, "nothing comes after it has ended"


def test_a_declared_taint_that_is_still_there_keeps_the_node_from_being_a_candidate() -> None:
    life = lived("c_slow-cni-declared-1m")
    told = {entry.message for entry in life.told("event.told", reason="DisruptionBlocked")}
    assert not commands(life)
    assert all("initialized" in message or "nominated" in message for message in told), told


def test_pods_that_cannot_land_after_initialisation_let_one_node_after_another_go() -> None:
    loop, ends = lived("c_unable-to-land-1m"), lived("c_unable-to-land-15m")
    assert loop.figure("launches.unused") == loop.figure("disruptions") >= 3
    assert (ends.figure("launches"), ends.figure("disruptions")) == (1, 0)


def test_nothing_of_a_broken_image_is_waited_for_longer_than_a_command_may_take() -> None:
    life = lived("c_trap-11-broken-image")
    kept = {entry.object for entry in life.told("instance.launched") if "m5.large" in entry.message}
    assert len(kept) == 6
    assert not [entry for entry in life.told("instance.ending") if entry.object in kept]
    assert not life.told("event.told", reason="DisruptionTerminating")


def test_a_job_every_quarter_of_an_hour_resets_no_timer_of_ten_minutes() -> None:
    name = "c_trap-41-job-resets-the-timer"
    expected = [{"series": "disruptions", "at": "2h", "atLeast": 1}]
    life = lived_otherwise(name, duration="2h", manifests=pools(name, consolidateAfter="10m"), expect=expected)
    assert life.report.result == "holds", life.text


def test_a_tainted_node_is_no_domain_where_taints_are_honoured() -> None:
    name = "c_trap-13-tainted-domain"
    manifests: Any = spec_of(name)["manifests"]
    manifests[3]["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["nodeTaintsPolicy"] = "Honor"
    expected = [{"series": "pods.ready", "workload": "nginx", "at": "10m", "is": 8}]
    life = lived_otherwise(name, duration="10m", manifests=manifests, expect=expected)
    assert life.report.result == "holds", life.text
    assert life.figure("launches") == 0


def test_an_alias_that_moves_replaces_every_node_once() -> None:
    life = lived("c_trap-10-alias-moves")
    decided = commands(life)
    assert {command["method"] for command in decided} == {"Drift"}
    given_up = [candidate["node"] for command in decided for candidate in command["candidates"]]
    assert len(given_up) == len(set(given_up)) == 20


def test_two_replicas_are_never_both_unready_while_their_nodes_drift() -> None:
    life = lived("c_trap-12-two-replicas")
    assert life.report.result == "holds", life.text
    evicted = seconds(life.told("pod.evicted", object="ingress"), life.report.start)
    ready = [at for at in seconds(life.told("pod.ready", object="ingress"), life.report.start) if at > 600]
    assert len(evicted) == len(ready) == 2
    assert evicted[0] < ready[0] < evicted[1], "the budget lets the second go when the first has come back"
