"""Where in a workload a field of its pods is written."""

from collections.abc import Iterable, Mapping
from typing import Final

from baseload.decide.explain.edits import tree_of, value_at
from baseload.kube.fieldpath import Step, text
from baseload.kube.types.apps import DaemonSet, Deployment, ReplicaSet, StatefulSet
from baseload.kube.types.core import Pod
from baseload.model.view import View, ref_of

Workload = Deployment | ReplicaSet | StatefulSet | DaemonSet
TEMPLATE: Final = ("spec", "template")


class Owners:
    """The workloads of a view, by what they own."""

    def __init__(self, view: View) -> None:
        listed: Iterable[Workload] = (*view.deployments, *view.replica_sets, *view.stateful_sets, *view.daemon_sets)
        self._by_name: Final[Mapping[tuple[str, str, str], Workload]] = {
            (type(one).__name__, one.metadata.namespace, one.metadata.name): one for one in listed
        }

    def of(self, pod: Pod) -> Workload | None:
        """The uppermost workload of the input that a pod belongs to."""
        found: Workload | None = None
        one: Pod | Workload = pod
        while True:
            owners = one.metadata.owner_references or ()
            keys = ((owner.kind, pod.metadata.namespace, owner.name) for owner in owners)
            above = next((self._by_name[key] for key in keys if key in self._by_name), None)
            if above is None:
                return found
            found = one = above

    def template_of(self, pod: Pod, path: tuple[Step, ...]) -> str | None:
        """The workload's field in whose place the pod has its own, if it stands there: `Deployment a/b spec.…`."""
        workload = self.of(pod)
        if workload is None:
            return None
        place = text((*TEMPLATE, *path))
        if value_at(tree_of(workload), place) is None:
            return None
        return f"{ref_of(workload)} {place}"
