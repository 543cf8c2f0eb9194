"""Every case under tests/cases/disrupt comes out as it says, as a decision and as a command."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from baseload.cli.main import main
from baseload.decide.disrupt.decide import disrupt
from baseload.plan.encode_disrupt import to_json
from baseload.world import files
from tests.cases import pinned
from tests.cases.checker import Case
from tests.cases.disruptions import judge
from tests.cases.pinned import read

FOLDERS = pinned.folders("disrupt")


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
    case = read(pinned.ROOT / "disrupt" / name)
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


SECTIONS = pinned.sections("disrupt-sections.txt")


def test_every_section_that_decides_something_has_a_case() -> None:
    assert pinned.without_a_case(FOLDERS, SECTIONS) == []


def test_cases_name_sections_that_there_are() -> None:
    assert pinned.unknown_sections(FOLDERS, SECTIONS) == {}, "no such section, or one that is said to have no case"


def test_a_case_says_what_it_is_about_in_a_sentence_of_its_own() -> None:
    assert pinned.unclear_titles(FOLDERS, least=25) == []
