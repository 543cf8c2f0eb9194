"""How much work an explanation may be, what it says where it stops, and the sums behind its notes."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.explain.explain import explain_pod
from baseload.decide.explain.notes import notes, reachable
from baseload.world import files, planning
from tests.decide.explain.telling import Told, told
from tests.reference.building import LADDER, pod, pool


@given(st.integers(1, 400), st.sets(st.integers(1, 40), min_size=1, max_size=4))
def test_the_effective_limit_is_the_largest_sum_of_node_sizes(limit: int, sizes: set[int]) -> None:
    sums = {0}
    for amount in range(1, limit + 1):
        if any(amount - size in sums for size in sizes):
            sums.add(amount)
    assert reachable(limit, sizes) == max(sums)


def test_a_fee_per_node_is_told_apart_from_the_price_of_instances() -> None:
    found = told(pool(), pod("a"))
    said = notes(found.view, found.tables(found.view), replace(found.options, per_node_hour=0.03), found.plan)
    assert said == ("instances cost $0.0500 an hour, fees of $0.0300 a node $0.0300 more: $0.0800 in all",)


def test_in_a_big_input_a_pod_that_others_crowd_out_is_not_searched_for() -> None:
    pods = [pod(f"web-{i}") for i in range(2001)]
    found = Told([pool(limits={"cpu": "160"}), *pods], LADDER, {})
    only = found.only
    assert only.fix is None
    assert "alone it would have a place, which other pending pods take first" in only.message
    assert found.plan.unschedulable[-1].message.endswith(
        f"`baseload explain pod {found.plan.unschedulable[-1].pod}` tells more"
    )


def test_in_a_big_input_a_change_is_checked_for_the_pod_alone() -> None:
    pods = [pod(f"web-{i}") for i in range(2000)]
    found = Told([pool(), *pods, pod("huge-1", "20"), pod("huge-2", "20")], LADDER, {})
    first, second = found.plan.unschedulable
    assert first.fix is not None
    assert first.fix.to == "16"
    assert "checked for this pod alone" in first.message
    assert second.fix is not None
    assert second.fix.object == "Pod default/huge-2"
    assert "it is explained as default/huge-1 is" in second.message


def test_one_pod_can_be_asked_for() -> None:
    found = told(pool(), pod("a", "20"), pod("b"))
    tables = found.tables(found.view)
    assert explain_pod("default/a", found.view, tables, found.options, found.bare) == found.only
    assert explain_pod("default/b", found.view, tables, found.options, found.bare) is None


NODE_CLASS = """
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  role: r
  subnetSelectorTerms: [{id: subnet-0123456789abcdef0}]
  securityGroupSelectorTerms: [{id: sg-0123456789abcdef0}]
  kubelet: {maxPods: 1}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, c5.large]}]
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: default}
spec: {containers: [{name: c, image: i}]}
"""


def test_a_node_class_that_leaves_no_slot_is_the_conflict() -> None:
    inputs = files.read(["-"], stdin=NODE_CLASS.encode, region="us-east-1")
    (only,) = planning.explained(inputs).unschedulable
    assert ("EC2NodeClass default", "spec.kubelet.maxPods") in {(d.object, d.path) for d in only.conflict}
    assert "the binding resource is pods" in only.message
    assert only.fix is not None
    assert (only.fix.object, only.fix.path, only.fix.from_) == ("EC2NodeClass default", "spec.kubelet.maxPods", 1)
    assert planning.provision(inputs.edited(only.fix.object, only.fix.path, only.fix.to)).unschedulable == ()
