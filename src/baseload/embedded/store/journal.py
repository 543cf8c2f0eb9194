"""Objects in SQLite, in a directory that one process has at a time: on disk when `write` returns.

One row holds one object's JSON. A call of `write` is one transaction in the write-ahead log, which SQLite syncs before
it says that the transaction is committed (synchronous=FULL); what was not committed never was. The version is written
along, so that versions rise over restarts although removed objects leave no row.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from baseload.embedded.store.errors import Broken
from baseload.embedded.store.ports import Row
from baseload.values.errors import BadInput, Fault

FILE: Final = "objects.sqlite"
_APPLICATION: Final = 0x62_61_73_65  # "base": tells our files from other people's
_SCHEMA: Final = """
CREATE TABLE object(resource TEXT NOT NULL, key TEXT NOT NULL, data BLOB NOT NULL, UNIQUE(resource, key)) STRICT;
CREATE TABLE version(number INTEGER NOT NULL) STRICT;
INSERT INTO version VALUES(0);
"""
_PUT: Final = "INSERT INTO object VALUES(?, ?, ?) ON CONFLICT(resource, key) DO UPDATE SET data = excluded.data"
_REMOVE: Final = "DELETE FROM object WHERE resource = ? AND key = ?"


class SqliteJournal:
    """An open data directory; `close` gives it back."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def version(self) -> int:
        number: int = self._connection.execute("SELECT number FROM version").fetchone()[0]
        return number

    def load(self, resource: str) -> Iterator[tuple[str, bytes]]:
        yield from self._connection.execute("SELECT key, data FROM object WHERE resource = ? ORDER BY key", (resource,))

    def write(self, rows: Iterable[Row], version: int) -> None:
        run = self._connection.execute
        try:
            run("BEGIN IMMEDIATE")
            for resource, key, data in rows:
                if data is None:
                    run(_REMOVE, (resource, key))
                else:
                    run(_PUT, (resource, key, data))
            run("UPDATE version SET number = ?", (version,))
            run("COMMIT")
        except sqlite3.Error as error:
            raise Broken(f"the data directory cannot be written: {error}") from error

    def close(self) -> None:
        self._connection.close()


def open(folder: Path, *, vfs: str = "") -> SqliteJournal:
    """Opens a data directory, making it where there is none; `vfs` names another file layer of SQLite's."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (folder / FILE).absolute()
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(file.as_uri() + (f"?vfs={vfs}" if vfs else ""), uri=True, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(folder, f"cannot be opened: {error}") from error
    try:
        _prepare(connection, folder)
        _sync(folder)
        _sync(folder.absolute().parent)
    except sqlite3.OperationalError as error:
        connection.close()
        is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
        raise _unusable(folder, "is in use by another process" if is_busy else f"cannot be used: {error}") from error
    except (sqlite3.Error, OSError) as error:
        connection.close()
        raise _unusable(folder, f"cannot be used: {error}") from error
    except BadInput:
        connection.close()
        raise
    return SqliteJournal(connection)


def _prepare(connection: sqlite3.Connection, folder: Path) -> None:
    run = connection.execute
    run("PRAGMA busy_timeout = 0")
    run("PRAGMA locking_mode = EXCLUSIVE")
    owner = run("PRAGMA application_id").fetchone()[0]
    is_new = not run("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if owner != _APPLICATION and not is_new:
        raise _unusable(folder, f"holds a {FILE} that is not baseload's")
    _keep_private(folder / FILE)
    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = FULL")
    run("BEGIN EXCLUSIVE")
    if is_new:
        for statement in _SCHEMA.strip().split("\n"):
            run(statement)
        run(f"PRAGMA application_id = {_APPLICATION}")
    run("COMMIT")


def _keep_private(file: Path) -> None:
    """Takes our files from all but their owner: objects may be Secrets. SQLite makes new ones beside it alike."""
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        with suppress(FileNotFoundError):
            file.with_name(name).chmod(0o600)


def _sync(folder: Path) -> None:
    """Makes the names in a folder durable; the files' contents are SQLite's."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(folder: Path, why: str) -> BadInput:
    return BadInput([Fault(f"the data directory {why}", file=str(folder), allowed="a directory of its own")])
