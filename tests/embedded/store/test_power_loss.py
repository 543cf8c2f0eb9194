"""No acknowledged write is lost with the power: pages that were not synced are dropped, and the store opened again.

A store is written to through a file layer that notes each write and sync (`disk`). For many moments of that history the
disk's contents after a loss of power are built: all that was written since the last sync of its file is dropped, or
torn into sectors of which any may be there. What the store then holds has to be exactly what the last acknowledged
commit left, or what the commit under way would have left: nothing less, nothing in between, nothing else.
"""

import itertools
import random
import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from baseload.embedded.store import journal
from tests.embedded.store import kinds
from tests.embedded.store.disk import Disk, Sync, Write
from tests.embedded.store.kinds import CONFIG_MAP

Contents = dict[str, tuple[str, str]]
"""key -> (resourceVersion, value)"""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A commit returned, and this is what it left."""

    contents: Contents


def history(folder: Path, commits: int) -> Disk:
    """A store's life: some commits of a few writes each, enough bytes for several checkpoints."""
    draw = random.Random(7)
    with closing(Disk(folder)) as disk, closing(journal.open(folder, vfs=disk.name)) as opened:
        store = kinds.empty(journal=opened)
        store.create(kinds.namespace("default"))
        for number in range(commits):
            for _ in range(draw.randrange(1, 6)):
                write(store, f"c-{draw.randrange(12)}", number, draw)
            store.commit()
            disk.events.append(Acknowledged(contents(store)))
    return disk


def write(store: kinds.Store, name: str, number: int, draw: random.Random) -> None:
    value = f"{number} " + "x" * draw.choice((10, 3_000, 150_000))
    if store.find(CONFIG_MAP, "default", name) is None:
        store.create(kinds.config_map(name, value=value))
    elif draw.random() < 0.2:
        store.delete(CONFIG_MAP, "default", name)
    else:
        store.update(kinds.config_map(name, value=value))


def contents(store: kinds.Store) -> Contents:
    return {
        key: (str(record.version), record.body.field("data.value"))
        for key, record in store.table(CONFIG_MAP).records.items()
    }


def restored(folder: Path, files: dict[str, bytes]) -> Contents:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    opened = journal.open(folder)
    found = contents(kinds.empty(journal=opened))
    opened.close()
    shutil.rmtree(folder)  # there are hundreds of them
    return found


def check(disk: Disk, moments: list[int], folder: Path, chance: random.Random | None) -> None:
    states: list[Contents] = [{}, *(e.contents for e in disk.events if isinstance(e, Acknowledged))]
    for moment in moments:
        done = sum(isinstance(event, Acknowledged) for event in disk.events[:moment])
        found = restored(folder / str(moment), disk.lose(moment, chance))
        assert found in states[done : done + 2], f"power lost at event {moment}, after {done} acknowledged commits"


def test_history_that_is_checked_has_syncs_before_each_acknowledgement_and_a_checkpoint(tmp_path: Path) -> None:
    events = history(tmp_path / "data", 40).events

    starts = [i for i, event in enumerate(events) if isinstance(event, Acknowledged)]
    for start, end in itertools.pairwise(starts):
        between = events[start + 1 : end]
        assert any(isinstance(event, Write) for event in between)
        assert any(isinstance(event, Sync) for event in between)
    assert Sync(journal.FILE) in events[starts[0] : starts[-1]]


@pytest.mark.parametrize("torn", [False, True], ids=["all-unsynced-pages-dropped", "unsynced-sectors-torn"])
def test_no_acknowledged_write_is_lost_with_the_power(tmp_path: Path, torn: bool) -> None:
    disk = history(tmp_path / "data", 40)
    draw = random.Random(11)

    acknowledged = [i + 1 for i, event in enumerate(disk.events) if isinstance(event, Acknowledged)]
    moments = sorted({*acknowledged, *(draw.randrange(len(disk.events)) for _ in range(40))})

    check(disk, moments, tmp_path, draw if torn else None)


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("torn", [False, True], ids=["all-unsynced-pages-dropped", "unsynced-sectors-torn"])
def test_no_acknowledged_write_is_lost_whenever_the_power_goes(tmp_path: Path, torn: bool) -> None:
    disk = history(tmp_path / "data", 250)
    draw = random.Random(13)

    check(disk, sorted(draw.sample(range(len(disk.events)), 600)), tmp_path, draw if torn else None)
