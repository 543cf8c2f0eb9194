"""The state of a simulated region as bytes, so that it goes on after a restart as if only time had passed.

What is due meanwhile happens when the region is asked again, each thing at its own moment. Not kept is what callers did
to the network before it: how full the buckets of throttling are, which faults struck; and what a scenario changed by
hand, stockouts and releases.
"""

from typing import Final

import msgspec

from baseload.cloud.simulated.agenda import Planned
from baseload.cloud.simulated.inventory import Record
from baseload.cloud.simulated.queue import Held
from baseload.cloud.simulated.region import Known, Region, Types
from baseload.cloud.simulated.settings import CloudSettings
from baseload.cloud.simulated.volumes import Kept
from baseload.values.clock import Clock
from baseload.values.errors import BadInput, Fault

_VERSION: Final = 1


class Saved(msgspec.Struct, frozen=True):
    """A region's state."""

    version: int
    seed: int
    start: int
    streams: dict[str, int]
    planned: list[Planned]
    records: list[Record]
    addresses: dict[str, int]
    tokens: dict[str, Known]
    messages: list[Held]
    volumes: Kept
    down: dict[str, int]


def new(types: Types, clock: Clock, settings: CloudSettings, *, seed: int) -> Region:
    """A region that begins now."""
    region = Region(types, clock, settings, seed=seed, start=clock.now())
    region.begin()
    return region


def save(region: Region) -> bytes:
    return msgspec.json.encode(
        Saved(
            version=_VERSION,
            seed=region.streams.seed,
            start=region.start,
            streams=region.streams.kept(),
            planned=region.agenda.planned(),
            records=list(region.inventory),
            addresses=region.network.kept(),
            tokens=region.tokens,
            messages=region.queue.kept(),
            volumes=region.devices.kept(),
            down=region.troubles.down,
        )
    )


def restore(data: bytes, types: Types, clock: Clock, settings: CloudSettings, *, file: str = "") -> Region:
    """The region that was saved; BadInput for bytes that are none."""
    try:
        saved = msgspec.json.decode(data, type=Saved)
    except msgspec.DecodeError as error:
        raise BadInput([Fault(f"not the state of a simulated cloud: {error}", file=file)]) from error
    if saved.version != _VERSION:
        raise BadInput([Fault(f"state of format {saved.version}", file=file, allowed=f"format {_VERSION}")])
    region = Region(types, clock, settings, seed=saved.seed, start=saved.start)
    _fill(region, saved)
    return region


def _fill(region: Region, saved: Saved) -> None:
    region.streams.put_back(saved.streams)
    region.put_back(saved.records, saved.addresses)
    region.tokens.update(saved.tokens)
    region.queue.put_back(saved.messages)
    region.devices.put_back(saved.volumes)
    region.troubles.down.update(saved.down)
    region.agenda.plan(saved.planned)
