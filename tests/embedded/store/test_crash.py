"""No acknowledged write is lost when the process is killed, at whatever moment.

A writer (`writer`) works on one data directory with 16 clients and is killed with SIGKILL after a random time, over and
over. After each death the directory is opened here: of each name the last acknowledged write, or one that was begun
after it, has to be what is there; and versions must have risen above all that were told.
"""

import random
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from baseload.embedded.store import journal
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP
from tests.embedded.store.writer import FIFTH

ROOT = Path(__file__).parents[3]


@dataclass(slots=True)
class Told:
    """What a writer said of one name: the last serial acknowledged, and those begun after it."""

    acknowledged: int | None = None
    begun: list[int] = field(default_factory=list)

    def may_be(self, found: int | None) -> bool:
        """Whether a serial, or None for a name that is not there, is what these words allow."""
        allowed: set[int | None] = {None if serial % FIFTH == 0 else serial for serial in self.begun}
        last = self.acknowledged
        allowed.add(None if last is None or last % FIFTH == 0 else last)
        return found in allowed


def killed(folder: Path, seed: int, first: int, seconds: float) -> list[list[str]]:
    """The words of a writer that is killed some seconds after it began to write."""
    command = [sys.executable, "-m", "tests.embedded.store.writer", str(folder), str(seed), str(first)]
    # Unbuffered: what a buffer read beyond the first line would be lost to `communicate`.
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    ready = process.stdout.readline()
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        said, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL, "the writer ended by itself"
    return [line.split() for line in (ready + said).decode().splitlines()]


def survive(folder: Path, kills: int, longest: float) -> int:
    """Kills writers and checks what they leave; how many writes were acknowledged in all."""
    draw = random.Random(kills)
    told: dict[str, Told] = {}
    serial = highest = acknowledged = 0
    for number in range(kills):
        for word, *rest in killed(folder, number, serial + 1, draw.uniform(0, longest)):
            if word == "S":
                serial = max(serial, int(rest[1]))
                told.setdefault(rest[0], Told()).begun.append(int(rest[1]))
            elif word == "A":
                told[rest[0]].acknowledged, told[rest[0]].begun = int(rest[1]), []
                highest, acknowledged = max(highest, int(rest[2])), acknowledged + 1
            else:
                assert int(rest[0]) > highest
        opened = journal.open(folder)
        store = kinds.empty(journal=opened)
        assert store.version > highest
        values = {r.name: int(r.body.field("data.value").split()[0]) for r in store.table(CONFIG_MAP).records.values()}
        assert values.keys() <= told.keys()
        for name, words in told.items():
            found = values.get(name)
            assert words.may_be(found), f"kill {number}: {name} is {found}; told {words}"
            told[name] = Told(found) if found is not None else Told()
        opened.close()
    return acknowledged


@pytest.mark.timeout(60)
def test_acknowledged_writes_outlive_a_few_kills(tmp_path: Path) -> None:
    assert survive(tmp_path, 5, 0.3) > 50


@pytest.mark.long
@pytest.mark.timeout(600)
def test_acknowledged_writes_outlive_hundreds_of_kills(tmp_path: Path) -> None:
    assert survive(tmp_path, 300, 0.4) > 10_000
