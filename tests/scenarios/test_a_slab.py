"""A slab that requests less than it uses, on nodes of 4 GiB: what it costs, and what keeps it from happening."""

from itertools import pairwise

import pytest

from tests.scenarios.living import lived, seconds, spec_of

MINUTE = 60


def test_a_starved_node_is_silent_until_the_kernel_kills_the_largest_daemon() -> None:
    life = lived("a_slab-low")
    first = life.told("node.notready")[0]
    assert first.reason == "NodeStatusUnknown"
    own = [entry for entry in life.told("node.ready", object=first.object) if entry.moment > first.moment]
    killed = [entry for entry in life.told("pod.restarted", reason="OOMKilled") if entry.moment == own[0].moment]
    assert [entry.object.startswith("Pod kube-system/cilium-") for entry in killed] == [True]


def test_starved_nodes_flap_with_a_period_of_minutes() -> None:
    life = lived("a_slab-low")
    first = life.told("node.notready")[0].object
    moments = seconds(life.told("node.notready", object=first), life.report.start)
    assert len(moments) >= 4
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert all(3 * MINUTE < gap < 8 * MINUTE for gap in gaps), gaps


def test_every_node_of_the_pool_is_launched_for_a_pod_that_is_evicted_again() -> None:
    life = lived("a_slab-low")
    evicted = life.told("pod.evicted")
    assert {entry.reason for entry in evicted} == {"pressure"}
    assert len(evicted) == life.figure("launches") == life.figure("evictions:pressure") == 8
    assert life.figure("terminations") == 0


@pytest.mark.parametrize("name", ["a_slab-honest", "a_slab-low-minimum"])
def test_with_honest_requests_or_a_minimum_the_same_pods_live_on_three_nodes(name: str) -> None:
    churning, calm = lived("a_slab-low"), lived(name)
    assert calm.figure("launches") == 3 < churning.figure("launches")
    assert calm.figure("nodes.flaps") == calm.figure("evictions") == calm.figure("restarts") == 0
    assert calm.figure("cost.hour") < churning.figure("cost.hour")
    assert calm.figure("longestPendingSeconds") < MINUTE < churning.figure("longestPendingSeconds")


def test_the_three_differ_in_requests_and_in_the_minimum_alone() -> None:
    low, honest, minimum = (spec_of(f"a_slab-{name}")["manifests"] for name in ("low", "honest", "low-minimum"))
    assert [path.replace("low.yaml", "honest.yaml") for path in low] == honest
    assert [path for path in low if not path.endswith("pool.yaml")] == [
        path for path in minimum if isinstance(path, str)
    ]
