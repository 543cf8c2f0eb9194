"""A disk that can lose power: a file layer for SQLite that records each write and each sync of a database.

The layer is SQLite's own one for this system, with four of its functions put behind ours: open, write, truncate and
sync do what they did, and are noted down. It is registered with the very library that Python's `sqlite3` uses, by
ctypes, so that nothing between the journal's code and the operating system is other than in real use.

From the notes, `lose` builds what is on the disk after a loss of power at any moment. A write or a truncation is sure
to be there only if its file was synced after it. Everything else was still in memory, and of that the worst is assumed:
nothing of it reached the disk, or, with a source of chance, any of its sectors of 512 bytes, whatever their order.
That a disk's sectors are whole, and that it does not lie about syncs, are assumptions that SQLite shares.
"""

import _sqlite3
import ctypes
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_SECTOR: Final = 512
_count = itertools.count()

_Pointer = ctypes.c_void_p
_OPEN: Final = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, _Pointer, _Pointer, ctypes.c_int, _Pointer)
_DELETE: Final = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, _Pointer, ctypes.c_int)
_WRITE: Final = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, _Pointer, ctypes.c_int, ctypes.c_int64)
_TRUNCATE: Final = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, ctypes.c_int64)
_SYNC: Final = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, ctypes.c_int)


class _Layer(ctypes.Structure):
    """sqlite3_vfs; functions that are not touched stay plain pointers."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("path_at_most", ctypes.c_int),
        ("next", _Pointer),
        ("name", ctypes.c_char_p),
        ("data", _Pointer),
        ("open", _Pointer),
        ("delete", _Pointer),
        *((f"other{i}", _Pointer) for i in range(14)),
    ]


class _Methods(ctypes.Structure):
    """sqlite3_io_methods."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("close", _Pointer),
        ("read", _Pointer),
        ("write", _Pointer),
        ("truncate", _Pointer),
        ("sync", _Pointer),
        *((f"other{i}", _Pointer) for i in range(13)),
    ]


class _File(ctypes.Structure):
    """The part of sqlite3_file that is not private to a layer."""

    _fields_ = [("methods", ctypes.POINTER(_Methods))]


_library: Final = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
_library.sqlite3_vfs_find.restype = ctypes.POINTER(_Layer)


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes at a place; None cuts the file there."""

    file: str
    place: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Sync:
    file: str


@dataclass(frozen=True, slots=True)
class Delete:
    file: str


@dataclass(slots=True)
class Disk:
    """What happened to the files of one folder, in order; anything else may be noted among it.

    To be closed after the last connection that uses it: SQLite keeps pointers to it until then.
    """

    folder: Path
    events: list[object] = field(default_factory=list)
    name: str = field(default_factory=lambda: f"recorded{next(_count)}")
    _alive: list[object] = field(default_factory=list)  # what SQLite has pointers to
    _layer: _Layer = field(init=False)

    def __post_init__(self) -> None:
        original = _library.sqlite3_vfs_find(None).contents
        self._layer = layer = _Layer.from_buffer_copy(original)
        layer.name = self.name.encode()
        layer.next = None
        layer.open = self._keep(_OPEN(self._opening(_OPEN(original.open))))
        layer.delete = self._keep(_DELETE(self._deleting(_DELETE(original.delete))))
        assert _library.sqlite3_vfs_register(ctypes.byref(layer), 0) == 0

    def close(self) -> None:
        assert _library.sqlite3_vfs_unregister(ctypes.byref(self._layer)) == 0

    def _keep(self, function: object) -> int | None:
        self._alive.append(function)
        return ctypes.cast(function, _Pointer).value  # type: ignore[arg-type]

    def _opening(self, original: Callable[..., int]) -> Callable[..., int]:
        def open(layer: int, name: int | None, file: int, flags: int, out: int) -> int:
            status = original(layer, name, file, flags, out)
            opened = _File.from_address(file)
            if status == 0 and name and opened.methods:
                methods = _Methods.from_buffer_copy(opened.methods.contents)
                self._record(methods, Path(ctypes.string_at(name).decode()).name)
                self._alive.append(methods)
                opened.methods = ctypes.pointer(methods)
            return status

        return open

    def _deleting(self, original: Callable[..., int]) -> Callable[..., int]:
        def delete(layer: int, name: int, sync: int) -> int:
            self.events.append(Delete(Path(ctypes.string_at(name).decode()).name))
            return original(layer, name, sync)

        return delete

    def _record(self, methods: _Methods, file: str) -> None:
        write, truncate, sync = _WRITE(methods.write), _TRUNCATE(methods.truncate), _SYNC(methods.sync)
        note = self.events.append

        def writing(handle: int, data: int, size: int, place: int) -> int:
            note(Write(file, place, ctypes.string_at(data, size)))
            return int(write(handle, data, size, place))

        def truncating(handle: int, size: int) -> int:
            note(Write(file, size, None))
            return int(truncate(handle, size))

        def syncing(handle: int, flags: int) -> int:
            status = int(sync(handle, flags))
            note(Sync(file))
            return status

        methods.write = self._keep(_WRITE(writing))
        methods.truncate = self._keep(_TRUNCATE(truncating))
        methods.sync = self._keep(_SYNC(syncing))

    def lose(self, moment: int, chance: random.Random | None = None) -> dict[str, bytes]:
        """The files after a loss of power when the first `moment` events had happened."""
        files: dict[str, bytearray] = {}
        unsure: dict[str, list[Write]] = {}
        for event in self.events[:moment]:
            match event:
                case Write():
                    unsure.setdefault(event.file, []).append(event)
                case Sync():
                    for write in unsure.pop(event.file, []):
                        _apply(files.setdefault(event.file, bytearray()), write)
                case Delete():
                    unsure.pop(event.file, None)
                    files.pop(event.file, None)
        if chance is not None:
            for file, writes in unsure.items():
                for part in (part for write in writes for part in _sectors(write)):
                    if chance.random() < 0.5:
                        _apply(files.setdefault(file, bytearray()), part)
        return {file: bytes(data) for file, data in files.items()}


def _apply(data: bytearray, write: Write) -> None:
    if write.data is None:
        del data[write.place :]
        return
    data.extend(bytes(max(0, write.place - len(data))))
    data[write.place : write.place + len(write.data)] = write.data


def _sectors(write: Write) -> list[Write]:
    if write.data is None:
        return [write]
    end = write.place + len(write.data)
    cuts = [write.place, *range((write.place // _SECTOR + 1) * _SECTOR, end, _SECTOR), end]
    return [
        Write(write.file, start, write.data[start - write.place : stop - write.place])
        for start, stop in itertools.pairwise(cuts)
    ]
