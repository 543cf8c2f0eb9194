"""Where what is seen of a run is noted: in the lines of series, and in the journal where one is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from baseload.journal.record import Plan
from baseload.journal.write import Writer
from baseload.replay.series import Book, Labels
from baseload.values.clock import Clock

Facts = Mapping[tuple[str, Labels], int]
"""(series, labels) -> what one object adds to it"""
NOTHING: Final[Facts] = {}


@dataclass(slots=True)
class Notebook:
    """`writer` is None where nobody reads a journal, so that nothing need be put into words."""

    clock: Clock
    book: Book
    writer: Writer | None

    def tell(
        self, source: str, event: str, object: str, reason: str = "", message: str = "", plan: Plan | None = None
    ) -> None:
        """A line of the journal, of this moment."""
        if self.writer is not None:
            self.writer.put(self.clock.now(), source, event, object, reason, message, plan)

    def add(self, series: str, labels: Labels, change: int = 1) -> None:
        self.book.add(series, labels, self.clock.now(), change)

    def become(self, before: Facts, after: Facts) -> None:
        """What an object adds to series is another one from now on."""
        now = self.clock.now()
        for key, amount in before.items():
            if (left := after.get(key, 0)) != amount:
                self.book.add(*key, now, left - amount)
        for key, amount in after.items():
            if key not in before:
                self.book.add(*key, now, amount)
