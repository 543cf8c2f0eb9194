"""Files of settings are read as manifests are, save that a number may be a key."""

import textwrap
from pathlib import Path

import pytest

from baseload.cloud.simulated import settings_file
from baseload.kube import one_map
from baseload.values.errors import BadInput

CLOUD = Path(__file__).parents[2] / "docs" / "cloud.md"


def read(folder: Path, text: str) -> object:
    path = folder / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return one_map.read(str(path))


def test_a_number_is_a_key_as_it_is_written(tmp_path: Path) -> None:
    assert read(tmp_path, "life: {0: 1h, 99.5: 2h, text: 3h}") == {"life": {"0": "1h", "99.5": "2h", "text": "3h"}}


@pytest.mark.parametrize("key", ["true", "null", "~"])
def test_nothing_else_is(tmp_path: Path, key: str) -> None:
    with pytest.raises(BadInput, match=f"life: the key {key} is not a string"):
        read(tmp_path, f"life: {{{key}: 1h}}")


def test_a_key_stands_once_with_and_without_quotes(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the key 0 stands twice in one map"):
        read(tmp_path, 'life: {0: 1h, "0": 2h}')


def test_the_settings_that_the_cloud_s_page_shows_can_be_read_as_they_stand_there(tmp_path: Path) -> None:
    page = CLOUD.read_text(encoding="utf-8")
    shown = page[page.index("    cloud:\n") :].partition("\n\n")[0]
    tree = read(tmp_path, textwrap.dedent(shown))
    assert isinstance(tree, dict)
    settings = settings_file.read(tree["cloud"], file="cloud.md")
    assert settings != settings_file.read({}, file="")
