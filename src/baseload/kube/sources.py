"""Where manifests come from: files, folders and standard input, as bytes in a fixed order.

A folder is walked through all its subfolders in the order of names; hidden entries are passed over and only manifests
(by their ending) are taken.
A file that is named itself is read whatever its ending.
Text must be UTF-8; a byte order mark of UTF-8, UTF-16 or UTF-32 is understood.
"""

import codecs
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from baseload.values.errors import Fault

STDIN = "-"
STDIN_FILE = "stdin"  # what faults call it
SUFFIXES = (".yaml", ".yml", ".json")

# The marks of UTF-32 begin like those of UTF-16, so they come first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """One file's text, in UTF-8 without a mark."""

    file: str
    text: bytes


def read(sources: Sequence[str], *, stdin: Callable[[], bytes] | None = None) -> tuple[list[Source], list[Fault]]:
    """Read all sources in order; what cannot be read becomes a fault and does not stop the others."""
    found: list[Source] = []
    faults: list[Fault] = []
    for place, name in enumerate(sources):
        if name == STDIN and stdin is not None:
            if STDIN in sources[:place]:
                faults.append(Fault("is named twice, and can be read once only", file=STDIN_FILE))
            else:
                _take(STDIN_FILE, stdin, found, faults)
            continue
        try:
            files = list(_files(Path(name)))
        except (OSError, ValueError) as error:
            faults.append(Fault(_reason(error), file=name))
            continue
        except RecursionError:
            faults.append(Fault("cannot be read: its folders are nested too deeply", file=name))
            continue
        if not files:
            faults.append(Fault("there is no manifest in it", file=name, allowed=f"files in {', '.join(SUFFIXES)}"))
        for file in files:
            _take(str(file), partial(content, file), found, faults)
    return found, faults


def content(file: Path) -> bytes:
    """The bytes of a file. A device may have no end."""
    if file.is_char_device() and str(file) != os.devnull:
        raise OSError("it is a device")
    return file.read_bytes()


def _files(path: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """The files under a path; `above` are the folders on the way, so that a link upwards is not followed for ever."""
    if not path.is_dir():
        yield path
        return
    here = path.resolve()
    if here in above:
        return
    for child in sorted(path.iterdir()):
        if child.name.startswith("."):
            continue
        if child.is_dir() or child.suffix in SUFFIXES:
            if child.is_fifo():
                raise OSError(f"{child.name} in it is a pipe")
            yield from _files(child, above | {here})


def _take(file: str, read_bytes: Callable[[], bytes], found: list[Source], faults: list[Fault]) -> None:
    try:
        data = read_bytes()
    except (OSError, ValueError) as error:
        faults.append(Fault(_reason(error), file=file))
        return
    try:
        found.append(Source(file, _utf8(data)))
    except UnicodeError as error:
        faults.append(_not_text(file, data, error))


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot be read: {reason}"


def _utf8(data: bytes) -> bytes:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding).encode()
    if not data.isascii():
        data.decode()
    return data


def _not_text(file: str, data: bytes, error: UnicodeError) -> Fault:
    if isinstance(error, UnicodeDecodeError) and error.encoding == "utf-8":
        line = data.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8 text: byte 0x{data[error.start]:02x} in line {line}"
    else:
        message = "is not text in the encoding that its byte order mark announces"
    return Fault(message, file=file, allowed="save it as UTF-8")
