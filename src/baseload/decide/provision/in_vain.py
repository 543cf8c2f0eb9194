"""Pods that no pass can place while NodePools, instance types and DaemonSets stay as they are: passes leave them out.

Every NodePool refuses them for what they are, not for what is used up; no node that is there would take them if it were
empty; and where they could go depends on no other pod. So with thousands of them a pass costs no more than without.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.provision.hope import by_spec, depends_on_others, takers
from baseload.kube.types.core import Pod
from baseload.model.view import View, name_of
from baseload.plan.provision import ProvisionPlan, Unschedulable
from baseload.plan.reason import Reason

_FOR_WHAT_THEY_ARE: Final = frozenset(
    {Reason.TAINT, Reason.REQUIREMENTS, Reason.RESOURCES, Reason.INSTANCE_TYPE, Reason.OFFERING, Reason.EMPTY_POOL}
)
_Versions = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class InVain:
    """`pods` by uid, one of each kind of them, and what they were judged by."""

    pods: frozenset[str] = frozenset()
    kinds: tuple[Pod, ...] = ()
    versions: _Versions = ()  # of NodePools and DaemonSets
    tables: tuple[InstanceTypes, ...] = ()

    def holds(self, view: View, tables: Mapping[str, InstanceTypes]) -> bool:
        """Whether all that they were judged by is as it was, and no node came that would take one of them."""
        now = _listed(tables)
        if len(now) != len(self.tables) or not all(a is b for a, b in zip(now, self.tables, strict=True)):
            return False
        return self.versions == _versions(view) and not takers(view, self.kinds)

    def left_out_of(self, view: View) -> View:
        """The view without them."""
        return view.narrowed(lambda pod: pod.metadata.uid not in self.pods)


NOBODY: Final = InVain()


def in_vain(view: View, plan: ProvisionPlan, tables: Mapping[str, InstanceTypes], before: InVain) -> InVain:
    """Those of before that are still there, and those whom a plan refuses for what they are."""
    refused = {one.pod for one in plan.unschedulable if _is_for_what_it_is(one)}
    if not (refused or before.pods):
        return NOBODY
    groups = by_spec(pod for pod in view.pods if name_of(pod) in refused)
    found = [pods for pods in groups if not depends_on_others(pods[0]) and not takers(view, pods[:1])]
    there = {pod.metadata.uid for pod in view.pods}
    pods = (before.pods & there).union(pod.metadata.uid for pods in found for pod in pods)
    kinds = (*before.kinds, *(pods[0] for pods in found))
    return InVain(pods, kinds, _versions(view), tuple(_listed(tables))) if pods else NOBODY


def _is_for_what_it_is(one: Unschedulable) -> bool:
    of_pools = [it.reason for it in one.rejections if it.target.startswith("nodePool/")]
    return bool(of_pools) and all(reason in _FOR_WHAT_THEY_ARE for reason in of_pools)


def _versions(view: View) -> _Versions:
    held = [it.metadata for it in view.node_pools] + [it.metadata for it in view.daemon_sets]
    return tuple((metadata.uid, metadata.generation) for metadata in held)


def _listed(tables: Mapping[str, InstanceTypes]) -> list[InstanceTypes]:
    return [tables[name] for name in sorted(tables)]
