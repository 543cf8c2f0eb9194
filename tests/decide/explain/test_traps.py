"""Situations that operators reported, told in their words."""

from tests.decide.explain.telling import paths, told
from tests.reference.algebra import CAPACITY_TYPE, INSTANCE_TYPE, ZONE
from tests.reference.building import LADDER, WEB, bound, instance_type, node, node_affinity, pod, pool, spread
from tests.reference.drawing import expression

AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def test_a_limit_that_no_whole_number_of_nodes_reaches_is_named_with_what_is_stranded() -> None:
    only = expression(INSTANCE_TYPE, "In", "r6a.8xlarge")
    catalog = [instance_type("r6a.8xlarge", 32), instance_type("r6a.large", 2)]
    found = told(pool("default", only, limits={"cpu": "2063"}), pod("a"), catalog=catalog)
    assert (
        "NodePool default: limits.cpu 2063 cannot be reached with nodes of 32: "
        "the effective limit is 2048, 15 is stranded"
    ) in found.plan.notes


def test_a_limit_that_some_mix_of_sizes_reaches_is_no_news() -> None:
    found = told(pool(limits={"cpu": "2063"}), pod("a"))
    assert found.plan.notes == ()


def test_a_domain_of_a_tainted_node_alone_is_named_with_its_taint() -> None:
    taint = {"key": "infra", "effect": "NoSchedule"}
    objects = [
        pool("default", expression(ZONE, "In", "zone-1", "zone-2")),
        node("infra-1", labels={ZONE: "zone-3"}, taints=[taint]),
        *(pod(f"web-{i}", **spread()) for i in range(3)),
    ]
    only = told(*objects).only
    assert "topology.kubernetes.io/zone=zone-3 counts 0" in only.message
    assert "node infra-1: did not tolerate taint infra:NoSchedule" in only.message
    assert only.fix is not None
    assert (only.fix.path, only.fix.to) == ("spec.topologySpreadConstraints[0].nodeTaintsPolicy", "Honor")


def test_a_spread_over_hosts_names_the_tainted_host_that_it_counts() -> None:
    taint = {"key": "infra", "effect": "NoSchedule"}
    objects = [
        pool(),
        node("app-1"),
        node("infra-1", taints=[taint]),
        bound(pod("web-0"), "app-1"),
        pod("web-1", **spread("kubernetes.io/hostname")),
    ]
    notes = told(*objects).plan.notes
    assert any("domain infra-1 counts 0, is tainted (infra:NoSchedule) and unusable" in note for note in notes)


def test_a_zone_that_no_pool_of_the_pod_serves_is_named_with_the_pool() -> None:
    objects = [
        pool("ours", expression(ZONE, "In", "zone-1", "zone-2"), labels={"project": "p"}),
        pool("other"),
        *(pod(f"inflate-{i}", nodeSelector={"project": "p"}, **spread()) for i in range(3)),
    ]
    found = told(*objects)
    assert len(found.plan.placements) == 2
    only = found.only
    assert "zone=zone-3 counts 0" in only.message
    assert "NodePool ours serves only zone-1, zone-2" in only.message
    assert "NodePool other: incompatible requirements" in only.message
    assert only.fix is not None
    term = {"key": ZONE, "operator": "In", "values": ["zone-1", "zone-2"]}
    assert (only.fix.object, only.fix.path) == (f"Pod {only.pod}", AFFINITY)
    assert only.fix.to == {"nodeSelectorTerms": [{"matchExpressions": [term]}]}


def test_node_affinity_to_the_zones_that_the_pool_serves_places_all_replicas() -> None:
    within = node_affinity(expression(ZONE, "In", "zone-1", "zone-2"))
    objects = [
        pool("ours", expression(ZONE, "In", "zone-1", "zone-2"), labels={"project": "p"}),
        pool("other"),
        *(pod(f"inflate-{i}", nodeSelector={"project": "p"}, **spread(), **within) for i in range(3)),
    ]
    assert told(*objects).plan.unschedulable == ()


def test_nodes_that_are_bought_for_pod_slots_are_named() -> None:
    catalog = [instance_type("c7g.medium", 1, resources={"pods": "8"})]
    found = told(pool(), *(pod(f"tiny-{i}", "20m") for i in range(24)), catalog=catalog)
    assert {claim.binding for claim in found.plan.node_claims} == {"pods"}
    assert any("pods is the binding resource on 3 new nodes (c7g.medium has 8 slots" in n for n in found.plan.notes)


def test_a_pod_for_which_daemons_leave_no_slot_is_told_that_pods_bind() -> None:
    daemon = {
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }
    catalog = [instance_type("tiny", 1, resources={"pods": "1"})]
    only = told(pool(), daemon, pod("a"), catalog=catalog).only
    assert "the binding resource is pods, the slots of a node: 1 DaemonSet pods take their share" in only.message
    assert only.nearest is not None
    assert only.nearest.lacking == {"pods": "1"}


def test_a_zone_that_comes_from_a_volume_is_said_to() -> None:
    terms = [{"matchExpressions": [expression("team", "In", "x")]}, {"matchExpressions": [expression(ZONE, "Exists")]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}
    objects = [
        pool("default", expression(ZONE, "In", "zone-1", "zone-3")),
        pod("db-0", volumes=[volume], affinity=affinity),
        *bound_volume("zone-2"),
    ]
    only = told(*objects).only
    assert f"{ZONE} In [zone-2] comes from PersistentVolume pv-0 (spec.nodeAffinity)" in only.message
    assert paths(only) == [
        "PersistentVolume pv-0 spec.nodeAffinity",
        "NodePool default spec.template.spec.requirements[0]",
    ]
    assert only.fix is not None
    assert (only.fix.object, only.fix.to) == ("NodePool default", ["zone-1", "zone-3", "zone-2"])


def bound_volume(zone: str) -> list[dict[str, object]]:
    terms = [{"matchExpressions": [expression(ZONE, "In", zone)]}]
    claim = {"accessModes": ["ReadWriteOnce"], "volumeName": "pv-0", "storageClassName": ""}
    source = {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "v"}}
    return [
        {
            "kind": "PersistentVolume",
            "metadata": {"name": "pv-0"},
            "spec": {**source, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
        },
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "data-0",
                "namespace": "default",
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": claim,
        },
    ]


def test_a_pool_whose_requirements_leave_one_type_is_named() -> None:
    found = told(pool("gpu", expression("size", "In", "4")), pod("a"))
    assert found.plan.notes == (
        "NodePool gpu: its requirements leave one instance type, step-4; "
        "while that is sold out the pool launches nothing",
    )


def test_daemons_that_use_more_than_they_ask_for_are_named_with_the_node_they_overfill() -> None:
    template = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"baseload.dev/real-memory": "3Gi"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"memory": "512Mi"}}}]},
    }
    daemon = {
        "kind": "DaemonSet",
        "metadata": {"name": "slab", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    notes = told(pool(), daemon, pod("a")).plan.notes
    assert notes == (
        "daemons request 512Mi of memory and use 3Gi a node (baseload.dev/real-memory); "
        "default-1 (step-1) is planned with 512Mi and would hold 3Gi of its 2Gi",
    )


def test_a_pod_bound_to_what_reserved_capacity_is_left_is_sent_elsewhere() -> None:
    reserved = {"Price": 0.0, "Available": True, "ReservationCapacity": 1}
    keys = [expression(CAPACITY_TYPE, "In", "reserved"), expression(ZONE, "In", "zone-1")]
    keys.append(expression("karpenter.k8s.aws/capacity-reservation-id", "In", "cr-1"))
    types = [dict(listed) for listed in LADDER[:1]]
    types[0]["offerings"] = [*types[0]["offerings"], {**reserved, "Requirements": keys}]
    objects = [pool(), pod("a", "700m", labels=WEB), pod("b", "700m", labels=WEB)]
    only = told(*objects, catalog=types).only
    assert only.reason == "ReservedOfferingUnavailable"
    assert only.fix is not None
    assert only.fix.to == "on-demand"
