"""Objects of one shape have the same fields, whatever their texts hold."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.kube.merge import apply, compare, fieldset, shapes, types
from tests.kube.merge.manifests import NAMES, Tree, items, pods, some

found = types.of_kind("v1", "Pod")
assert found is not None
POD = found

# Texts that look like what stands around texts.
TEXTS = st.sampled_from(
    ["", "x", '":"', 'a":', 'a":"', "\\", "a\\", '","', '[":"', '{"a":"b"}', ':"', "a:", "é\n", "null"]
)
CONTAINERS = items(
    "name",
    NAMES | TEXTS,
    {
        "image": TEXTS,
        "args": st.lists(TEXTS, max_size=3),
        "env": items("name", NAMES | TEXTS, {"value": TEXTS | st.none()}),
        "volumeMounts": items("mountPath", TEXTS, {"name": TEXTS}),
    },
)
METADATA = some(
    {"annotations": st.dictionaries(TEXTS, TEXTS, max_size=2), "finalizers": st.lists(TEXTS, max_size=2, unique=True)}
)
PODS = pods(METADATA, some({"containers": CONTAINERS, "hostname": TEXTS | st.integers(0, 2)}))


def other_texts(draw: st.DrawFn, tree: Any) -> Any:
    """The tree with another text here and there."""
    if isinstance(tree, dict):
        return {key: other_texts(draw, held) for key, held in tree.items()}
    if isinstance(tree, list):
        return [other_texts(draw, held) for held in tree]
    return draw(TEXTS) if isinstance(tree, str) and draw(st.integers(0, 3)) == 0 else tree


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tree, Tree]:
    pod = draw(PODS)
    return pod, other_texts(draw, pod) if draw(st.booleans()) else draw(PODS)


def fields(pod: Tree) -> bytes:
    """The fields of a pod, in JSON."""
    return fieldset.encoded(compare.compare(POD.root, {}, pod).added)


@given(pairs())
def test_what_is_of_one_shape_has_the_same_fields(pair: tuple[Tree, Tree]) -> None:
    one, other = pair
    if shapes.of(POD, one) == shapes.of(POD, other):
        assert fields(one) == fields(other)


@pytest.mark.parametrize("text", [":", 'a":', '\\":', ",", "["])
def test_no_text_is_taken_for_the_end_of_a_name(text: str) -> None:
    """What stands between it and the next text would be lost, a number for example."""
    one: Tree = {"metadata": {"finalizers": [text, 1, "b"]}}
    other: Tree = {"metadata": {"finalizers": [text, 2, "b"]}}

    assert shapes.of(POD, one) != shapes.of(POD, other)


@given(PODS, TEXTS.filter(bool))
def test_a_text_that_tells_no_item_apart_and_the_name_are_no_part_of_a_shape(pod: Tree, text: str) -> None:
    def with_texts(text: str) -> Tree:
        container = {"name": "c", "image": text, "env": [{"name": "a", "value": text}]}
        return {**pod, "metadata": {"name": text}, "spec": {"containers": [container]}}

    assert shapes.of(POD, with_texts(text)) == shapes.of(POD, with_texts("x"))


OTHER = {"manager": "o", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:x": {}}}


def owned(managed: Any) -> dict[str, Any]:
    """What each manager owns."""
    entries = managed["metadata"].get("managedFields", [])
    return {entry["manager"]: entry["fieldsV1"] for entry in entries}


@given(PODS)
def test_a_creator_owns_what_whoever_fills_an_empty_object_owns_however_often_the_shape_is_met(pod: Tree) -> None:
    empty: Tree = {"metadata": {"managedFields": [OTHER]}}
    filled = {**pod, "metadata": {**pod["metadata"], "managedFields": [OTHER]}}
    wanted = owned(apply.managed_after_update(empty, filled, kind=POD, manager="m", now=0)).get("m")

    for _ in range(3):
        assert owned(apply.managed_after_update(None, pod, kind=POD, manager="m", now=0)).get("m") == wanted


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "field"),
    [
        ("apps/v1", "StatefulSet", {"replicas": 1}, "serviceName"),
        ("batch/v1", "CronJob", {"suspend": True}, "schedule"),
        ("storage.k8s.io/v1", "VolumeAttachment", {"nodeName": "n"}, "attacher"),
    ],
)
def test_an_empty_text_that_says_nothing_is_nobodys_whatever_came_before(
    api_version: str, kind: str, spec: Tree, field: str
) -> None:
    type = types.of_kind(api_version, kind)
    assert type is not None

    def owns(text: str) -> bool:
        made: Tree = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": {**spec, field: text}}
        managed = apply.managed_after_update(None, made, kind=type, manager="m", now=0)
        return f"f:{field}" in owned(managed)["m"]["f:spec"]

    assert [owns(text) for text in ("x", "y", "z", "", "", "", "z")] == [True, True, True, False, False, False, True]


def test_what_comes_once_is_not_kept_and_what_recurs_is() -> None:
    kept = shapes.Recurring[str]()

    answers = []
    for _ in range(3):
        answers.append(kept.found("a"))
        kept.keep("a", "what follows")

    assert answers == [None, None, "what follows"]


def test_of_many_shapes_all_are_forgotten_together() -> None:
    kept = shapes.Recurring[int]()
    for _ in range(2):
        for number in range(100_000):
            kept.keep(number % 3_000, number)

    assert sum(kept.found(number) is not None for number in range(3_000)) <= 1 << 10
