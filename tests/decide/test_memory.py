"""What earlier passes on a cluster remember changes no plan."""

from dataclasses import replace
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.decide.provision.decide import provision
from baseload.decide.provision.memory import Memory
from baseload.model.view import View
from tests.decide import drawn
from tests.reference.clusters import Cluster, clusters


def without(view: View, keep: int) -> View:
    """The view of a while ago: some pods and nodes were not there, some nodes were smaller."""
    pods = tuple(pod for at, pod in enumerate(view.pods) if keep >> at % 8 & 1)
    nodes = tuple(node for at, node in enumerate(view.nodes) if keep >> at % 5 & 1)
    return replace(view, pods=pods, nodes=tuple(map(smaller, nodes)) if keep & 1 else nodes)


def smaller(node: Any) -> Any:
    status = msgspec.structs.replace(node.status, allocatable={"cpu": "1", "memory": "1Gi", "pods": "3"})
    return msgspec.structs.replace(node, status=status)


@settings(max_examples=80)
@given(clusters(), st.integers(0, 255), st.integers(0, 255))
def test_a_pass_that_remembers_plans_what_one_without_a_memory_does(cluster: Cluster, first: int, second: int) -> None:
    view, tables, options = drawn.inputs(*cluster)
    memory = Memory()
    for seen in (without(view, first), without(view, second), view, view):
        assert provision(seen, tables, options, memory=memory) == provision(seen, tables, options)
