"""The same scenario and seed leave the same journal, byte for byte, whatever the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import baseload
from tests.scenarios.living import FOLDER

SOURCE = Path(baseload.__file__).parents[1]
HERE = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"}
THERE = {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "de_DE.UTF-8", "COLUMNS": "40"}


def replayed(name: str, folder: Path, environment: dict[str, str], *, until: str) -> tuple[bytes, bytes]:
    """The journal and the report of a fresh process."""
    folder.mkdir()
    scenario = os.path.relpath(FOLDER / f"{name}.yaml", folder)
    command = [sys.executable, "-m", "baseload", "replay", scenario, "--journal", "journal", "-o", "json"]
    done = subprocess.run(
        [*command, "--until", until],
        cwd=folder,
        env={**os.environ, **environment, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return (folder / "journal").read_bytes(), done.stdout


@pytest.mark.parametrize("until", ["9h", pytest.param("72h", marks=[pytest.mark.long, pytest.mark.timeout(300)])])
def test_days_of_a_cluster_are_the_same_in_every_process(tmp_path: Path, until: str) -> None:
    here = replayed("b_three-calm-days", tmp_path / "here", HERE, until=until)
    there = replayed("b_three-calm-days", tmp_path / "elsewhere", THERE, until=until)
    assert here[0].count(b"\n") > 200
    assert here == there
