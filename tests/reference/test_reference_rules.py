"""The reference decides the worked examples of Karpenter's rules as Karpenter does."""

import copy

from .algebra import CAPACITY_TYPE, HOSTNAME, RESERVATION_ID, ZONE, Manifest
from .building import (
    LADDER,
    WEB,
    apart,
    bound,
    decided,
    instance_type,
    node,
    node_affinity,
    node_of,
    owned,
    pod,
    pods_of_claims,
    pool,
    spread,
    together,
    waiting,
    zones,
)
from .drawing import expression


def test_the_emptiest_planned_claim_takes_the_next_pod() -> None:
    apart_twice = [pod("a", "900m", **apart()), pod("b", "800m", **apart())]
    result = decided(pool(), *apart_twice, *[pod(f"c{i}", "300m", labels={}) for i in range(3)])
    assert pods_of_claims(result) == [["a", "c0", "c2"], ["b", "c1"]]


def test_large_pods_come_first_and_small_types_drop_out_as_pods_join() -> None:
    result = decided(pool(), pod("small", "1"), pod("huge", "16"), pod("other", "2"))
    assert pods_of_claims(result) == [["huge"], ["other", "small"]]
    assert [claim.types for claim in result.claims] == [["step-16"], ["step-4", "step-8", "step-16"]]


def test_a_preference_beats_a_free_node_unless_preferences_are_ignored() -> None:
    free = node("a", labels={ZONE: "zone-1"})
    picky = pod("p", **node_affinity(preferred=(expression(ZONE, "In", "zone-2"),)))
    assert zones(decided(pool(), free, picky)) == ["zone-2"]
    assert node_of(decided(pool(), free, picky, preferencePolicy="Ignore"), "p") == "a"


def test_relaxing_drops_alternatives_of_the_required_terms_before_any_preference() -> None:
    lonely = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "nobody"}}}
    p = pod("p", **node_affinity(expression(ZONE, "In", "zone-1"), expression(ZONE, "In", "zone-2")))
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": lonely}]}
    p["spec"]["affinity"]["podAffinity"] = preferred
    assert zones(decided(pool(), p)) == ["zone-2"]


def test_not_in_defines_a_key_for_the_pods_that_come_later() -> None:
    a = pod("a", "200m", **node_affinity(expression("tier", "NotIn", "x")))
    b = pod("b", **node_affinity(expression("tier", "In", "y")))
    result = decided(pool(), a, b)
    assert pods_of_claims(result) == [["a", "b"]]
    assert result.claims[0].labels["tier"] == "y"
    assert waiting(decided(pool(), b)) == {"b"}


def test_an_existing_node_without_a_zone_label_is_in_no_zone() -> None:
    assert zones(decided(pool(), node("a"), pod("p", nodeSelector={ZONE: "zone-1"}))) == ["zone-1"]


def test_a_limit_is_charged_with_the_largest_type_left() -> None:
    limited = pool(limits={"cpu": "20"})
    result = decided(limited, *[pod(f"p{i}", **apart()) for i in range(3)])
    assert [claim.types[-1] for claim in result.claims] == ["step-16", "step-4"]
    assert waiting(result) == {"p2"}


def test_a_node_limit_lets_the_claim_that_crosses_it_pass_and_no_more() -> None:
    result = decided(pool(limits={"nodes": "2"}), *[pod(f"p{i}", **apart()) for i in range(4)])
    assert len(result.claims) == 3
    assert len(result.errors) == 1


def test_a_closed_pool_still_lends_its_zones_to_spreading() -> None:
    pools = [pool("p1", expression(ZONE, "In", "zone-1", "zone-2"))]
    pools.append(pool("p2", expression(ZONE, "In", "zone-3"), limits={"cpu": "0"}))
    result = decided(pools, *[pod(f"p{i}", **spread()) for i in range(5)])
    assert zones(result) == ["zone-1", "zone-2"]
    selected = [pod(f"p{i}", nodeSelector={ZONE: "zone-1"}, **spread()) for i in range(5)]
    assert zones(decided(pools, *selected)) == ["zone-1"] * 5


def test_too_few_domains_count_as_an_empty_one() -> None:
    two = pool("default", expression(ZONE, "In", "zone-1", "zone-2"))
    result = decided(two, *[pod(f"p{i}", **spread(minDomains=3)) for i in range(3)])
    assert zones(result) == ["zone-1", "zone-2"]


def test_zone_anti_affinity_blocks_every_zone_its_claim_may_still_get() -> None:
    result = decided(pool(), *[pod(f"p{i}", **apart(ZONE)) for i in range(3)])
    assert len(result.claims) == 1
    pinned = [pod(f"p{i}", nodeSelector={ZONE: f"zone-{i}"}, **apart(ZONE)) for i in (1, 2, 3)]
    assert sorted(zones(decided(pool(), *pinned))) == ["zone-1", "zone-2", "zone-3"]


def test_affinity_to_a_pod_whose_zone_is_open_finds_no_zone() -> None:
    follower = pod("f", labels={}, **together(ZONE))
    assert waiting(decided(pool(), pod("t", "1"), follower)) == {"f"}
    result = decided(pool(), pod("t", "1", nodeSelector={ZONE: "zone-3"}), follower)
    assert zones(result) == ["zone-3", "zone-3"]


def test_self_affinity_by_hostname_never_opens_a_second_claim() -> None:
    small = [instance_type("five", 2, resources={"pods": "5"})]
    result = decided(pool(), *[pod(f"p{i}", **together(HOSTNAME)) for i in range(8)], catalog=small)
    assert [len(claim.pods) for claim in result.claims] == [5]
    assert len(result.errors) == 3


def test_a_running_pods_anti_affinity_keeps_matching_pods_away() -> None:
    guard = bound(pod("guard", labels={"app": "other"}, **apart()), "a")
    assert node_of(decided(pool(), node("a"), guard, pod("p")), "p") is None
    assert node_of(decided(pool(), node("a"), guard, pod("p", labels={})), "p") == "a"


def test_daemons_count_by_type_and_are_asked_for_once() -> None:
    shape = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]}
    shape |= node_affinity(expression("size", "Lt", "4"))
    agent = {"kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "kube-system"}}
    result = decided(pool(), {**agent, "spec": {"template": {"spec": shape}}}, pod("p", "1"))
    assert result.claims[0].types == ["step-4", "step-8", "step-16"]
    assert result.claims[0].requests["cpu"] == 10**9


def test_daemons_need_their_cpu_under_a_pod_that_asks_for_none() -> None:
    shape = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]}
    agent = {"kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "kube-system"}}
    modest = pod("p")
    modest["spec"]["containers"][0]["resources"]["requests"] = {"memory": "64Mi"}
    result = decided(pool(), {**agent, "spec": {"template": {"spec": shape}}}, modest)
    assert result.claims[0].types[0] == "step-2"


def test_min_values_split_pods_that_would_leave_too_few_types() -> None:
    demand = {**expression("size", "Exists"), "minValues": 2}
    result = decided(pool("default", demand), pod("a", "7"), pod("b", "7"))
    assert pods_of_claims(result) == [["a"], ["b"]]


def test_best_effort_lowers_min_values_before_a_lighter_pool_is_asked() -> None:
    heavy = pool("heavy", {**expression("size", "In", "1", "2", "99"), "minValues": 3}, weight=10)
    objects = [heavy, pool("light"), pod("p")]
    assert decided(objects).claims[0].pool == "light"
    claim = decided(objects, minValuesPolicy="BestEffort").claims[0]
    assert claim.pool == "heavy"
    assert claim.requirements["size"].min_values == 2
    assert claim.annotations["karpenter.sh/nodeclaim-min-values-relaxed"] == "true"


def test_a_claim_holds_a_slot_of_every_open_reservation_and_the_next_pod_waits() -> None:
    catalog = copy.deepcopy(LADDER[:2])
    for listed in catalog:
        demands = [
            expression(CAPACITY_TYPE, "In", "reserved"),
            expression(ZONE, "In", "zone-1"),
            expression(RESERVATION_ID, "In", f"cr-{listed['name']}"),
        ]
        listed["offerings"].append(
            {"Price": 0.00001, "Available": True, "Requirements": demands, "ReservationCapacity": 1}
        )
    result = decided(pool(), pod("a", **apart()), pod("b", **apart()), catalog=catalog)
    assert [claim.capacity_type for claim in result.claims] == ["reserved"]
    assert waiting(result) == {"b"}


def test_soft_taints_of_a_pool_are_tolerated_last_and_those_of_a_node_never() -> None:
    soft = {"key": "soft", "effect": "PreferNoSchedule"}
    heavy = pool("heavy", weight=10, taints=[soft])
    assert decided(heavy, pool("light"), pod("p")).claims[0].pool == "light"
    assert decided(heavy, pod("p")).claims[0].pool == "heavy"
    assert node_of(decided(pool(), node("a", taints=[soft]), pod("p")), "p") is None


def test_a_booting_node_is_waited_for_in_spite_of_its_startup_taint() -> None:
    boot = {"key": "boot", "value": "wait", "effect": "NoSchedule"}
    young = owned("a", initialized=False, taints=[boot], claim={"startupTaints": [boot]})
    assert node_of(decided(pool(), young, pod("p")), "p") == "a"
    grown = owned("a", taints=[boot], claim={"startupTaints": [boot]})
    assert node_of(decided(pool(), grown, pod("p")), "p") is None


def test_an_overdrawn_resource_closes_a_node_for_every_pod() -> None:
    tight = node("a")
    tight["status"]["allocatable"] = {**tight["status"]["allocatable"], "memory": "1Gi"}
    hog = bound(pod("hog", labels={}, requests={"memory": "2Gi"}), "a")
    assert node_of(decided(pool(), tight, hog, pod("p")), "p") is None


def test_sidecars_run_beside_the_init_steps_that_follow_them() -> None:
    def container(name: str, cpu: str, **more: str) -> Manifest:
        return {"name": name, "image": "i", "resources": {"requests": {"cpu": cpu}}, **more}

    init = [
        container("s1", "500m", restartPolicy="Always"),
        container("i1", "3"),
        container("s2", "500m", restartPolicy="Always"),
    ]
    p = pod("p", "1", initContainers=init)
    p["spec"]["containers"].append(container("b", "1"))
    claim = decided(pool(), p).claims[0]
    assert claim.requests["cpu"] == 3_500_000_000


def test_hugepages_are_taken_off_memory() -> None:
    paged = [instance_type("paged", 4, resources={"hugepages-2Mi": "4Gi"})]
    assert waiting(decided(pool(), pod("p", requests={"memory": "5Gi"}), catalog=paged)) == {"p"}


def test_host_ports_keep_pods_apart() -> None:
    port = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    assert len(decided(pool(), pod("a", ports=port), pod("b", ports=port)).claims) == 2


def test_a_claim_that_is_not_launched_stops_the_pass() -> None:
    claim = {"kind": "NodeClaim", "metadata": {"name": "young", "labels": {}}, "spec": {}}
    assert waiting(decided(pool(), claim, pod("p"))) == {"p"}


def test_without_a_dynamic_pool_not_even_free_nodes_are_used() -> None:
    assert waiting(decided(node("a"), pod("p"))) == {"p"}


def test_pods_leave_a_node_that_is_being_deleted() -> None:
    parting = owned("a")
    parting[1]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    held = bound(pod("held"), "a")
    held["metadata"] = {**held["metadata"], "annotations": {"karpenter.sh/do-not-disrupt": "true"}}
    result = decided(pool(), parting, bound(pod("mover"), "a"), held, pod("p"))
    assert sorted(name for names in pods_of_claims(result) for name in names) == ["mover", "p"]


def test_a_pod_pinned_by_its_volume_is_measured_against_every_zone() -> None:
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"}}
    late: Manifest = {"kind": "StorageClass", "metadata": {"name": "s"}, "volumeBindingMode": "WaitForFirstConsumer"}
    late["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": ["zone-1"]}]}]
    late["provisioner"] = "x"
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    there = [bound(pod(f"r{i}", labels=WEB), f"n{i}") for i in (1, 2)]
    nodes = [node(f"n{i}", "0.1", labels={ZONE: "zone-1"}) for i in (1, 2)]
    storage: list[Manifest] = [{**claim, "spec": {"storageClassName": "s"}}, late]
    assert waiting(decided(pool(), nodes, there, storage, pod("p", volumes=volumes, **spread()))) == {"p"}


def test_solving_leaves_its_input_as_it_was() -> None:
    picky = pod("p", **node_affinity(preferred=(expression(ZONE, "In", "mars"),)))
    objects = [pool(), node("a"), picky]
    before = copy.deepcopy(objects)
    decided(objects)
    assert objects == before
