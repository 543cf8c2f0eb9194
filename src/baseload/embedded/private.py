"""Files that are the user's alone: keys, and what holds them."""

import os
from collections.abc import Callable
from pathlib import Path


def write(file: Path, content: bytes) -> None:
    """Writes a file in one step, readable by its owner alone; its folder, where it is made for it, too.

    A link goes on pointing where it does. What is there after a loss of power is the old content or the new one.
    """
    file = file.resolve()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.baseload-new")
    fresh.unlink(missing_ok=True)  # of a process that ended while it wrote, or put there for us to write into
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(descriptor)
    fresh.replace(file)


def kept(file: Path, make: Callable[[], bytes]) -> bytes:
    """What a file holds; where it is not there, or empty, what it is made of now."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        content = b""
    if not content:
        content = make()
        write(file, content)
    return content
