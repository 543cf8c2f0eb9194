"""One field of one object changed: the what-if that explanations are proved by.

Objects and fields are named as in manifests (`NodePool default`, `spec.limits.cpu`), so what is tried here is what a
user would write. The fields of a pod that was made for a workload stand in the workload's template: to change one
there changes it for all pods of the workload.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import msgspec

from baseload.kube import fieldpath
from baseload.kube.types.core import Pod, PodSpec
from baseload.kube.types.meta import Wire
from baseload.model.expand import admitted
from baseload.model.view import View, name_of, ref_of
from baseload.plan.provision import Field

Places = Mapping[str, tuple[str, str]]
"""pod -> the object in which its fields are written and the path there: ("Deployment default/web", "spec.template")"""

_FIELDS: Final = (
    "pods",
    "nodes",
    "node_claims",
    "node_pools",
    "node_classes",
    "persistent_volumes",
    "persistent_volume_claims",
    "storage_classes",
    "pod_disruption_budgets",
)
W = TypeVar("W", bound=Wire)


class Impossible(ValueError):
    """The field is not there, or cannot hold the value."""


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """A field set to a value, or removed where it is None."""

    object: str
    path: str
    value: Field

    @property
    def key(self) -> tuple[str, str, str]:
        return self.object, self.path, repr(self.value)


class Objects:
    """The objects of a view by name."""

    def __init__(self, view: View, place_of: Places) -> None:
        self.view: Final = view
        self._place_of: Final = place_of
        self._at: Final[dict[str, tuple[str, int]]] = {}
        self._pods_of: Final[dict[tuple[str, str], list[int]]] = {}
        self.pods: Final[dict[str, Pod]] = {}
        for field in _FIELDS:
            for at, one in enumerate(getattr(view, field)):
                self._at[ref_of(one)] = field, at
        for at, pod in enumerate(view.pods):
            name = name_of(pod)
            self.pods[name] = pod
            if name in place_of:
                self._pods_of.setdefault(place_of[name], []).append(at)

    def place(self, pod: str) -> tuple[str, str]:
        """The object in which a pod's fields are written, and what goes before their path."""
        ref, prefix = self._place_of.get(pod, (f"Pod {pod}", ""))
        return ref, f"{prefix.rstrip('.')}." if prefix else ""

    def value(self, ref: str, path: str) -> Field:
        """What a field holds, None where it is absent (or has its default)."""
        for target, tail in self._targets(ref, path):
            return value_at(tree_of(target), tail)
        return None

    def edited(self, edits: Sequence[Edit]) -> View:
        """The view after these edits, one after the other; raises Impossible."""
        view = self.view
        for edit in edits:
            view = self._edited(view, edit)
        return view

    def _edited(self, view: View, edit: Edit) -> View:
        if edit.object in self._at:
            field, at = self._at[edit.object]
            listed = list(getattr(view, field))
            listed[at] = changed(listed[at], edit.path, edit.value)
            return replace(view, **{field: tuple(listed)})  # type: ignore[arg-type]  # one of _FIELDS
        pods = list(view.pods)
        known: dict[int, PodSpec] = {}
        for at, tail in self._of_workload(edit.object, edit.path):
            pods[at] = _with_spec(pods[at], tail, edit.value, known)
        return replace(view, pods=tuple(pods))

    def _targets(self, ref: str, path: str) -> Sequence[tuple[Wire, str]]:
        if ref in self._at:
            field, at = self._at[ref]
            return [(getattr(self.view, field)[at], path)]
        return [(self.view.pods[at], tail) for at, tail in self._of_workload(ref, path)]

    def _of_workload(self, ref: str, path: str) -> Sequence[tuple[int, str]]:
        found = [
            (at, path.removeprefix(f"{prefix.rstrip('.')}."))
            for (owner, prefix), places in self._pods_of.items()
            if owner == ref
            for at in places
        ]
        if not found:
            raise Impossible(f"there is no {ref}")
        return found


def tree_of(one: Wire) -> object:
    """An object as the JSON tree that manifests have."""
    return msgspec.json.decode(msgspec.json.encode(one))


def changed(one: W, path: str, value: Field) -> W:
    """The object with one field set, or removed where the value is None."""
    try:
        tree = fieldpath.changed(tree_of(one), path, value)
        return msgspec.convert(tree, type(one))
    except ValueError as error:  # msgspec's ValidationError is one
        raise Impossible(str(error)) from error


def _with_spec(pod: Pod, path: str, value: Field, known: dict[int, PodSpec]) -> Pod:
    """A pod of a workload changed; pods that share a spec go on sharing it, so that they stay one shape."""
    if not path.startswith("spec."):
        return changed(pod, path, value)
    spec = known.get(id(pod.spec))
    if spec is None:
        spec = known[id(pod.spec)] = admitted(changed(pod.spec, path.removeprefix("spec."), value))
    return msgspec.structs.replace(pod, spec=spec)


def value_at(tree: object, path: str) -> Field:
    """What a JSON tree holds at a path; None where it leads nowhere."""
    at = tree
    for step in fieldpath.parse(path):
        if isinstance(at, dict):
            at = at.get(step)
        elif isinstance(at, list) and isinstance(step, int) and step < len(at):
            at = at[step]
        else:
            return None
    return at  # type: ignore[return-value]  # builtins of a JSON tree
