"""What holds after every event of every scenario is seen not to hold where the rule that it guards is broken."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from baseload.control.commands import Commands, Running
from baseload.decide.disrupt import guards
from baseload.decide.disrupt.simulate import Simulated, Simulator
from baseload.decide.fit.types import TypeIndex
from baseload.embedded.api import evictions
from baseload.replay.report import Report
from tests.replay.stories import NODE_CLASS, deployment, lived, node, pool
from tests.scenarios.living import lived_otherwise
from tests.world.lives import Tree, within

ON_DEMAND = within("karpenter.sh/capacity-type", "on-demand")
EAGER: Tree = {"consolidateAfter": "30s", "budgets": [{"nodes": "100%"}]}
PROTECTED: Tree = {"karpenter.sh/do-not-disrupt": "true"}


def story(
    folder: Path, *, types: Sequence[str] = ("m5.large", "m5.xlarge"), annotations: Tree | None = None, **spec: Any
) -> Report:
    """Five pods on one node of four cores, of which one is left: it would do with a smaller node."""
    web = deployment("web", 5)
    web["spec"]["template"]["metadata"]["annotations"] = annotations or {}
    sizes = within("node.kubernetes.io/instance-type", *types)
    usual = {
        "duration": "30m",
        "manifests": [NODE_CLASS, pool(ON_DEMAND, sizes, disruption=EAGER), web],
        "events": [{"at": "3m", "do": "scale", "workload": "web", "replicas": 1}],
        "expect": [{"series": "pods.ready", "at": "2m", "atLeast": 1}],
    }
    report, _ = lived(folder, **{**usual, **spec})
    return report


def test_all_hold_where_nothing_is_broken(tmp_path: Path) -> None:
    report = story(tmp_path)
    assert report.broken == ()
    assert report.figures["disruptions"] == 1
    assert report.changes_seen is not None
    assert report.changes_seen > 30


def test_an_eviction_that_asks_no_budget_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evictions, "_charge", lambda cluster, pod, *, dry: None)
    report = lived_otherwise("b_notice-against-a-budget", expect=[{"series": "pods.total", "at": "1m", "is": 4}]).report
    assert len(report.broken) >= 4
    assert "was evicted, PodDisruptionBudget default/web wants 4 healthy pods, and 3 are left" in report.broken[0]
    assert report.result == "fails"


def guarded(folder: Path, replicas: int, *, silent: bool, **rule: Any) -> Report:
    """Pods on a fixed node, where a user evicts all of them; perhaps when their kubelet is not heard of."""
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **rule},
    }
    down = {"at": "2m", "do": "apiDown", "controllers": ["kubelet"], "for": "3m"}
    evicted = {"at": "4m", "do": "evict", "workload": "web"}
    manifests = [node("floor"), deployment("web", replicas), budget]
    return story(folder, manifests=manifests, events=[*([down] if silent else []), evicted], duration="4m30s")


@pytest.mark.parametrize(
    ("rule", "silent", "evicted"),
    [
        ({"minAvailable": "50%"}, False, 2),
        ({"maxUnavailable": "25%"}, False, 1),
        ({"minAvailable": 3}, False, 1),
        ({"minAvailable": 3}, True, 0),
        ({"minAvailable": 3, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, True, 4),
    ],
)
def test_whatever_a_budget_allows_is_no_fault(tmp_path: Path, rule: Tree, silent: bool, evicted: int) -> None:
    report = guarded(tmp_path, 4, silent=silent, **rule)
    assert report.figures["evictions"] == evicted
    assert report.broken == ()


def test_an_unready_pod_that_goes_against_its_policy_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evictions, "_is_free", lambda pod, budget: True)
    broken = guarded(tmp_path, 4, silent=True, minAvailable=3).broken
    assert len(broken) == 4
    assert broken[0].endswith("PodDisruptionBudget default/web wants 3 healthy pods, and 0 are left")


def test_a_protected_node_that_is_given_up_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = story(tmp_path, annotations=PROTECTED)
    assert kept.broken == ()
    assert kept.figures["disruptions"] == 0
    monkeypatch.setattr(guards, "is_held", lambda pod, now: False)
    [told] = story(tmp_path, annotations=PROTECTED).broken
    assert "was deleted as " in told
    assert told.endswith("which do-not-disrupt protects")


def test_a_node_that_goes_before_its_replacement_is_initialised_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def advance(self: Commands, one: Running) -> str:
        for candidate in one.candidates:
            await self._delete(candidate, one.command.reason)
        return "done"

    monkeypatch.setattr(Commands, "_advance", advance)
    [told] = story(tmp_path).broken
    assert told.endswith("was deleted when 0 of the 1 NodeClaims that replace it are initialised")


def test_a_pool_that_grows_beyond_its_limits_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = pool(ON_DEMAND, within("node.kubernetes.io/instance-type", "m5.large"), limits={"cpu": "4"})
    spec: Tree = {"manifests": [NODE_CLASS, limited, deployment("web", 8, cpu="1500m")], "events": []}
    kept = story(tmp_path, **spec)
    assert kept.broken == ()
    assert kept.figures["launches"] == 2
    monkeypatch.setattr(TypeIndex, "within", lambda self, mask, left: mask)
    broken = story(tmp_path, **spec).broken
    assert broken[0].endswith("was launched of NodePool default, which has 6 of cpu without it, and a limit of 4")


def test_a_pod_that_a_move_leaves_without_a_place_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes with a pod each that no other has room for, and no machine to be had."""
    spec: Tree = {
        "types": ["m5.large"],
        "manifests": [
            NODE_CLASS,
            pool(ON_DEMAND, within("node.kubernetes.io/instance-type", "m5.large"), disruption=EAGER),
            deployment("web", 2, cpu="1"),
        ],
        "events": [{"at": "20s", "do": "outOfCapacity"}],
    }
    kept = story(tmp_path, **spec)
    assert (kept.broken, kept.figures["disruptions"]) == ((), 0)
    simulate = Simulator.without

    def hopeful(self: Simulator, *asked: Any, **options: Any) -> Simulated:
        return replace(simulate(self, *asked, **options), claims=(), unplaced=())

    monkeypatch.setattr(Simulator, "without", hopeful)
    broken = story(tmp_path, **spec).broken
    assert broken
    assert all(told.endswith("was made for one that a command moved, and had no node for 15m0s") for told in broken)
