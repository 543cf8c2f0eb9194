"""Tidies and commits at the end of each turn of the event loop: the one place of the store that knows asyncio.

The first write of a turn schedules that behind everything that is ready to run in this turn, so the writes of all
clients that are ready go to disk together, and what they leave to collect with them. Answers wait for `committed`,
those of reads as well as those of writes, so that nothing is told that a crash could take back.
"""

import asyncio
from collections.abc import Callable

from baseload.embedded.store.errors import Broken
from baseload.embedded.store.store import Store


class Turns:
    """Ends the turns of a store, durable or not, within a running event loop."""

    def __init__(self, store: Store, broken: Callable[[], None] | None = None) -> None:
        """`broken` is told once that the disk refused a commit: nothing more will come of this store."""
        self._store, self._broken = store, broken
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] | None = None
        store.on_turn = self._schedule
        self._schedule()  # for what was written before

    async def committed(self) -> None:
        """Returns when all that was written so far is tidied up after, and on disk."""
        if self._done is not None:
            await asyncio.shield(self._done)

    def close(self) -> None:
        """Commits what is left; the store is committed by hand from now on."""
        self._store.on_turn = None
        self._store.commit()

    def _schedule(self) -> None:
        if self._done is None:
            self._done = self._loop.create_future()
            self._loop.call_soon(self._commit)

    def _commit(self) -> None:
        done, self._done = self._done, None
        assert done is not None
        try:
            try:
                self._store.tidy()
            finally:
                self._store.commit()
        except Exception as error:
            done.set_exception(error)
            done.exception()  # nobody need wait for it
            if self._broken is None or not isinstance(error, Broken):
                raise
            self._broken()
            return
        done.set_result(None)
