"""What a cloud has on offer for a NodeClass: its types, less the offerings that refused a launch a moment ago."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from baseload.catalog.columns import InstanceTypes, OfferingColumn
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.cloud.errors import Refusal
from baseload.cloud.port import Cloud
from baseload.decide.lifecycle.launch import Choice
from baseload.values.clock import Clock
from baseload.values.duration import MINUTE

FRESH: Final = 5 * MINUTE
"""So long types and offerings are taken as they were read."""
SHUT: Final = 3 * MINUTE
"""So long an offering that had no capacity is not asked for again."""

Offering = tuple[str, str, str]
"""(instance type, zone, capacity type)"""


class Offerings:
    """Tables of types by the settings of their NodeClass, and choices made on them."""

    def __init__(self, cloud: Cloud, clock: Clock) -> None:
        self._cloud, self._clock = cloud, clock
        self._read: dict[NodeClassSettings, tuple[int, InstanceTypes]] = {}
        self._open: dict[NodeClassSettings, tuple[object, Choice]] = {}
        self._shut: dict[Offering, int] = {}  # until when

    async def choice(self, settings: NodeClassSettings) -> Choice:
        """What can be launched now; the same object while nothing changed."""
        table = await self._table(settings)
        now = self._clock.now()
        self._shut = {offering: until for offering, until in self._shut.items() if until > now}
        state = (id(table), tuple(sorted(self._shut)))
        held = self._open.get(settings)
        if held is None or held[0] != state:
            held = self._open[settings] = (state, Choice(without(table, self._shut)))
        return held[1]

    def refused(self, refusals: Iterable[Refusal]) -> None:
        """Offerings that had nothing; they are shut for a while."""
        for refusal in refusals:
            self.shut(refusal.offering)

    def shut(self, offering: Offering) -> None:
        """An offering is not asked for again for a while."""
        self._shut[offering] = self._clock.now() + SHUT

    async def _table(self, settings: NodeClassSettings) -> InstanceTypes:
        held = self._read.get(settings)
        if held is None or self._clock.now() - held[0] >= FRESH:
            table = await self._cloud.instance_types(settings)
            held = self._read[settings] = (self._clock.now(), table)
        return held[1]


def without(table: InstanceTypes, shut: Iterable[Offering]) -> InstanceTypes:
    """A table in which some offerings cannot be launched; the same one where none of them is in it."""
    by_column: dict[tuple[str, str], int] = {}
    for name, zone, capacity_type in shut:
        if name in table.names:
            key = zone, capacity_type
            by_column[key] = by_column.get(key, 0) | 1 << table.names.index(name)
    if not by_column:
        return table
    return replace(table, offerings=tuple(_less(column, by_column) for column in table.offerings))


def _less(column: OfferingColumn, shut: dict[tuple[str, str], int]) -> OfferingColumn:
    mask = shut.get((column.zone, column.capacity_type), 0)
    return replace(column, available=column.available & ~mask) if column.available & mask else column
