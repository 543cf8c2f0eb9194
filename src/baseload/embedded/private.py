"""Files that are the user's alone: keys, and what holds them."""

import os
from collections.abc import Callable
from pathlib import Path


def write(file: Path, content: bytes) -> None:
    """Writes a file in one step, readable by its owner alone; its folder, where it is made for it, too."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.baseload-new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as stream:
        stream.write(content)
    fresh.replace(file)


def kept(file: Path, make: Callable[[], bytes]) -> bytes:
    """What a file holds; where it is not there, what it is made of now."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        content = make()
        write(file, content)
        return content
