"""One instance type as KWOK's instance-type file describes it, and everything that can be wrong with such an entry.

    {"name": …, "architecture": …, "operatingSystems": […], "resources": {…}, "overhead": {…}, "labels": {…},
     "offerings": [{"Price": …, "Available": …, "ReservationCapacity": …, "Requirements": [{key, operator, values}]}]}

Field names are matched without regard to case, as Go's decoder does. A reading never stops at the first fault: what is
wrong is noted, and the entry goes on with what is left.
"""

import math
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from baseload.values import quantity
from baseload.values.errors import Fault
from baseload.values.label import (
    ARCH,
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    OS,
    RESERVATION_ID,
    ZONE,
    is_label_value,
    is_qualified_name,
    normalise,
)
from baseload.values.requirement import OPERATORS, Requirement, Requirements, invalid

DEFAULT_PODS: Final = 110 * quantity.UNIT

_TYPE_FIELDS: Final = ("name", "architecture", "operatingSystems", "resources", "overhead", "labels", "offerings")
_OFFERING_FIELDS: Final = ("Price", "Available", "Requirements", "ReservationCapacity")
_REQUIREMENT_FIELDS: Final = ("key", "operator", "values")


@dataclass(frozen=True, slots=True)
class KwokOffering:
    """One way to buy a type: in one zone, by one capacity type; `requirements` holds these and all else it says."""

    zone: str
    capacity_type: str
    requirements: Requirements
    price: float
    available: bool
    reservation_id: str = ""
    reservation_capacity: int = 0


@dataclass(frozen=True, slots=True)
class KwokType:
    """An entry of the file, checked; amounts are nano-units."""

    name: str
    architecture: str
    operating_systems: tuple[str, ...]
    resources: dict[str, int]
    overhead: dict[str, int]
    labels: dict[str, str]
    offerings: tuple[KwokOffering, ...]


class Faults:
    """What is wrong with one file, noted in the order in which it is met."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.noted: list[Fault] = []

    def note(self, path: str, message: str, allowed: str = "") -> None:
        self.noted.append(Fault(message, file=self.file, path=path, allowed=allowed))

    def fields(self, value: object, path: str, known: tuple[str, ...]) -> dict[str, object]:
        """The known fields of an object; anything else in it is noted, with the nearest known name."""
        if not isinstance(value, dict):
            self.note(path, f"Invalid value: {_shown(value)}", "an object")
            return {}
        names = {name.lower(): name for name in known}
        found: dict[str, object] = {}
        for name, content in value.items():
            if name.lower() in names:
                found[names[name.lower()]] = content
                continue
            near = get_close_matches(name.lower(), names, n=1)
            allowed = f"did you mean {names[near[0]]}?" if near else f"one of {', '.join(known)}"
            self.note(f"{path}.{name}", "unknown field", allowed)
        return found

    def text(self, fields: dict[str, object], name: str, path: str) -> str:
        """A required text that can be the value of a label."""
        value = fields.get(name)
        if value is None or value == "":
            self.note(f"{path}.{name}", "Required value")
        elif not isinstance(value, str) or not is_label_value(value):
            self.note(f"{path}.{name}", f"Invalid value: {_shown(value)}", "a label value")
        else:
            return value
        return ""

    def items(self, value: object, path: str) -> list[object]:
        """A list; an absent one is empty."""
        if value is None:
            return []
        if not isinstance(value, list):
            self.note(path, f"Invalid value: {_shown(value)}", "a list")
            return []
        return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_type(value: object, path: str, faults: Faults) -> KwokType:
    """An entry; when faults were noted, only its name can be relied on."""
    fields = faults.fields(value, path, _TYPE_FIELDS)
    name, architecture = faults.text(fields, "name", path), faults.text(fields, "architecture", path)
    offerings = tuple(
        offering
        for i, item in enumerate(faults.items(fields.get("offerings"), f"{path}.offerings"))
        for offering in _offerings(item, f"{path}.offerings[{i}]", faults)
    )
    _note_duplicates(offerings, f"{path}.offerings", faults)
    read = KwokType(
        name=name,
        architecture=architecture,
        operating_systems=_operating_systems(fields.get("operatingSystems"), f"{path}.operatingSystems", faults),
        resources={"pods": DEFAULT_PODS} | _resources(fields.get("resources"), f"{path}.resources", faults),
        overhead=_amounts(fields.get("overhead"), f"{path}.overhead", faults),
        labels=_labels(fields.get("labels"), f"{path}.labels", faults),
        offerings=offerings,
    )
    _note_contradictions(read, f"{path}.labels", faults)
    return read


def _resources(value: object, path: str, faults: Faults) -> dict[str, int]:
    for resource in ("cpu", "memory"):
        if value is None or (isinstance(value, dict) and resource not in value):
            faults.note(f"{path}.{resource}", "Required value")
    return _amounts(value, path, faults)


def _amounts(value: object, path: str, faults: Faults) -> dict[str, int]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        faults.note(path, f"Invalid value: {_shown(value)}", "an object of quantities")
        return {}
    amounts = {}
    for resource, written in value.items():
        where = f"{path}.{resource}"
        if not is_qualified_name(resource):
            faults.note(where, f"Invalid value: {_shown(resource)}", "the name of a resource")
        if isinstance(written, bool) or not isinstance(written, str | int | float):
            faults.note(where, f"Invalid value: {_shown(written)}", "a quantity, e.g. 500m or 4Gi")
            continue
        try:
            amount = quantity.parse(written)
        except quantity.QuantityError as error:
            faults.note(where, f"Invalid value: {_shown(written)}", str(error))
            continue
        if amount < 0:
            faults.note(where, f"Invalid value: {_shown(written)}", "must be greater than or equal to 0")
        amounts[resource] = amount
    return amounts


def _operating_systems(value: object, path: str, faults: Faults) -> tuple[str, ...]:
    systems = faults.items(value, path)
    if value is None or systems == []:
        faults.note(path, "Required value", 'a list of operating systems, e.g. ["linux"]')
    for i, system in enumerate(systems):
        if not isinstance(system, str) or not system or not is_label_value(system):
            faults.note(f"{path}[{i}]", f"Invalid value: {_shown(system)}", "a label value")
    return tuple(system for system in systems if isinstance(system, str))


def _labels(value: object, path: str, faults: Faults) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        faults.note(path, f"Invalid value: {_shown(value)}", "an object of texts")
        return {}
    labels: dict[str, str] = {}
    for key, said in value.items():
        where = f'{path}["{key}"]'
        if not is_qualified_name(key):
            faults.note(where, f"Invalid value: {_shown(key)}", "a label key")
        elif not isinstance(said, str) or not is_label_value(said):
            faults.note(where, f"Invalid value: {_shown(said)}", "a label value (numbers and booleans in quotes)")
        elif labels.setdefault(normalise(key), said) != said:
            faults.note(where, f"Invalid value: {_shown(said)}", f"another name of {normalise(key)}, which differs")
    return labels


def _offerings(value: object, path: str, faults: Faults) -> list[KwokOffering]:
    """What one entry offers: nothing when it is faulty, several when it lists several zones or capacity types."""
    before = len(faults.noted)
    fields = faults.fields(value, path, _OFFERING_FIELDS)
    price = _price(fields.get("Price"), f"{path}.Price", faults)
    available = fields.get("Available", True)
    if not isinstance(available, bool):
        faults.note(f"{path}.Available", f"Invalid value: {_shown(available)}", "true or false")
    where = f"{path}.Requirements"
    requirements = _requirements(fields.get("Requirements"), where, faults)
    zones = _listed(requirements, ZONE, where, faults)
    capacity_types = _listed(requirements, CAPACITY_TYPE, where, faults)
    reservations = _listed(requirements, RESERVATION_ID, where, faults) if "reserved" in capacity_types else [""]
    capacity = _reservation_capacity(fields, "reserved" in capacity_types, path, faults)
    if ("reserved" in capacity_types and len(capacity_types) > 1) or len(reservations) > 1:
        faults.note(where, f"Invalid value: {requirements}", "a reserved offering belongs to one reservation alone")
    if len(faults.noted) > before:
        return []
    return [
        KwokOffering(
            zone,
            capacity_type,
            requirements.add(Requirement.of(ZONE, "In", [zone]), Requirement.of(CAPACITY_TYPE, "In", [capacity_type])),
            price,
            bool(available),
            reservations[0],
            capacity,
        )
        for zone in zones
        for capacity_type in capacity_types
    ]


def _reservation_capacity(fields: dict[str, object], reserved: bool, path: str, faults: Faults) -> int:
    where = f"{path}.ReservationCapacity"
    capacity = fields.get("ReservationCapacity")
    if capacity is None:
        if reserved:
            faults.note(where, "Required value", "a reserved offering says how many instances are left")
        return 0
    if isinstance(capacity, bool) or not isinstance(capacity, int) or not 0 <= capacity < 2**31:
        faults.note(where, f"Invalid value: {_shown(capacity)}", "a count of instances")
        return 0
    if capacity and not reserved:
        faults.note(where, "Forbidden", "only a reserved offering has it")
    return capacity


def _price(value: object, path: str, faults: Faults) -> float:
    if value is None:
        faults.note(path, "Required value", "US dollars an hour")
    elif isinstance(value, bool) or not isinstance(value, int | float):
        faults.note(path, f"Invalid value: {_shown(value)}", "a number: US dollars an hour")
    elif not 0 <= value <= 1e6 or not math.isfinite(value):
        faults.note(path, f"Invalid value: {_shown(value)}", "US dollars an hour, from 0 to 1000000")
    else:
        return float(value)
    return 0.0


def _requirements(value: object, path: str, faults: Faults) -> Requirements:
    read = []
    for i, item in enumerate(faults.items(value, path)):
        where = f"{path}[{i}]"
        fields = faults.fields(item, where, _REQUIREMENT_FIELDS)
        key, operator = fields.get("key"), fields.get("operator")
        if not isinstance(key, str) or not key:
            faults.note(f"{where}.key", "Required value", "a label key")
            continue
        if not isinstance(operator, str) or operator not in OPERATORS:
            faults.note(f"{where}.operator", f"Unsupported value: {_shown(operator)}", f"one of {', '.join(OPERATORS)}")
            continue
        values = faults.items(fields.get("values"), f"{where}.values")
        texts = [text for text in values if isinstance(text, str)]
        if len(texts) < len(values):
            faults.note(f"{where}.values", f"Invalid value: {_shown(values)}", "a list of texts")
        elif (wrong := invalid(key, operator, texts, well_known={normalise(key)})) is not None:
            faults.note(where, f"Invalid value: {wrong}")
        else:
            read.append(Requirement.of(key, operator, texts))
    return Requirements.of(read)


def _listed(requirements: Requirements, key: str, path: str, faults: Faults) -> list[str]:
    """The values that an offering lists for a key: what a node launched from it gets as its label."""
    requirement = requirements.get(key)
    if requirement is None:
        faults.note(path, f"Required value: a requirement on {key}", "operator In")
    elif requirement.complement or not requirement.values:
        faults.note(path, f"Invalid value: {requirement}", "operator In: an offering says what it is")
    else:
        return sorted(requirement.values)
    return []


def _note_duplicates(offerings: tuple[KwokOffering, ...], path: str, faults: Faults) -> None:
    seen: set[Requirements] = set()
    for offering in offerings:
        if offering.requirements in seen:
            faults.note(path, f"Duplicate value: {offering.requirements}", "one offering for each")
        seen.add(offering.requirements)


def _note_contradictions(read: KwokType, path: str, faults: Faults) -> None:
    """Labels that the other fields decide may be repeated in `labels`, but not otherwise than there."""
    decided = {
        INSTANCE_TYPE: (read.name,),
        ARCH: (read.architecture,),
        OS: read.operating_systems,
        ZONE: tuple({offering.zone for offering in read.offerings}),
        CAPACITY_TYPE: tuple({offering.capacity_type for offering in read.offerings}),
    }
    for key, values in decided.items():
        if key in read.labels and values != (read.labels[key],):
            faults.note(f'{path}["{key}"]', f"Invalid value: {_shown(read.labels[key])}", "other fields say otherwise")
