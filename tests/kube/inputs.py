"""Manifests for the tests of loading, as plain values."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from baseload.kube import manifests
from baseload.kube.manifests import Manifests
from baseload.kube.schema.check import Validate
from baseload.values.errors import BadInput, Fault

Object = dict[str, object]


def from_text(text: str | bytes, *, validate: Validate = "auto") -> Manifests:
    """What standard input holds."""
    data = text.encode() if isinstance(text, str) else text
    return manifests.load(["-"], stdin=lambda: data, validate=validate)


def from_objects(*objects: Object, validate: Validate = "auto") -> Manifests:
    """A List of objects, as JSON."""
    return from_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), validate=validate)


def faults_of(text: str | bytes, *, validate: Validate = "auto") -> tuple[Fault, ...]:
    """Everything that is wrong with a text; the test fails if nothing is."""
    with pytest.raises(BadInput) as refused:
        from_text(text, validate=validate)
    return refused.value.faults


def wrong(*objects: Object, validate: Validate = "auto") -> list[str]:
    """The faults of objects as `path: message`."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    return [f"{fault.path}: {fault.message}" for fault in faults_of(text, validate=validate)]


def pod(name: str = "web", *, metadata: Mapping[str, object] | None = None, **spec: object) -> Object:
    """A pod of one container that asks for a little CPU; fields of the spec may be added or replaced."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", **(metadata or {})},
        "spec": {"containers": [container], **spec},
    }


def container(**resources: object) -> Object:
    """A container with the resources given."""
    return {"name": "c", "image": "i", "resources": resources}


def node_pool(name: str = "default", *, template: Mapping[str, object] | None = None, **spec: object) -> Object:
    """A pool of any nodes; fields of the spec and of the template's spec may be added or replaced."""
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    inner = {"nodeClassRef": reference, "requirements": [], **(template or {})}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"spec": inner}, **spec},
    }


def deployment(name: str = "web", **spec: object) -> Object:
    """A Deployment whose selector fits its template."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def with_spec(value: Object, fields: Object) -> Object:
    """An object with some fields of its spec added or replaced."""
    spec = value["spec"]
    assert isinstance(spec, dict)
    return {**value, "spec": {**spec, **fields}}


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Files under a folder, by relative name."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all fields and items."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: list[tuple[str | int, ...]] = []
    for step, held in inner:
        found += [(*path, step), *places(held, (*path, step))]
    return found


@st.composite
def changed(draw: st.DrawFn, sound: Object, odd: st.SearchStrategy[object]) -> Object:
    """An object with one field below its sections replaced, removed or misspelt; as it is where it has none."""
    tree = copy.deepcopy(sound)
    *way, last = draw(st.sampled_from([place for place in places(sound) if len(place) > 1] or [()])) or (None,)
    if last is None:
        return tree
    at: Any = tree
    for step in way:
        at = at[step]
    if isinstance(at, dict) and draw(st.booleans()):
        held = at.pop(last)
        if draw(st.booleans()):
            at[f"{last}s"] = held
    else:
        at[last] = draw(odd)
    return tree
