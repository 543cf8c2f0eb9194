"""A pass for pods in vain may be left out unless a pod leaves a node that would take one of them."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.decide.provision.decide import provision
from baseload.decide.provision.hope import hope
from baseload.model.view import View, name_of
from tests.decide import drawn
from tests.reference.clusters import Cluster, clusters


def without(view: View, leaving: int) -> tuple[View, set[str]]:
    """The view when some running pods have gone, and the nodes that they left."""
    gone = [pod for at, pod in enumerate(view.pods) if pod.spec.node_name and leaving >> at % 8 & 1]
    ids = {id(pod) for pod in gone}
    left = tuple(pod for pod in view.pods if id(pod) not in ids)
    return replace(view, pods=left), {pod.spec.node_name for pod in gone}


@settings(max_examples=150)
@given(clusters(), st.integers(1, 255))
def test_pods_that_leave_nodes_without_hope_change_nothing_for_those_in_vain(cluster: Cluster, leaving: int) -> None:
    view, tables, options = drawn.inputs(*cluster)
    plan = provision(view, tables, options)
    left = hope(view, plan, spreads_by_default=bool(options.default_spread))
    after, nodes = without(view, leaving)
    if any(map(left.is_met_by, nodes)):
        return
    alive = {name_of(pod) for pod in after.pods}
    again = provision(after, tables, options)
    in_vain = {it.pod for it in again.unschedulable}
    assert left.pods & alive <= in_vain


def test_most_random_clusters_leave_something_out() -> None:
    """The property above would hold of a hope that is always met."""
    found: list[bool] = []

    @settings(max_examples=100, database=None)
    @given(clusters())
    def look(cluster: Cluster) -> None:
        view, tables, options = drawn.inputs(*cluster)
        plan = provision(view, tables, options)
        if plan.unschedulable and view.nodes:
            left = hope(view, plan, spreads_by_default=bool(options.default_spread))
            found.append(left.nodes is not None and len(left.nodes) < len(view.nodes))

    look()
    assert any(found)
