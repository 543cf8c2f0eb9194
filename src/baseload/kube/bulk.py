"""Bulk decoding: the garbage collector would walk every object made so far again and again, and none is garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_gc() -> Iterator[None]:
    """Make many long-lived objects without the collector; three to five times faster on a large dump."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
