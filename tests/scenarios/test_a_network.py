"""The network agent of new nodes: what its taint costs that is not declared, and its absence that no taint tells of."""

from typing import Any

from tests.scenarios.living import lived, spec_of


def test_an_undeclared_startup_taint_is_paid_for_in_duplicates() -> None:
    declared, undeclared = lived("a_startup-taint-declared"), lived("a_startup-taint-undeclared")
    assert declared.figure("launches") == 1
    assert undeclared.figure("launches") - declared.figure("launches") == undeclared.figure("launches.unused") == 2
    assert declared.figure("longestPendingSeconds") == undeclared.figure("longestPendingSeconds")
    assert undeclared.figure("cost.hour") == 3 * declared.figure("cost.hour")


def test_the_two_differ_in_the_declaration_alone() -> None:
    declared, undeclared = spec_of("a_startup-taint-declared"), spec_of("a_startup-taint-undeclared")
    del declared["manifests"][-1]["spec"]["template"]["spec"]["startupTaints"]
    del declared["expect"], undeclared["expect"]
    assert declared == undeclared


def test_every_duplicate_is_planned_for_all_the_pods_anew() -> None:
    plans: list[Any] = [entry.plan for entry in lived("a_startup-taint-undeclared").told("provisioning.planned")]
    made = [len(claim["pods"]) for plan in plans for claim in plan["nodeClaims"]]
    assert made == [6, 6, 6]


def test_with_a_foreign_configuration_the_kubelet_says_of_each_pod_why_it_hangs() -> None:
    life = lived("a_cni-foreign-configuration")
    hanging = {entry.object for entry in life.told("event.told", reason="FailedCreatePodSandBox")}
    assert len([pod for pod in hanging if pod.startswith("Pod default/web-")]) == len(hanging) == 6


def test_without_a_configuration_the_node_says_that_its_network_is_missing() -> None:
    life = lived("a_cni-no-configuration")
    ready = life.told("node.ready")[0].moment
    assert all(entry.moment >= ready for entry in life.told("pod.bound", object="default/web-"))
    assert life.told("pod.bound", object="default/web-")
