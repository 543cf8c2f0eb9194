"""What a cloud has on offer for a NodeClass: its types, less the offerings that refused a launch a moment ago.

A subnet that had no address left is not launched into for as long, and a zone without another one offers nothing.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from baseload.catalog.columns import InstanceTypes, OfferingColumn
from baseload.catalog.nodeclass import NodeClassSettings, settings_of
from baseload.cloud.errors import NO_ADDRESSES, Refusal
from baseload.cloud.port import Cloud
from baseload.decide.lifecycle.launch import Choice
from baseload.kube.types.ec2 import EC2NodeClass
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
        self._open: dict[tuple[NodeClassSettings, tuple[str, ...]], tuple[object, Choice]] = {}
        self._shut: dict[Offering, int] = {}  # until when
        self._full: dict[str, int] = {}  # subnets without an address: until when
        self._classes: dict[str, tuple[EC2NodeClass, NodeClassSettings]] = {}

    async def choice(self, node_class: EC2NodeClass | None, *, no_older_than: int = FRESH) -> Choice:
        """What can be launched now; the same object while nothing changed."""
        settings = self._settings_of(node_class)
        table = await self._table(settings, no_older_than)
        now = self._clock.now()
        self._shut = {offering: until for offering, until in self._shut.items() if until > now}
        self._full = {subnet: until for subnet, until in self._full.items() if until > now}
        zones = full_zones(node_class, self._full)
        state = (id(table), tuple(sorted(self._shut)), tuple(sorted(self._full)))
        held = self._open.get((settings, zones))
        if held is None or held[0] != state:
            choice = Choice(without(table, self._shut, zones), frozenset(self._full))
            held = self._open[settings, zones] = (state, choice)
        return held[1]

    def refused(self, refusals: Iterable[Refusal]) -> None:
        """Offerings that had nothing, and subnets without an address; they are shut for a while."""
        for refusal in refusals:
            self.shut(refusal.offering)
            if refusal.code == NO_ADDRESSES:
                self._full[refusal.subnet] = self._clock.now() + SHUT

    def shut(self, offering: Offering) -> None:
        """An offering is not asked for again for a while."""
        self._shut[offering] = self._clock.now() + SHUT

    def _settings_of(self, node_class: EC2NodeClass | None) -> NodeClassSettings:
        """Read once of each state of a class."""
        if node_class is None:
            return settings_of(None)
        held = self._classes.get(node_class.metadata.name)
        if held is None or held[0] is not node_class:
            held = self._classes[node_class.metadata.name] = node_class, settings_of(node_class)
        return held[1]

    async def _table(self, settings: NodeClassSettings, no_older_than: int) -> InstanceTypes:
        held = self._read.get(settings)
        if held is None or self._clock.now() - held[0] >= no_older_than:
            table = await self._cloud.instance_types(settings)
            held = self._read[settings] = (self._clock.now(), table)
        return held[1]


def full_zones(node_class: EC2NodeClass | None, full: Collection[str]) -> tuple[str, ...]:
    """The zones all of whose subnets are among the full ones."""
    if node_class is None or not full:
        return ()
    subnets = node_class.status.subnets
    with_room = {subnet.zone for subnet in subnets if subnet.id not in full}
    return tuple(sorted({subnet.zone for subnet in subnets} - with_room))


def without(table: InstanceTypes, shut: Iterable[Offering], zones: Collection[str] = ()) -> InstanceTypes:
    """A table in which some offerings and zones cannot be launched; the same one where none of them is in it."""
    by_column: dict[tuple[str, str], int] = {}
    for name, zone, capacity_type in shut:
        if name in table.names:
            key = zone, capacity_type
            by_column[key] = by_column.get(key, 0) | 1 << table.names.index(name)
    for column in table.offerings:
        if column.zone in zones:
            by_column[column.zone, column.capacity_type] = column.available
    if not by_column:
        return table
    return replace(table, offerings=tuple(_less(column, by_column) for column in table.offerings))


def _less(column: OfferingColumn, shut: dict[tuple[str, str], int]) -> OfferingColumn:
    mask = shut.get((column.zone, column.capacity_type), 0)
    return replace(column, available=column.available & ~mask) if column.available & mask else column
