"""Server-side apply holds for any pods what its documentation promises."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.kube.merge import apply, fieldset, managers, owned, scope, types
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.managers import Managers
from baseload.kube.merge.refusal import ApplyConflict, PatchError
from baseload.values import instant
from tests.kube.merge.manifests import CONTAINERS, METADATA, SPEC, Tree, items, pods, some

found = types.of_kind("v1", "Pod")
assert found is not None
POD = found
NOW = instant.parse("2026-11-30T12:00:00Z")
LATER = NOW + 90 * instant.SECOND


def applied(live: Tree | None, config: Tree, manager: str, *, now: int = NOW) -> Tree:
    """Applied with force, so that there is always a result; nothing that went in has changed."""
    before = deepcopy((live, config))
    after = apply.apply(live, config, kind=POD, manager=manager, now=now, force=True)
    assert (live, config) == before
    return after


def updated(live: Tree | None, after: Tree, manager: str, *, now: int = NOW) -> Tree:
    before = deepcopy((live, after))
    managed = apply.managed_after_update(live, after, kind=POD, manager=manager, now=now)
    assert (live, after) == before
    return managed


def held(live: Tree) -> Managers:
    return managers.read(live["metadata"].get("managedFields"))


def fields(live: Tree, manager: str, operation: str) -> FieldSet:
    entry = held(live).get(managers.manager(manager, operation, "v1"))
    return entry.fields if entry else {}


def wanted(config: Tree) -> FieldSet:
    return scope.ownable(owned.fields(POD.root, config))


@given(pods(), pods(), pods())
def test_applying_twice_is_applying_once(live: Tree, other: Tree, config: Tree) -> None:
    before = applied(updated(None, live, "creator"), other, "other")
    once = applied(before, config, "me")
    assert applied(once, config, "me", now=LATER) is once


@given(pods(), pods())
def test_the_applier_holds_exactly_what_it_applied(live: Tree, config: Tree) -> None:
    after = applied(updated(None, live, "creator"), config, "me")
    assert fields(after, "me", "Apply") == wanted(config)


@given(pods(), pods())
def test_after_a_forced_apply_only_equal_values_are_shared(first: Tree, second: Tree) -> None:
    after = applied(applied(None, first, "a"), second, "b")
    again = applied(after, second, "b")
    assert again is after
    kept = applied(after, second, "c")
    assert {who.name for who in held(kept)} >= {"c"} if wanted(second) else True
    assert kept["metadata"].keys() - {"managedFields"} == after["metadata"].keys() - {"managedFields"}
    assert kept.get("spec") == after.get("spec")


@given(pods(), pods())
def test_without_force_either_nothing_of_others_changes_or_all_conflicts_are_told(first: Tree, second: Tree) -> None:
    before = applied(None, first, "a")
    lost = fieldset.difference(fields(before, "a", "Apply"), fields(applied(before, second, "b"), "a", "Apply"))
    if lost:
        assert told(before, second) == [fieldset.text(path) for path in fieldset.paths(lost)]
    else:
        after = apply.apply(before, second, kind=POD, manager="b", now=NOW)
        assert fields(after, "a", "Apply") == fields(before, "a", "Apply")


def told(live: Tree, config: Tree) -> list[str]:
    """The fields of all conflicts that an apply without force meets."""
    try:
        apply.apply(live, config, kind=POD, manager="b", now=NOW)
    except ApplyConflict as conflict:
        return [cause.field for cause in conflict.causes]
    return []


@given(pods(), pods(), pods())
def test_who_applies_nothing_any_more_leaves_nothing_of_its_own(base: Tree, mine: Tree, other: Tree) -> None:
    before = applied(applied(updated(None, base, "creator"), other, "other"), mine, "me")
    own = fields(before, "me", "Apply")
    for who, entry in held(before).items():
        own = own if who.name == "me" else fieldset.difference(own, entry.fields)
    after = applied(before, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, "me")
    assert not fields(after, "me", "Apply")
    left = owned.fields(POD.root, after)
    leaves = [path for path in fieldset.paths(own) if not fieldset.below(own, path[0]) or len(path) > 1]
    still = [path for path in leaves if fieldset.has(left, path)]
    others = held(after).values()
    assert all(any(is_above(path, entry.fields) for entry in others) for path in still)


def is_above(path: fieldset.Path, fields: FieldSet) -> bool:
    """Whether a set has the path or anything below it."""
    for element in path:
        if element not in fields:
            return False
        fields = fields[element]
    return True


@given(st.data())
def test_the_order_of_unrelated_managers_does_not_matter(data: st.DataObject) -> None:
    """Two who apply different containers, labels and volumes end up at one object, whoever comes first."""
    theirs = {
        name: data.draw(pods(*(apart(strategy, name) for strategy in (METADATA, SPEC))), label=name)
        for name in ("a", "b")
    }
    one = applied(applied(None, theirs["a"], "a"), theirs["b"], "b")
    two = applied(applied(None, theirs["b"], "b"), theirs["a"], "a")
    assert unordered(one) == unordered(two)
    assert {who: entry.fields for who, entry in held(one).items()} == {
        who: entry.fields for who, entry in held(two).items()
    }


def apart(strategy: st.SearchStrategy[Tree], name: str) -> st.SearchStrategy[Tree]:
    """Of the same shape, with all that is told apart by name under names of its own, and nothing that is one value."""

    def renamed(value: object) -> object:
        if isinstance(value, dict):
            return {own(key): renamed(held) for key, held in value.items()}
        return [renamed(item) for item in value] if isinstance(value, list) else own(value)

    def own(value: object) -> object:
        return f"{name}{value}" if value in ("a", "b", "c", "d") else value

    def parted(tree: Tree) -> Tree:
        kept = {key: renamed(held) for key, held in tree.items() if key in ("labels", "containers", "volumes")}
        return {**kept, "annotations": {name: "here"}} if strategy is METADATA else kept

    return strategy.map(parted)


def unordered(tree: object) -> object:
    if isinstance(tree, dict):
        return {key: unordered(held) for key, held in tree.items() if key not in ("managedFields", "args")}
    return sorted(map(unordered, tree), key=repr) if isinstance(tree, list) else tree


@given(pods(), pods())
def test_an_updater_holds_what_it_changed_and_others_the_rest(before: Tree, after: Tree) -> None:
    old = updated(None, before, "a")
    if not held(old):
        return
    new = updated(old, after, "b", now=LATER)
    everything = {path for entry in held(new).values() for path in fieldset.paths(entry.fields)}
    assert {path for path in fieldset.paths(wanted(after)) if path not in everything} <= set(empties(after))
    assert not set(fieldset.paths(fields(new, "a", "Update"))) & set(fieldset.paths(fields(new, "b", "Update")))


def empties(pod: Tree) -> list[fieldset.Path]:
    """Structs that every pod has, which nobody holds even where they are written out and empty."""
    return [("f:spec",)] if pod.get("spec") == {} else []


@given(pods(), pods(), st.sampled_from(["a", "b"]))
def test_an_update_without_a_change_gives_the_object_back(before: Tree, config: Tree, manager: str) -> None:
    old = applied(updated(None, before, "a"), config, "me")
    assert updated(old, deepcopy(old), manager, now=LATER) is old


@given(pods(), pods())
def test_entries_are_written_as_they_are_read(live: Tree, config: Tree) -> None:
    after = applied(updated(None, live, "creator"), config, "me")
    assert managers.written(held(after)) == after["metadata"].get("managedFields", [])


def test_appliers_come_first_and_the_oldest_first() -> None:
    entries = [
        ("u", "Update", 1), ("z", "Apply", 3), ("b", "Apply", 2), ("a", "Apply", 2),
    ]  # fmt: skip
    read: Managers = {}
    for name, operation, hour in entries:
        time = managers.stamp(hour * 3600 * instant.SECOND)
        read[managers.manager(name, operation, "v1")] = managers.Entry("v1", {"f:data": {}}, time)
    written = managers.written(read)
    assert [entry["manager"] for entry in written if isinstance(entry, dict)] == ["a", "b", "z", "u"]


def test_times_are_whole_seconds() -> None:
    pod = updated(None, pod_with("x"), "a", now=NOW + 123456789)
    assert pod["metadata"]["managedFields"][0]["time"] == "2026-11-30T12:00:00Z"


def test_many_updaters_become_one() -> None:
    pod = updated(None, pod_with("x"), "m0")
    for number in range(1, 14):
        labelled = {**pod, "metadata": {**pod["metadata"], "labels": {f"l{n}": "x" for n in range(number)}}}
        pod = updated(pod, labelled, f"m{number}", now=NOW + number * instant.SECOND)
    names = [entry["manager"] for entry in pod["metadata"]["managedFields"]]
    assert len(names) == managers.MOST_UPDATERS
    assert names[0] == managers.ANCIENT
    assert names[-1] == "m13"


def pod_with(image: str) -> Tree:
    container = {"name": "c", "image": image}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}


@given(pods(spec=some({"containers": CONTAINERS, "volumes": items("name", st.integers(), {})})))
def test_a_configuration_that_fits_no_schema_is_refused_whole(config: Tree) -> None:
    bad = any(True for _ in config.get("spec", {}).get("volumes", []))
    if bad:
        with pytest.raises(PatchError, match="failed to create typed patch object"):
            applied(None, config, "me")
    else:
        applied(None, config, "me")


def test_another_kind_is_refused() -> None:
    with pytest.raises(PatchError) as refused:
        applied(None, {**pod_with("x"), "kind": "Node"}, "me")
    assert (refused.value.code, refused.value.message) == (400, "invalid object type: /v1, Kind=Node")


def test_a_schema_of_ones_own_says_how_lists_merge() -> None:
    keyed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["host", "port"],
        "items": {
            "type": "object",
            "properties": {"host": {"type": "string"}, "port": {"type": "integer", "default": 80}},
            "x-kubernetes-preserve-unknown-fields": True,
        },
    }
    schema: Tree = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"routes": keyed}}}}
    route = types.of_schema("example.com/v1", "Route", schema)

    def of(*routes: Tree) -> Tree:
        head = {"apiVersion": "example.com/v1", "kind": "Route", "metadata": {"name": "r"}}
        return {**head, "spec": {"routes": list(routes)}}

    live = apply.apply(None, of({"host": "a", "any": {"x": 1}}), kind=route, manager="one", now=NOW)
    live = apply.apply(live, of({"host": "a", "port": 80, "any": {"y": 2}}), kind=route, manager="two", now=NOW)
    assert live["spec"] == {"routes": [{"host": "a", "any": {"x": 1, "y": 2}, "port": 80}]}


def test_what_no_schema_names_is_held_with_all_that_is_above_it() -> None:
    free: Tree = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    thing = types.of_schema("example.com/v1", "Thing", {"type": "object", "properties": {"spec": free}})
    config: Tree = {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "t"},
        "spec": {"a": {"b": [1]}},
    }
    after: Tree = apply.apply(None, config, kind=thing, manager="me", now=NOW)
    assert after["metadata"]["managedFields"][0]["fieldsV1"] == {"f:spec": {"f:a": {".": {}, "f:b": {}}}}
