"""A pass for pods in vain may be left out unless a pod leaves a node that would take one of them."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from baseload.catalog.columns import InstanceTypes
from baseload.decide.provision.decide import provision
from baseload.decide.provision.hope import hope
from baseload.decide.provision.in_vain import NOBODY, in_vain
from baseload.decide.provision.options import Options
from baseload.model.view import View, name_of
from tests.decide import drawn
from tests.reference.clusters import Cluster, clusters

FAST = [phase for phase in Phase if phase is not Phase.shrink]


def inputs(cluster: Cluster) -> tuple[View, Mapping[str, InstanceTypes], Options]:
    """A random cluster whose pods have uids, as all pods of a server do."""
    view, tables, options = drawn.inputs(*cluster)
    named = (msgspec.structs.replace(it.metadata, uid=name_of(it)) for it in view.pods)
    pods = tuple(msgspec.structs.replace(it, metadata=own) for it, own in zip(view.pods, named, strict=True))
    return replace(view, pods=pods), tables, options


def without(view: View, leaving: int) -> tuple[View, set[str]]:
    """The view when some running pods have gone, and the nodes that they left."""
    gone = [pod for at, pod in enumerate(view.pods) if pod.spec.node_name and leaving >> at % 8 & 1]
    ids = {id(pod) for pod in gone}
    left = tuple(pod for pod in view.pods if id(pod) not in ids)
    return replace(view, pods=left), {pod.spec.node_name for pod in gone}


@settings(max_examples=100, phases=FAST)
@given(clusters(), st.integers(1, 255))
def test_pods_that_leave_nodes_without_hope_change_nothing_for_those_in_vain(cluster: Cluster, leaving: int) -> None:
    view, tables, options = inputs(cluster)
    plan = provision(view, tables, options)
    left = hope(view, plan, spreads_by_default=bool(options.default_spread))
    after, nodes = without(view, leaving)
    if any(map(left.is_met_by, nodes)):
        return
    again = provision(after, tables, options)
    names = {it.pod for it in again.unschedulable}
    assert all(name_of(pod) in names for pod in after.pods if pod.metadata.uid in left.pods)


@settings(max_examples=100, phases=FAST)
@given(clusters(), st.integers(0, 255))
def test_a_pass_without_those_in_vain_places_the_others_as_one_with_them(cluster: Cluster, leaving: int) -> None:
    view, tables, options = inputs(cluster)
    if options.default_spread:
        return
    found = in_vain(view, provision(view, tables, options), tables, NOBODY)
    after, _ = without(view, leaving)
    if not found.holds(after, tables):
        return
    whole, rest = provision(after, tables, options), provision(found.left_out_of(after), tables, options)
    assert rest.placements == whole.placements
    assert [claim.pods for claim in rest.node_claims] == [claim.pods for claim in whole.node_claims]
    uids = {name_of(pod): pod.metadata.uid for pod in after.pods}
    assert [it for it in whole.unschedulable if uids.get(it.pod, "") not in found.pods] == list(rest.unschedulable)


def test_most_random_clusters_leave_something_out() -> None:
    """The property above would hold of a hope that is always met."""
    found: list[bool] = []

    @settings(max_examples=100, database=None)
    @given(clusters())
    def look(cluster: Cluster) -> None:
        view, tables, options = inputs(cluster)
        plan = provision(view, tables, options)
        if plan.unschedulable and view.nodes:
            left = hope(view, plan, spreads_by_default=bool(options.default_spread))
            found.append(left.nodes is not None and len(left.nodes) < len(view.nodes))

    look()
    assert any(found)


def test_random_clusters_have_pods_in_vain() -> None:
    """The property above would hold if nobody ever were."""
    found: list[bool] = []

    @settings(max_examples=100, database=None)
    @given(clusters())
    def look(cluster: Cluster) -> None:
        view, tables, options = inputs(cluster)
        found.append(bool(in_vain(view, provision(view, tables, options), tables, NOBODY).pods))

    look()
    assert any(found)
