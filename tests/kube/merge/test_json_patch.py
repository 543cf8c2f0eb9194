"""Every case of json_patch_cases.yaml; no patch changes what it is given."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from baseload.kube.merge import json_patch
from baseload.kube.merge.refusal import PatchError

Tree = dict[str, Any]
CASES: list[Tree] = yaml.safe_load((Path(__file__).parent / "json_patch_cases.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: Tree) -> None:
    target, patch = deepcopy(case["target"]), deepcopy(case["patch"])
    if "refused" in case:
        with pytest.raises(PatchError) as refused:
            json_patch.patched(target, patch)
        assert [refused.value.code, refused.value.message] == case["refused"]
    else:
        assert json_patch.patched(target, patch) == case["result"]
    assert (target, patch) == (case["target"], case["patch"])


def test_cases_have_names_of_their_own_and_say_why() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(case["why"] for case in CASES)


def test_too_many_operations_are_refused() -> None:
    with pytest.raises(PatchError) as refused:
        json_patch.patched({"a": 1}, [{"op": "test", "path": "/a", "value": 1}] * 10_001)
    assert (refused.value.code, refused.value.reason) == (413, "RequestEntityTooLarge")


@pytest.mark.parametrize(
    "operation",
    [
        {},
        {"op": "add"},
        {"op": "add", "path": 1, "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": "/a/b/c", "value": 1},
        {"op": "add", "path": "/l/9", "value": 1},
        {"op": "add", "path": "/l/x", "value": 1},
        {"op": "move", "path": "/q"},
        {"op": "copy", "path": "/q", "from": "/nowhere"},
        {"op": "remove", "path": ""},
        {"op": "replace", "path": "", "value": 3},
        {"op": ["add"], "path": "/a", "value": 1},
        {"op": "test", "path": "/l/0", "value": True},
    ],
)
def test_operations_that_make_no_sense_are_unprocessable(operation: Tree) -> None:
    with pytest.raises(PatchError) as refused:
        json_patch.patched({"a": {"b": 1}, "l": [1]}, [operation])
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
