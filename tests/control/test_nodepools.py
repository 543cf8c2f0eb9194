"""What Karpenter finds wrong with a NodePool by itself."""

import msgspec

from baseload.control.nodepools import faults
from baseload.kube.types.karpenter import NodePool


def test_a_pool_that_sets_a_label_of_karpenter_s_own_is_not_valid() -> None:
    tree = {"metadata": {"name": "default"}, "spec": {"template": {"metadata": {"labels": {"karpenter.sh/own": "x"}}}}}

    [fault] = faults(msgspec.convert(tree, NodePool))

    assert fault.startswith('spec.template.metadata.labels["karpenter.sh/own"]: ')
    assert "restricted" in fault
    assert list(faults(msgspec.convert({"metadata": {"name": "default"}}, NodePool))) == []
