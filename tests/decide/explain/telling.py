"""Plans explained, and their explanations put to the proof on the manifests themselves."""

from typing import Any

import msgspec

from baseload.catalog import kwok
from baseload.catalog.columns import InstanceTypes
from baseload.decide.explain.explain import explain
from baseload.decide.provision.decide import provision
from baseload.decide.provision.options import Options
from baseload.kube import manifests
from baseload.kube.manifests import Manifests
from baseload.model.view import View
from baseload.plan.provision import Field, ProvisionPlan, Unschedulable
from baseload.world import options
from baseload.world.files import view_of
from tests.reference.building import LADDER

Object = dict[str, Any]


class Told:
    """An input, its plan explained, and the plan of the same input with one field changed."""

    def __init__(self, objects: list[Object], catalog: list[Object], settings: Object) -> None:
        listed = [{**_API_VERSION.get(one["kind"], {}), **one} for one in objects]
        data = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": listed})
        self.manifests: Manifests = manifests.load(["-"], stdin=lambda: data, validate="warn")
        self.types: InstanceTypes = kwok.read(msgspec.json.encode(catalog), "catalog.json")
        self.options: Options = options.of_tree(settings, "options.yaml").options
        self.view: View = view_of(self.manifests)
        self.bare: ProvisionPlan = provision(self.view, self.tables(self.view), self.options)
        self.plan: ProvisionPlan = explain(self.view, self.tables(self.view), self.options, self.bare)
        self._placed: dict[tuple[str, str, str], set[str]] = {}

    def tables(self, view: View) -> dict[str, InstanceTypes]:
        return {pool.metadata.name: self.types for pool in view.node_pools}

    def of(self, pod: str) -> Unschedulable:
        """What is said of a pod of the namespace default."""
        return next(u for u in self.plan.unschedulable if u.pod == f"default/{pod}")

    @property
    def only(self) -> Unschedulable:
        """What is said of the only pod without a place, or of the first."""
        return self.plan.unschedulable[0]

    def places(self, pod: str, ref: str, path: str, value: Field) -> bool:
        """Whether the manifests with this field changed give the pod a place."""
        key = (ref, path, repr(value))
        if key not in self._placed:
            view = view_of(self.manifests.edited(ref, path, value))
            plan = provision(view, self.tables(view), self.options)
            self._placed[key] = {placement.pod for placement in plan.placements}
        return pod in self._placed[key]

    def falsehoods(self) -> list[str]:
        """Everything that explanations claim and planning again does not bear out."""
        return [fault for told in self.plan.unschedulable for fault in self._falsehoods(told)]

    def _falsehoods(self, told: Unschedulable) -> list[str]:
        found = [
            f"{told.pod}: without {demand.object} {demand.path} it has no place"
            for demand in told.conflict
            if not self.places(told.pod, demand.object, demand.path, None)
        ]
        if told.fix is None:
            if "no single field" not in told.message:
                found.append(f"{told.pod}: neither a fix nor a word of it: {told.message}")
        elif not self.places(told.pod, told.fix.object, told.fix.path, told.fix.to):
            found.append(f"{told.pod}: {told.fix} gives it no place")
        return found


_API_VERSION = {
    "NodePool": {"apiVersion": "karpenter.sh/v1"},
    "NodeClaim": {"apiVersion": "karpenter.sh/v1"},
    "Pod": {"apiVersion": "v1"},
    "Node": {"apiVersion": "v1"},
    "PersistentVolume": {"apiVersion": "v1"},
    "PersistentVolumeClaim": {"apiVersion": "v1"},
    "StorageClass": {"apiVersion": "storage.k8s.io/v1"},
    "DaemonSet": {"apiVersion": "apps/v1"},
}


def told(*objects: Object | list[Object], catalog: list[Object] = LADDER, **settings: Any) -> Told:
    """A few objects explained; every claim that is made of them is proved at once."""
    flat = [one for listed in objects for one in (listed if isinstance(listed, list) else [listed])]
    found = Told(flat, catalog, settings)
    assert found.falsehoods() == []
    return found


def paths(one: Unschedulable) -> list[str]:
    """The conflict, in short."""
    return [f"{demand.object} {demand.path}" for demand in one.conflict]
