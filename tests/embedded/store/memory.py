"""A journal in memory, that keeps what was committed and can be told to fail."""

from collections.abc import Iterable, Iterator

from baseload.embedded.store.errors import Broken
from baseload.embedded.store.ports import Row


class MemoryJournal:
    """What a disk would hold."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], bytes] = {}
        self.number = 0
        self.transactions = 0
        self.fails = False

    def version(self) -> int:
        return self.number

    def load(self, resource: str) -> Iterator[tuple[str, bytes]]:
        yield from ((key, data) for (kind, key), data in sorted(self.objects.items()) if kind == resource)

    def write(self, rows: Iterable[Row], version: int) -> None:
        if self.fails:
            raise Broken("the disk is full")
        for resource, key, data in rows:
            if data is None:
                self.objects.pop((resource, key), None)
            else:
                self.objects[resource, key] = data
        self.number = version
        self.transactions += 1
