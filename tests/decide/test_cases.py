"""Every case under tests/cases comes out as it says: by the decision, by the reference solver, and as a command."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from baseload.cli.main import main
from baseload.decide.provision import decide
from baseload.plan import encode
from baseload.world import files
from tests.cases import checker, pinned, reference
from tests.cases.checker import Case
from tests.cases.pinned import read

FOLDERS = pinned.folders("provision")


def decided(case: Case) -> Mapping[str, Any]:
    inputs = files.read(
        [str(case.folder / "cluster.yaml")],
        catalog=str(case.catalog) if case.catalog else None,
        options_file=str(case.options_file) if case.options_file else None,
        expand="never",
        validate="strict",
    )
    plan = decide.provision(inputs.view, inputs.tables, inputs.options)
    decoded: Mapping[str, Any] = msgspec.json.decode(msgspec.json.encode(encode.to_json(plan)))
    return decoded


@pytest.fixture(autouse=True)
def _no_refreshed_catalogue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """EC2 cases take the package's figures, whatever the user's cache holds."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def named(folder: Path) -> str:
    return folder.name


@pytest.mark.parametrize("folder", FOLDERS, ids=named)
def test_the_decision_is_as_the_case_says(folder: Path) -> None:
    case = read(folder)
    assert checker.judge(case, decided(case)) == [], case.title


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if read(folder).catalog is not None], ids=named)
def test_the_reference_decides_as_the_case_says(folder: Path) -> None:
    case = read(folder)
    assert checker.judge(reference.within_reach(case), reference.decided(case)) == [], case.title


@pytest.mark.parametrize(
    "name",
    [
        "alg-old-names",
        "buffer-how-many",
        "overlay-conflict",
        "reserved-released-when-out-of-reach",
        "topo-nil-selector",
    ],
)
def test_the_command_prints_what_the_case_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = read(pinned.ROOT / "provision" / name)
    arguments = [
        "-f",
        str(case.folder / "cluster.yaml"),
        "--expand",
        "never",
        "-o",
        "json",
        "--catalog",
        str(case.catalog),
    ]
    if case.options_file:
        arguments += ["--options", str(case.options_file)]
    assert main(["plan", "provision", *arguments]) == 0
    assert checker.judge(case, json.loads(capsys.readouterr().out)) == [], case.title


SECTIONS = pinned.sections("sections.txt")


def test_every_section_that_decides_something_has_a_case() -> None:
    assert pinned.without_a_case(FOLDERS, SECTIONS) == []


def test_cases_name_sections_that_there_are() -> None:
    assert pinned.unknown_sections(FOLDERS, SECTIONS) == {}, "no such section, or one that is said to have no case"


def test_a_case_says_what_it_is_about_in_a_sentence_of_its_own() -> None:
    assert pinned.unclear_titles(FOLDERS, least=30) == []


MAKE = "acme.example/make"
COMMON, RARE = 600, 3


def crowd(tmp_path: Path, options: str) -> Case:
    """More types than a launch may list; the dearest three alone are of the second make that the pool wants (16.6)."""

    def instance_type(place: int) -> dict[str, object]:
        keys = {"karpenter.sh/capacity-type": "on-demand", "topology.kubernetes.io/zone": "a1"}
        requirements = [{"key": key, "operator": "In", "values": [value]} for key, value in keys.items()]
        return {
            "name": f"type-{place:03}",
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "resources": {"cpu": "2", "memory": "4Gi"},
            "labels": {MAKE: "common" if place < COMMON else "rare"},
            "offerings": [{"Price": round(0.01 + place / 1000, 3), "Available": True, "Requirements": requirements}],
        }

    folder = FOLDERS[0].parent / "pool-annotations"
    cluster = (folder / "cluster.yaml").read_text(encoding="utf-8")
    wanting = f"requirements: [{{key: {MAKE}, operator: Exists, minValues: 2}}]"
    assert "requirements: []" in cluster
    (tmp_path / "cluster.yaml").write_text(cluster.replace("requirements: []", wanting), encoding="utf-8")
    (tmp_path / "catalog.json").write_text(
        json.dumps([instance_type(n) for n in range(COMMON + RARE)]), encoding="utf-8"
    )
    (tmp_path / "options.yaml").write_text(options, encoding="utf-8")
    (tmp_path / "expect.yaml").write_text("{rule: ['16.6'], title: cut, expect: {}}", encoding="utf-8")
    return checker.read(tmp_path)


@pytest.mark.parametrize("decide_on", [decided, reference.decided], ids=["decision", "reference"])
def test_a_claim_whose_600_cheapest_types_miss_its_min_values_is_dropped(
    decide_on: Callable[[Case], Mapping[str, Any]], tmp_path: Path
) -> None:
    case = crowd(tmp_path, "minValuesPolicy: Strict")
    assert checker.judge(replace(case, expect={"unschedulable": ["default/web"], "newNodes": 0}), decide_on(case)) == []


@pytest.mark.parametrize("decide_on", [decided, reference.decided], ids=["decision", "reference"])
def test_best_effort_launches_with_the_600_cheapest_types_all_the_same(
    decide_on: Callable[[Case], Mapping[str, Any]], tmp_path: Path
) -> None:
    case = crowd(tmp_path, "minValuesPolicy: BestEffort")
    assert checker.judge(replace(case, expect={"instanceTypeOptions": {"default/web": 600}}), decide_on(case)) == []
