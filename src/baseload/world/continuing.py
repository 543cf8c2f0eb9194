"""What a cluster that lives needs besides its objects to go on where it stopped: its time, and the state of its cloud.

It stands beside the objects in the data directory, and is written before a change of the cloud is answered, so that
no machine is forgotten that a NodeClaim already knows.
"""

from pathlib import Path
from typing import Final

import msgspec

from baseload.embedded import private
from baseload.values.errors import BadInput, Fault
from baseload.world.living import Living

FILE: Final = "life.json"
_VERSION: Final = 1


class Kept(msgspec.Struct, frozen=True):
    """The state of a cluster beside its objects."""

    version: int
    region: str
    now: int
    cloud: bytes


def read(folder: Path | None) -> Kept | None:
    """What was kept in a data directory; None where nothing was. BadInput where it cannot be read."""
    if folder is None:
        return None
    file = folder / FILE
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=Kept)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput([Fault(f"cannot be read: {error}", file=str(file))]) from error
    if kept.version != _VERSION:
        raise BadInput([Fault("was written by another version of baseload", file=str(file))])
    return kept


class Keeper:
    """Writes the state of one cluster into its data directory."""

    def __init__(self, living: Living, folder: Path, every: float = 1.0) -> None:
        """`every`: seconds of the cluster's time after which what happened by itself is written at the latest."""
        self._living, self._file, self._every = living, folder / FILE, every
        self._revision = -1
        living.cloud.on_change = self.write

    def write(self) -> None:
        cloud = self._living.cloud
        self._revision = cloud.revision
        kept = Kept(_VERSION, self._living.settings.region, self._living.clock.now(), cloud.save())
        private.write(self._file, msgspec.json.encode(kept))

    async def run(self) -> None:
        """Writes what happens by itself, for ever; once more at the end."""
        try:
            while True:
                if self._revision != self._living.cloud.revision:
                    self.write()
                await self._living.clock.sleep(self._every)
        finally:
            self.write()
