"""A process that writes to a data directory until it is killed: 16 clients, each with names of its own.

    python -m tests.embedded.store.writer FOLDER SEED FIRST

A client tells of each write on stdout, before it begins (`S NAME SERIAL`) and when it was acknowledged (`A NAME SERIAL
VERSION`); a line is one call of write, so that what was told is with the reader however the process ends. Serials rise;
every fifth write of a name deletes it.
"""

import asyncio
import os
import random
import sys
from pathlib import Path

from baseload.embedded.store import journal
from baseload.embedded.store.turns import Turns
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, Store

CLIENTS = 16
NAMES = 4  # of each client
FIFTH = 5


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def write(store: Store, name: str, serial: int, size: int) -> int:
    """One write; gives the version it had."""
    there = store.find(CONFIG_MAP, "default", name) is not None
    if serial % FIFTH == 0:
        return store.delete(CONFIG_MAP, "default", name).record.version if there else store.version
    draft = kinds.config_map(name, value=f"{serial} {'x' * size}")
    return (store.update(draft) if there else store.create(draft)).version


async def client(store: Store, turns: Turns, number: int, first: int, draw: random.Random) -> None:
    for serial in range(first, sys.maxsize):
        name = f"c-{number}-{serial % NAMES}"
        tell("S", name, serial)
        version = write(store, name, serial, draw.choice((0, 500, 20_000)))
        await turns.committed()
        tell("A", name, serial, version)


async def main(folder: Path, seed: int, first: int) -> None:
    store = kinds.empty(journal=journal.open(folder), seed=seed)
    if store.find(kinds.NAMESPACE, "", "default") is None:
        store.create(kinds.namespace("default"))
        store.commit()
    turns, draw = Turns(store), random.Random(seed)
    tell("R", store.version)
    await asyncio.gather(*(client(store, turns, number, first, draw) for number in range(CLIENTS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
