"""Every case of patch_cases.yaml; no patch changes what it is given."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from baseload.kube.merge import merge_patch, strategic
from baseload.kube.merge.refusal import PatchError

Tree = dict[str, Any]
CASES: list[Tree] = yaml.safe_load((Path(__file__).parent / "patch_cases.yaml").read_text(encoding="utf-8"))


def patched(case: Tree) -> object:
    target, patch = deepcopy(case["target"]), deepcopy(case["patch"])
    try:
        if "strategic" in case:
            api_version, _, kind = case["strategic"].rpartition("/")
            return strategic.patched(target, patch, api_version=api_version, kind=kind)
        return merge_patch.patched(target, patch)
    finally:
        assert (target, patch) == (case["target"], case["patch"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: Tree) -> None:
    if "refused" not in case:
        assert patched(case) == case["result"]
        return
    with pytest.raises(PatchError) as refused:
        patched(case)
    assert [refused.value.code, refused.value.message] == case["refused"]


def test_cases_have_names_of_their_own_and_say_why() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(case["why"] for case in CASES)


def test_a_tree_that_is_nested_too_deeply_is_refused() -> None:
    deep: Tree = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(PatchError, match="exceeded max depth"):
        merge_patch.patched({}, deep)
