"""A journal of a cluster that lives on, whatever clock it lives by: what a witness sees, handed on each second."""

from typing import BinaryIO, Final

from baseload.journal.resume import NOTHING, Left
from baseload.journal.write import Writer
from baseload.replay.notebook import Notebook
from baseload.replay.series import Book
from baseload.replay.witness import Witness
from baseload.values.clock import Clock
from baseload.world.living import Living

EVERY: Final = 1.0  # seconds of the cluster's between two times that lines are handed on


class Journal:
    """Writes down what happens to a cluster, from before its start on."""

    def __init__(self, living: Living, out: BinaryIO, left: Left = NOTHING) -> None:
        """`left` is what an earlier process wrote there of this cluster."""
        self._clock, self._out, self._writer = living.clock, out, Writer(out, left.seq)
        notebook = Notebook(living.clock, Book((), living.clock.now()), self._writer)
        self._witness = Witness(living, notebook, known=left.known)
        self._witness.plans.count = left.plan

    async def run(self) -> None:
        """Writes until it is cancelled."""
        await self._clock.together(self._witness.run(), self._hand_on(self._clock))

    def close(self) -> None:
        """The last lines."""
        self._witness.finish()
        self._flush()

    async def _hand_on(self, clock: Clock) -> None:
        while True:
            await clock.sleep(EVERY)
            self._flush()

    def _flush(self) -> None:
        self._writer.flush()
        self._out.flush()
