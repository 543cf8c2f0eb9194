"""Instance types from a file in KWOK's format: the catalogue of one's own.

`resources` are the capacity of a type; allocatable is what `overhead` leaves of them, and memory is further reduced by
the huge pages, which are taken out of it at boot. Offerings that are not available do not exist for decisions: a type's
zone and capacity-type labels are the union over its available ones.

Every key in the types' `labels` and the offerings' requirements counts as well-known. A type that lacks a key which
others carry has DoesNotExist for it. For a key that offerings decide, a type says the union of their values when
each of its available offerings names some, and nothing when only part of them do: then the offering has to agree.
"""

import json
from collections.abc import Sequence
from typing import Final, Never

from baseload.catalog.assemble import ABSENT, label_column, resource_columns
from baseload.catalog.columns import InstanceTypes, LabelColumn, OfferingColumn
from baseload.catalog.kwok_types import Faults, KwokOffering, KwokType, read_type
from baseload.catalog.masks import mask_of
from baseload.values.errors import BadInput, Fault
from baseload.values.label import ARCH, CAPACITY_TYPE, INSTANCE_TYPE, OS, RESERVATION_KEYS, ZONE
from baseload.values.requirement import Requirement, Requirements

_FORM: Final = "a JSON list of instance types"


def read(data: bytes, file: str) -> InstanceTypes:
    """The instance types of a file, given as its bytes; raises BadInput with every fault."""
    entries = _decode(data, file)
    faults = Faults(file)
    types = [read_type(entry, f"[{i}]", faults) for i, entry in enumerate(entries)]
    seen: set[str] = set()
    for i, read_ in enumerate(types):
        if read_.name and read_.name in seen:
            faults.note(f"[{i}].name", f"Duplicate value: {read_.name!r}")
        seen.add(read_.name)
    if not types:
        faults.note("", "no instance type", "at least one")
    elif not faults.noted and not any(read_.offerings for read_ in types):
        faults.note("", "no instance type has an offering: none could ever be launched", "at least one offering")
    if faults.noted:
        raise BadInput(faults.noted)
    return _columns(types)


def _decode(data: bytes, file: str) -> list[object]:
    try:
        entries = json.loads(data.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise BadInput([Fault(f"not UTF-8 (byte {error.start})", file=file, allowed=_FORM)]) from error
    except RecursionError as error:
        raise BadInput([Fault("nested too deeply", file=file, allowed=_FORM)]) from error
    except ValueError as error:
        raise BadInput([Fault(f"not JSON: {error}", file=file, allowed=_FORM)]) from error
    if not isinstance(entries, list):
        raise BadInput([Fault("not a list", file=file, allowed=_FORM)])
    return entries


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the field {name!r} is given twice in one object")
        found[name] = value
    return found


def _no_constant(text: str) -> Never:
    raise ValueError(f"{text} is no JSON number")


def _columns(types: Sequence[KwokType]) -> InstanceTypes:
    offering_keys = sorted({key for type_ in types for offering in type_.offerings for key in offering.requirements})
    labels = _labels(types, offering_keys)
    return InstanceTypes(
        names=tuple(type_.name for type_ in types),
        capacity=resource_columns([type_.resources for type_ in types]),
        allocatable=resource_columns([_allocatable(type_) for type_ in types]),
        labels=labels,
        offerings=_offerings(types),
        well_known=frozenset(labels) | frozenset(offering_keys),
    )


def _allocatable(type_: KwokType) -> dict[str, int]:
    left = {resource: amount - type_.overhead.get(resource, 0) for resource, amount in type_.resources.items()}
    for resource, amount in type_.resources.items():
        if resource.startswith("hugepages-"):
            left["memory"] = max(0, left["memory"] - amount)
    return left


def _labels(types: Sequence[KwokType], offering_keys: Sequence[str]) -> dict[str, LabelColumn]:
    said: dict[str, list[frozenset[str] | None]] = {
        INSTANCE_TYPE: [frozenset((type_.name,)) for type_ in types],
        ARCH: [frozenset((type_.architecture,)) for type_ in types],
        OS: [frozenset(type_.operating_systems) for type_ in types],
        ZONE: [frozenset(offering.zone for offering in _available(type_)) for type_ in types],
        CAPACITY_TYPE: [frozenset(offering.capacity_type for offering in _available(type_)) for type_ in types],
    }
    own_keys = sorted({key for type_ in types for key in type_.labels})
    for key in dict.fromkeys((*own_keys, *offering_keys)):
        if key not in said:
            said[key] = [_said(type_, key) for type_ in types]
    return {key: label_column(key, values) for key, values in said.items()}


def _available(type_: KwokType) -> list[KwokOffering]:
    return [offering for offering in type_.offerings if offering.available and _has_capacity(offering)]


def _has_capacity(offering: KwokOffering) -> bool:
    return offering.capacity_type != "reserved" or offering.reservation_capacity > 0


def _said(type_: KwokType, key: str) -> frozenset[str] | None:
    """What a type says of a key that its labels or its offerings may carry."""
    if key in type_.labels:
        return frozenset((type_.labels[key],))
    demands = [offering.requirements.get(key) for offering in _available(type_)]
    named = [demand for demand in demands if demand is not None and demand.operator != "DoesNotExist"]
    if not named:
        return ABSENT
    if len(named) < len(demands) or any(demand.complement for demand in named):
        return None
    return frozenset().union(*(demand.values for demand in named))


def _offerings(types: Sequence[KwokType]) -> tuple[OfferingColumn, ...]:
    """Columns in the order in which the file first mentions them."""
    unreserved = _unreserved(types)
    grouped: dict[tuple[Requirements, str], dict[int, KwokOffering]] = {}
    for position, type_ in enumerate(types):
        for offering in type_.offerings:
            requirements = offering.requirements
            if offering.capacity_type != "reserved":
                requirements = requirements.add(*(r for r in unreserved if r.key not in requirements))
            grouped.setdefault((requirements, offering.reservation_id), {})[position] = offering
    return tuple(_column(requirements, found, len(types)) for (requirements, _), found in grouped.items())


def _unreserved(types: Sequence[KwokType]) -> list[Requirement]:
    """What offerings without a reservation say of the reservation keys, where any offering has these."""
    used = {key for type_ in types for offering in type_.offerings for key in offering.requirements}
    return [Requirement.of(key, "DoesNotExist") for key in RESERVATION_KEYS if key in used]


def _column(requirements: Requirements, found: dict[int, KwokOffering], count: int) -> OfferingColumn:
    first = next(iter(found.values()))
    capacities = tuple(found[i].reservation_capacity if i in found else 0 for i in range(count))
    return OfferingColumn(
        zone=first.zone,
        capacity_type=first.capacity_type,
        requirements=requirements,
        types=mask_of(found),
        available=mask_of(i for i, offering in found.items() if offering.available and _has_capacity(offering)),
        prices=tuple(found[i].price if i in found else None for i in range(count)),
        reservation_id=first.reservation_id,
        reservation_capacity=capacities if first.capacity_type == "reserved" else (),
    )
