"""Instance types as columns, so that a filter is a mask.

Every column is aligned to `names`; a set of types is an int whose bit i stands for `names[i]`. An equal label of many
types is stored once, with the mask of the types that carry it. The columns of one NodePool are one `InstanceTypes`:
pools with the same NodeClass settings share the object, and whoever memoises on a table may key on its identity.
"""

from dataclasses import dataclass, field

from baseload.values.requirement import Requirement, Requirements


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """What the types say of one label key: disjoint groups, each one requirement and the mask of types that make it.

    Types in no group do not carry the key (and count as undefined, not as DoesNotExist). A key that others of the
    catalogue carry and a type lacks is a group with the DoesNotExist requirement.
    """

    key: str
    groups: tuple[tuple[Requirement, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class OfferingColumn:
    """Offerings with equal requirements (zone, capacity type, reservation): one for each type in `types`."""

    zone: str
    capacity_type: str
    requirements: Requirements
    types: int  # mask of the types that have this offering, available or not
    available: int  # mask of those where it can be launched now
    prices: tuple[float | None, ...]  # US dollars an hour, aligned to names; None where there is none
    estimated: int = 0  # mask of the types whose price is an estimate
    reservation_id: str = ""  # reserved capacity only
    reservation_capacity: tuple[int, ...] = ()  # instances left, aligned to names; reserved capacity only


@dataclass(frozen=True, slots=True, eq=False)
class InstanceTypes:
    """The instance types that a NodePool can choose from. Amounts are nano-units (`baseload.values.quantity`)."""

    names: tuple[str, ...]
    capacity: dict[str, tuple[int, ...]]  # resource -> amount by type; 0 where a type has none
    allocatable: dict[str, tuple[int, ...]]  # the same, less what the system keeps; may be negative
    labels: dict[str, LabelColumn]  # label key -> column, instance-type, arch, os, zone and capacity-type among them
    offerings: tuple[OfferingColumn, ...]
    well_known: frozenset[str] = frozenset()  # label keys that count as well-known besides the core ones
    region: str = ""
    notes: tuple[str, ...] = field(default=())  # said once to the user, e.g. which prices are estimates

    def __len__(self) -> int:
        return len(self.names)
