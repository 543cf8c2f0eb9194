"""Every case of apply_cases.yaml, step by step."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from baseload.kube.merge import apply, fieldset, types
from baseload.kube.merge.refusal import ApplyConflict, PatchError
from baseload.values import instant

Tree = dict[str, Any]
HOUR = 3600 * instant.SECOND
CASES: list[Tree] = yaml.safe_load((Path(__file__).parent / "apply_cases.yaml").read_text(encoding="utf-8"))


class Story:
    """The object of one case."""

    def __init__(self, of: str) -> None:
        api_version, _, kind = of.rpartition("/")
        found = types.of_kind(api_version, kind)
        assert found is not None
        self._kind = found
        self._head: Tree = {"apiVersion": api_version, "kind": kind}
        self.object: Tree | None = None

    def step(self, number: int, step: Tree) -> None:
        (verb, told), *_ = step.items()
        if verb == "untracked":
            self.object = self._full(told["object"])
        elif verb == "defaulted":
            assert self.object is not None
            self.object = {**self.object, **told}
        else:
            before = self.object
            self.object = self._write(verb, told, number * HOUR)
            assert (self.object is before) == bool(told.get("unchanged"))

    def _write(self, verb: str, told: Tree, now: int) -> Tree:
        how: Tree = {"kind": self._kind, "manager": told["as"], "now": now, "subresource": told.get("subresource", "")}
        if verb == "apply":
            return apply.apply(self.object, self._full(told["config"]), force=told.get("force", False), **how)
        return apply.managed_after_update(self.object, self._full(told["object"]), **how)

    def _full(self, tree: Tree) -> Tree:
        return {**self._head, **tree, "metadata": {"name": "x", **tree.get("metadata", {})}}

    def told(self) -> Tree:
        """The object as cases tell it."""
        assert self.object is not None
        metadata = {
            key: value for key, value in self.object["metadata"].items() if key not in ("name", "managedFields")
        }
        rest = {key: value for key, value in self.object.items() if key not in ("apiVersion", "kind", "metadata")}
        return {**({"metadata": metadata} if metadata else {}), **rest}

    def managers(self, *, timed: set[str]) -> dict[str, list[str]]:
        assert self.object is not None
        told: dict[str, list[str]] = {}
        for entry in self.object["metadata"].get("managedFields", []):
            where = f"/{entry['subresource']}" if "subresource" in entry else ""
            name = f"{entry['manager']} {entry['operation']}{where}"
            if name in timed:
                name += f" @{instant.parse(entry['time']) // HOUR}"
            told[name] = sorted(fieldset.text(path) for path in fieldset.paths(fieldset.parse(entry["fieldsV1"])))
        return told


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: Tree) -> None:
    story = Story(case["of"])
    *before, last = case["steps"]
    for number, step in enumerate(before, start=1):
        story.step(number, step)
    if "conflict" in case:
        with pytest.raises(ApplyConflict) as conflict:
            story.step(len(case["steps"]), last)
        assert (conflict.value.code, conflict.value.message) == (409, case["conflict"])
        return
    if "refused" in case:
        with pytest.raises(PatchError) as refused:
            story.step(len(case["steps"]), last)
        assert [refused.value.code, refused.value.message] == case["refused"]
        return
    story.step(len(case["steps"]), last)
    if "object" in case:
        assert story.told() == case["object"]
    if "managers" in case:
        timed = {name.partition(" @")[0] for name in case["managers"] if "@" in name}
        assert story.managers(timed=timed) == {name: sorted(paths) for name, paths in case["managers"].items()}


def test_there_are_cases_enough_and_each_says_why() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(case["why"] for case in CASES)
