"""The same scenario and seed leave the same journal, byte for byte, whatever the process."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import baseload
from baseload.embedded.store.record import encode
from baseload.replay import scenario
from baseload.replay.run import Run
from tests.scenarios.living import FOLDER

SOURCE = Path(baseload.__file__).parents[1]
HERE = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"}
THERE = {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "de_DE.UTF-8", "COLUMNS": "40"}


def replayed(name: str, folder: Path, environment: dict[str, str], *, until: str) -> tuple[bytes, bytes]:
    """The journal and the report of a fresh process."""
    folder.mkdir()
    path = os.path.relpath(FOLDER / f"{name}.yaml", folder)
    command = [sys.executable, "-m", "baseload", "replay", path, "--check", "--journal", "journal", "-o", "json"]
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


def left_by(name: str) -> str:
    """What stands in the store after a scenario, and all that was written last: every byte of it, managers too."""
    run = Run(scenario.read(str(FOLDER / f"{name}.yaml")), holds_invariants=True)
    try:
        run.run()
        store, digest = run.living.cluster.store, hashlib.sha256()
        for resource in sorted(store.resources, key=lambda one: one.qualified):
            run.living.cluster.refresh(resource, "", "")
            table = store.table(resource)
            for event in table.log.events:
                digest.update(b"%b %d %b" % (event.type.encode(), event.version, encode(event.record)))
            for key in sorted(table.records):
                digest.update(encode(table.records[key]))
        return digest.hexdigest()
    finally:
        run.close()


def test_what_a_process_lived_through_before_does_not_show_in_a_byte() -> None:
    """A process that remembers shapes, sets and statuses of other clusters against one that remembers nothing."""
    names = ("b_volumes-follow-their-pods", "b_job-back-off")
    code = "from tests.scenarios.test_same_everywhere import left_by; print(left_by({!r}))"
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{FOLDER.parents[1]}"}
    first = [left_by(name) for name in names]
    again = [left_by(name) for name in reversed(names)][::-1]
    fresh = [
        subprocess.run(
            [sys.executable, "-c", code.format(name)], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in names
    ]
    assert first == again == fresh
