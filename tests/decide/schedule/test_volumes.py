"""Where pods may go for the sake of their volumes, and what is bound for them (cluster-actors 6.5-6.9)."""

from typing import Any

import msgspec

from baseload.decide.schedule import volumes
from baseload.decide.schedule.engine import Engine, Found, Unfit
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.volumes import BIND_COMPLETED, SELECTED_NODE, Check, Plan, Storage
from baseload.kube.types import core, storage
from tests.decide.schedule.building import ZONE, engine, node, pod, read

NODES = [node("a1", zone="a"), node("b1", zone="b")]


def claim(name: str, *, bound: str = "", of: str = "late", size: str = "1Gi", **annotations: str) -> Any:
    held = {BIND_COMPLETED: "yes"} if bound else {}
    tree = {
        "metadata": {"name": name, "namespace": "default", "annotations": {**held, **annotations}},
        "spec": {"storageClassName": of, "volumeName": bound, "resources": {"requests": {"storage": size}}},
        "status": {"phase": "Bound" if bound else "Pending"},
    }
    return msgspec.convert(tree, core.PersistentVolumeClaim)


def volume(name: str, zone: str = "", *, size: str = "1Gi", of: str = "late", phase: str = "Available") -> Any:
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    required = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    tree = {
        "metadata": {"name": name},
        "spec": {
            "storageClassName": of,
            "capacity": {"storage": size},
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": name},
            **({"nodeAffinity": required} if zone else {}),
        },
        "status": {"phase": phase},
    }
    return msgspec.convert(tree, core.PersistentVolume)


def storage_class(
    name: str, mode: str = "WaitForFirstConsumer", provisioner: str = "ebs.csi.aws.com", zone: str = ""
) -> Any:
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": [zone]}]}] if zone else []
    tree = {
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        "allowedTopologies": terms,
    }
    return msgspec.convert(tree, storage.StorageClass)


def held(claims: list[Any], made: list[Any], classes: list[Any]) -> Storage:
    return Storage(
        {("default", it.metadata.name): it for it in claims},
        {it.metadata.name: it for it in made},
        {it.metadata.name: it for it in classes},
    )


def using(made: Engine, *claims: str, name: str = "p", on: str = "") -> Pod:
    written = read(made, pod(name, "10m", on=on))
    written.claims = claims
    return written


def choose(store: Storage, *claims: str) -> tuple[Found | Unfit, Plan]:
    made = engine(NODES)
    one = using(made, *claims)
    found = made.choose(one, extra=volumes.filtering(store, made.cluster, made.judge))
    if isinstance(found, Unfit):
        return found, Plan()
    facts = made.cluster.at(made.cluster.slots[found.node]).facts
    return found, Check(store, one, made.cluster).plan(facts)


def message(found: Found | Unfit) -> str:
    assert isinstance(found, Unfit)
    return found.message()


def test_a_bound_volume_ties_a_pod_to_its_zone() -> None:
    store = held([claim("c", bound="v")], [volume("v", "b", phase="Bound")], [])
    assert choose(store, "c") == (Found("b1", 1, 2), Plan())
    store = held([claim("c", bound="v")], [volume("v", "c", phase="Bound")], [])
    assert message(choose(store, "c")[0]) == (
        "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity."
    )
    store = held([claim("c", bound="v")], [], [])
    assert message(choose(store, "c")[0]) == (
        "0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)."
    )


def test_claims_that_cannot_be_used_refuse_every_node() -> None:
    made = engine(NODES)
    late = [storage_class("late"), storage_class("now", "Immediate")]
    cases = [
        ([], "c", 'persistentvolumeclaim "c" not found'),
        ([claim("c", of="now")], "c", "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", of="late")], "c", None),
    ]
    for claims, name, told in cases:
        refusal = volumes.refused(held(claims, [], late), using(made, name))
        assert (refusal.reasons if refusal else None) == ((told,) if told else None)
    generic = using(made, "p-data")
    generic.made_claims = ("p-data",)
    refusal = volumes.refused(held([], [], late), generic)
    assert refusal is not None
    assert refusal.reasons == ('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-data"',)


def test_a_claim_that_waits_takes_the_smallest_free_volume_that_the_node_reaches() -> None:
    free = [volume("large", "a", size="9Gi"), volume("small", "a", size="2Gi"), volume("tiny", "b", size="500Mi")]
    store = held([claim("c")], free, [storage_class("late", provisioner=volumes.NO_PROVISIONER)])
    found, plan = choose(store, "c")
    assert found == Found("a1", 1, 2)
    assert [(it.metadata.name, name) for it, name in plan.bindings] == [("c", "small")]
    store.reserved |= {"small": ("default", "other"), "large": ("default", "other")}
    assert message(choose(store, "c")[0]) == (
        "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind."
    )


def test_without_one_it_is_provisioned_where_its_class_may_do_so() -> None:
    store = held([claim("c")], [], [storage_class("late", zone="b")])
    found, plan = choose(store, "c")
    assert found == Found("b1", 1, 2)
    assert [it.metadata.name for it in plan.provisions] == ["c"]


def test_a_claim_for_which_a_node_was_selected_stays_there() -> None:
    store = held([claim("c", **{SELECTED_NODE: "b1"})], [], [storage_class("late")])
    assert choose(store, "c")[0] == Found("b1", 1, 2)


def test_a_node_attaches_so_many_volumes_and_counts_each_once() -> None:
    claims = [claim(f"c{at}", bound=f"v{at}") for at in range(3)]
    store = held(claims, [volume(f"v{at}", phase="Bound") for at in range(3)], [])
    store.limits = {"a1": {"ebs.csi.aws.com": 2}, "b1": {"ebs.csi.aws.com": 2}}
    made = engine(NODES)
    for name, on in (("x", "a1"), ("y", "b1")):
        made.cluster.put_pod(using(made, "c0", "c1", name=name, on=on))
    extra = volumes.filtering(store, made.cluster, made.judge)
    assert message(made.choose(using(made, "c2"), extra=extra)) == (
        "0/2 nodes are available: 2 node(s) exceed max volume count."
    )
    assert isinstance(made.choose(using(made, "c1"), extra=extra), Found)


def test_a_claim_for_one_pod_alone_is_not_shared() -> None:
    one_pod = msgspec.convert(
        {
            "metadata": {"name": "c", "namespace": "default", "annotations": {BIND_COMPLETED: "yes"}},
            "spec": {"volumeName": "v", "accessModes": ["ReadWriteOncePod"]},
        },
        core.PersistentVolumeClaim,
    )
    store, made = held([one_pod], [volume("v")], []), engine(NODES)
    made.cluster.put_pod(using(made, "c", name="x", on="a1"))
    assert message(made.choose(using(made, "c"), extra=volumes.filtering(store, made.cluster, made.judge))) == (
        "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod."
    )
