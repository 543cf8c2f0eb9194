"""What changed between two trees, held to a literal reading of the rules: path by path, without a shortcut."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st

from baseload.kube.merge import compare, fieldset, outline, types
from baseload.kube.merge.elements import ElementError, element
from baseload.kube.merge.fieldset import Path
from baseload.kube.merge.tree import same
from baseload.kube.merge.types import ListType, MapType, Type
from tests.kube import inputs
from tests.kube.merge.manifests import NAMES, TEXTS, Tree, pods, some

found = types.of_kind("v1", "Pod")
assert found is not None
POD = found.root
Changes = dict[str, set[Path]]  # removed, modified, added
NOTHING = object()

# Items that cannot be told apart, fields of another form than theirs, numbers that are equal and not the same.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, "x", 1, 1.0, True, [], {}, ["x"], [{"name": "a"}], {"name": "a"}, {"x": {"y": 1}}]
)
VARIABLES = st.lists(st.fixed_dictionaries({"name": NAMES}, optional={"value": TEXTS | ODD}), max_size=4)
CONTAINER = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "env": VARIABLES,
        "ports": st.lists(some({"containerPort": st.sampled_from([1, 1.0, 2]), "protocol": TEXTS}), max_size=3).map(
            lambda ports: [{"containerPort": 3, **port} for port in ports]
        ),
        "resources": ODD,
        "image": TEXTS | ODD,
        "livenessProbe": some({"httpGet": some({"path": TEXTS, "port": ODD}), "periodSeconds": ODD}),
    },
)
ODD_PODS = pods(
    spec=some({"containers": st.lists(CONTAINER, max_size=3), "nodeSelector": ODD, "volumes": st.none(), "bogus": ODD})
)


def held_in(kind: Type, value: Any, at: Path) -> Iterator[Path]:
    """A value and all that is below it."""
    yield at
    form = kind.form(value)
    if isinstance(form, MapType) and isinstance(value, dict) and not form.atomic:
        for name, inner in value.items():
            field = form.field(name)
            if field is not None:
                yield from held_in(field, inner, (*at, f"f:{name}"))
    if isinstance(form, ListType) and isinstance(value, list) and not form.atomic:
        for step, items in grouped(form, value).items():
            if len(items) == 1:
                yield from held_in(form.element, items[0], (*at, step))
            else:
                yield (*at, step)


def grouped(form: ListType, items: list[Any]) -> dict[str, list[Any]]:
    by_step: dict[str, list[Any]] = {}
    for item in items:
        by_step.setdefault(element(form, item), []).append(item)
    return by_step


def literally(kind: Type, before: Any, after: Any, at: Path, changes: Changes) -> None:
    if before is NOTHING:
        changes["added"] |= set(held_in(kind, after, at))
        return
    if after is NOTHING:
        changes["removed"] |= set(held_in(kind, before, at))
        return
    for form in {id(one): one for one in (kind.form(before), kind.form(after))}.values():
        maps = [one if isinstance(one, dict) else {} for one in (before, after)]
        lists = [one if isinstance(one, list) else [] for one in (before, after)]
        if isinstance(form, MapType) and not form.atomic and any(maps):
            for name in {**maps[0], **maps[1]}:
                field = form.field(name)
                if field is not None:
                    held, said = (one.get(name, NOTHING) for one in maps)
                    literally(field, held, said, (*at, f"f:{name}"), changes)
        elif isinstance(form, ListType) and not form.atomic and any(lists):
            of_items(form, grouped(form, lists[0]), grouped(form, lists[1]), at, changes)
        elif at and not same(before, after):
            changes["modified"].add(at)


def of_items(form: ListType, old: dict[str, Any], new: dict[str, Any], at: Path, changes: Changes) -> None:
    for step in {**old, **new}:
        ours, theirs, path = old.get(step, []), new.get(step, []), (*at, step)
        if len(ours) <= 1 and len(theirs) <= 1:
            held, said = (one[0] if one else NOTHING for one in (ours, theirs))
            literally(form.element, held, said, path, changes)
        elif len(ours) > 1 and len(theirs) > 1:
            changes["modified"] |= set() if same(ours, theirs) else {path}
        else:  # many became one or none, or one or none became many
            many, few = ("removed", "added") if len(ours) > 1 else ("added", "removed")
            changes[many].add(path)
            for one in theirs if len(ours) > 1 else ours:
                changes[few] |= set(held_in(form.element, one, path))


@st.composite
def writes(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """A pod, and another one or itself with a few changes."""
    before = after = draw(ODD_PODS)
    for _ in range(draw(st.integers(0, 3))):
        after = draw(inputs.changed(after, ODD))
    return before, after if after is not before else draw(ODD_PODS)


@given(writes())
def test_what_changed_is_what_the_rules_say_of_each_path(write: tuple[Tree, Tree]) -> None:
    before, after = write
    changes: Changes = {"removed": set(), "modified": set(), "added": set()}
    try:
        literally(POD, before, after, (), changes)
    except ElementError:
        reject()  # an item of no list

    comparison = compare.compare(POD, before, after)

    assert set(fieldset.paths(comparison.removed)) == changes["removed"]
    assert set(fieldset.paths(comparison.modified)) == changes["modified"]
    assert set(fieldset.paths(comparison.added)) == changes["added"]
    assert bool(comparison) == any(changes.values())


@given(ODD_PODS)
def test_the_outline_of_a_tree_is_all_that_it_holds_in_the_order_of_kubernetes(pod: Tree) -> None:
    fields = outline.of(POD, pod)

    assert {(), *fieldset.paths(fields)} == set(held_in(POD, pod, ()))
    assert fieldset.encoded(fields) == fieldset.encoded(unordered(fields))


def unordered(fields: dict[str, Any]) -> dict[str, Any]:
    """The same set, as one that nobody knows to be in order."""
    return {step: unordered(held) for step, held in reversed(fields.items())}
