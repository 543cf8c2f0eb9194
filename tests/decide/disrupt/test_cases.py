"""Every case under tests/cases/disrupt comes out as it says, as a decision and as a command."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from baseload.cli.main import main
from baseload.decide.disrupt.decide import disrupt
from baseload.plan.encode_disrupt import to_json
from baseload.world import files
from tests.cases import checker
from tests.cases.checker import Case
from tests.cases.disruptions import judge

ROOT = Path(__file__).parents[2] / "cases"
FOLDERS = sorted(file.parent for file in (ROOT / "disrupt").glob("*/expect.yaml"))
read = cache(checker.read)


def decided(case: Case) -> Mapping[str, Any]:
    inputs = files.read(
        [str(case.folder / "cluster.yaml")],
        catalog=str(case.catalog),
        options_file=str(case.options_file),
        expand="never",
        validate="strict",
    )
    plan = disrupt(inputs.view, inputs.tables, inputs.options)
    decoded: Mapping[str, Any] = msgspec.json.decode(msgspec.json.encode(to_json(plan)))
    return decoded


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_decision_is_as_the_case_says(folder: Path) -> None:
    case = read(folder)
    assert judge(case, decided(case)) == [], case.title


@pytest.mark.parametrize("name", ["drift-passes-on", "spot-of-sixteen-the-last"])
def test_the_command_prints_what_the_case_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = read(ROOT / "disrupt" / name)
    flags = [
        "-f",
        str(case.folder / "cluster.yaml"),
        "--catalog",
        str(case.catalog),
        "--options",
        str(case.options_file),
    ]
    assert main(["plan", "disrupt", *flags, "-o", "json"]) == 0
    assert judge(case, json.loads(capsys.readouterr().out)) == [], case.title


def sections() -> dict[str, str]:
    """Section of the spec -> why no case can show it, empty where one must."""
    lines = (ROOT / "disrupt-sections.txt").read_text(encoding="utf-8").splitlines()
    told = (line.partition(" ") for line in lines if not line.startswith("#"))
    return {number: title.partition(" -- ")[2] for number, _, title in told}


def test_every_section_that_decides_something_has_a_case() -> None:
    pinned = {rule for folder in FOLDERS for rule in read(folder).rule}
    assert [number for number, reason in sections().items() if not reason and number not in pinned] == []


def test_cases_name_sections_that_there_are() -> None:
    known = sections()
    wrong = {folder.name: rule for folder in FOLDERS for rule in read(folder).rule if known.get(rule, "unknown")}
    assert wrong == {}, "no such section, or one that is said to have no case"


def test_a_case_says_what_it_is_about_in_a_sentence_of_its_own() -> None:
    titles = [read(folder).title for folder in FOLDERS]
    assert len(set(titles)) == len(titles)
    assert [title for title in titles if len(title) < 25] == []
