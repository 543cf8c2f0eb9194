"""Every scenario of this folder goes as its expectations say."""

import pytest

from tests.scenarios.living import NAMES, lived, spec_of

LONG = ("c_week-hub", "c_week-preprod")
"""Working weeks"""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LONG])
def test_a_scenario_goes_as_it_says(name: str) -> None:
    assert spec_of(name)["expect"], "a scenario that expects nothing tells nothing"
    life = lived(name)
    assert life.report.result == "holds", life.text


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", LONG)
def test_so_does_a_week(name: str) -> None:
    life = lived(name)
    assert life.report.result == "holds", life.text
