"""The instance types of an EC2 region as Karpenter's AWS provider sees them through one NodeClass.

Types that a region does not have are not in its table, retired ones in none. A type whose price is not known is there,
but none of its offerings is available: it can be listed and is never planned with. Prices that nobody published as they
stand are marked as estimates, among them every spot price that a refresh did not read from AWS.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from typing import Final

from baseload.catalog import allocatable, ec2_file
from baseload.catalog.assemble import resource_columns
from baseload.catalog.columns import InstanceTypes
from baseload.catalog.ec2_file import ADJUSTED, ESTIMATED, Figures, Region, TypeSpec
from baseload.catalog.ec2_labels import labels
from baseload.catalog.ec2_offerings import Zone, offerings, zones_of
from baseload.catalog.masks import bits
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.values.errors import BadInput, Fault
from baseload.values.label import AWS_WELL_KNOWN

DEFAULT_REGION: Final = "us-east-1"


@dataclass(frozen=True, slots=True, eq=False)
class Ec2Catalogue:
    """The figures of one file; tables made from them are kept, so equal settings give the same object."""

    figures: Figures
    _tables: dict[tuple[str, NodeClassSettings, str, int], InstanceTypes] = field(default_factory=dict, repr=False)

    @staticmethod
    def from_bytes(data: bytes, file: str) -> "Ec2Catalogue":
        return Ec2Catalogue(ec2_file.decode(data, file))

    @property
    def regions(self) -> tuple[str, ...]:
        return tuple(self.figures.regions)

    def instance_types(
        self,
        region: str,
        *,
        settings: NodeClassSettings,
        vm_memory_overhead_percent: str = "0.075",
        reserved_enis: int = 0,
    ) -> InstanceTypes:
        """The types that a region offers, as a NodeClass with these settings gets them."""
        key = (region, settings, vm_memory_overhead_percent, reserved_enis)
        if key not in self._tables:
            self._tables[key] = self._table(region, settings, Fraction(vm_memory_overhead_percent), reserved_enis)
        return self._tables[key]

    def spec(self, name: str) -> TypeSpec | None:
        """What EC2 says of a type, also of a retired one; None for a name that it never had."""
        return next((spec for spec in self.figures.specs if spec.name == name), None)

    def _table(
        self, name: str, settings: NodeClassSettings, overhead_percent: Fraction, reserved_enis: int
    ) -> InstanceTypes:
        region = self._region(name, settings)
        positions = _positions(self.figures.specs, region)
        specs = [self.figures.specs[position] for position in positions]
        zones = zones_of(region, positions, settings)
        capacities, left = [], []
        for spec in specs:
            amounts = allocatable.capacity(spec, settings, overhead_percent, reserved_enis)
            kept = allocatable.overhead(spec, settings, amounts, reserved_enis)
            capacities.append(amounts)
            left.append({resource: amount - kept.get(resource, 0) for resource, amount in amounts.items()})
        return InstanceTypes(
            names=tuple(spec.name for spec in specs),
            capacity=resource_columns(capacities),
            allocatable=resource_columns(left),
            labels=labels(specs, settings, name, _zones_by_type(zones, len(specs))),
            offerings=offerings(specs, positions, region, zones),
            well_known=AWS_WELL_KNOWN,
            region=name,
            notes=_notes(name, region, positions, self.figures.generated),
        )

    def _region(self, name: str, settings: NodeClassSettings) -> Region:
        if name not in self.figures.regions:
            near = get_close_matches(name, self.figures.regions, n=1)
            allowed = f"did you mean {near[0]}?" if near else f"one of {', '.join(self.figures.regions)}"
            raise BadInput([Fault(f"unknown region {name!r}", allowed=allowed)])
        region = self.figures.region(name)
        if not region.zones and settings.zones is None:
            allowed = "name them in the status.subnets of an EC2NodeClass, or run `baseload catalog refresh`"
            raise BadInput([Fault(f"the catalogue does not know the zones of region {name}", allowed=allowed)])
        return region


def _positions(specs: Sequence[TypeSpec], region: Region) -> list[int]:
    """Where the region's types stand in the file; of a region with unknown zones, those that it has a price for."""
    if region.zones:
        return [position for position, mask in enumerate(region.offered) if mask]
    return [i for i, spec in enumerate(specs) if region.price[i] is not None and not spec.retired]


def _zones_by_type(zones: Sequence[Zone], count: int) -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = [[] for _ in range(count)]
    for zone in zones:
        for position in bits(zone.types):
            found[position].append((zone.name, zone.id))
    return found


def _notes(name: str, region: Region, positions: Sequence[int], generated: str) -> tuple[str, ...]:
    guessed = sum(region.origin[position] in (ADJUSTED, ESTIMATED) for position in positions)
    unpriced = sum(region.price[position] is None for position in positions)
    on_demand = f"{name}: on-demand prices of {region.published}"
    if guessed:
        on_demand += f", {guessed} of {len(positions)} estimated"
    if unpriced:
        on_demand += f"; {unpriced} types without a known price are not planned with"
    spot = f"{name}: spot prices as AWS gave them on {generated}"
    if not region.spot:
        spot = f"{name}: spot prices are estimates: the on-demand price less what is usually saved"
    return on_demand, spot
