"""A strategic patch that says the difference between two pods makes the one into the other."""

from typing import Any

from hypothesis import given

from baseload.kube.merge import strategic
from baseload.kube.merge.patch_meta import PatchMeta, of_kind
from baseload.kube.merge.tree import Object, same
from tests.kube.merge.manifests import Tree, pods

found = of_kind("v1", "Pod")
assert found is not None
POD: PatchMeta = found


def difference(old: Tree, new: Tree, meta: PatchMeta) -> Tree:
    """A patch from one map to another, as a client makes it."""
    patch: Tree = {key: None for key in old if key not in new}
    for key, value in new.items():
        held = old.get(key)
        field = meta.field(key)
        if isinstance(value, dict) and isinstance(held, dict):
            patch[key] = difference(held, value, field)
        elif isinstance(value, list) and isinstance(held, list) and field.merges:
            patch |= of_items(key, held, value, field) if field.key else of_scalars(key, held, value)
        elif not same(value, held):
            patch[key] = value
    return patch


def of_items(name: str, old: list[Any], new: list[Any], meta: PatchMeta) -> Tree:
    key = meta.key
    before = {item[key]: item for item in old}
    changed = [{key: item[key], **difference(before.get(item[key], {}), item, meta)} for item in new]
    gone = [{key: named, "$patch": "delete"} for named in before if named not in {item[key] for item in new}]
    return {name: [*changed, *gone], f"$setElementOrder/{name}": [{key: item[key]} for item in new]}


def of_scalars(name: str, old: list[Any], new: list[Any]) -> Tree:
    gone = [value for value in old if value not in new]
    deleted = {f"$deleteFromPrimitiveList/{name}": gone} if gone else {}
    return {name: new, f"$setElementOrder/{name}": new, **deleted}


def patched(target: Object, patch: Tree) -> Object:
    return strategic.patched(target, patch, api_version="v1", kind="Pod")


@given(pods(), pods())
def test_the_patch_of_a_difference_yields_the_target(old: Tree, new: Tree) -> None:
    assert patched(old, difference(old, new, POD)) == new


@given(pods(), pods())
def test_patching_twice_is_patching_once(old: Tree, new: Tree) -> None:
    patch = difference(old, new, POD)
    assert patched(patched(old, patch), patch) == new


@given(pods())
def test_an_empty_patch_changes_nothing(pod: Tree) -> None:
    assert patched(pod, {}) == pod


@given(pods(), pods())
def test_a_merge_of_new_parts_leaves_no_directive(old: Tree, new: Tree) -> None:
    patch = difference(old, new, POD)
    assert "$" not in repr(patched({"apiVersion": "v1", "kind": "Pod"}, {**patch, "spec": patch.get("spec", {})}))
