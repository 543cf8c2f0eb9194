"""Every scenario of this folder goes as its expectations say."""

import pytest

from tests.scenarios.living import NAMES, lived, spec_of


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_goes_as_it_says(name: str) -> None:
    assert spec_of(name)["expect"], "a scenario that expects nothing tells nothing"
    life = lived(name)
    assert life.report.result == "holds", life.text
