"""Instance types and their offerings as a pool sees them (§12.2, §28.1, §32.4-5), overlays applied (§23)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from . import algebra, resources
from .algebra import CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL, RESERVATION_ID, ZONE, Manifest, Requirements
from .resources import Amounts

INFINITE = Fraction(10**30)
NEVER_OVERLAID = ("cpu", "memory", "ephemeral-storage", "pods")


@dataclass(frozen=True)
class Offering:
    requirements: Requirements
    price: Fraction
    available: bool
    reservation: str | None
    count: int

    def single(self, key: str) -> str:
        values = self.requirements[key].values if key in self.requirements else frozenset()
        return min(values) if values else ""

    @property
    def zone(self) -> str:
        return self.single(ZONE)

    @property
    def capacity_type(self) -> str:
        return self.single(CAPACITY_TYPE)


@dataclass(frozen=True)
class InstanceType:
    name: str
    requirements: Requirements
    capacity: Amounts
    overhead: Amounts
    offerings: tuple[Offering, ...]

    @property
    def allocatable(self) -> Amounts:
        return resources.allocatable(self.capacity, self.overhead)


def offering_of(listed: Manifest, known: Iterable[str]) -> Offering:
    """§17.1; a key that other offerings carry and this one lacks is DoesNotExist, as AWS says it (§26.11)."""
    requirements = algebra.from_expressions(listed.get("Requirements") or ())
    reserved = algebra.has(requirements.get(CAPACITY_TYPE, algebra.exists(CAPACITY_TYPE)), "reserved")
    reserved = reserved and CAPACITY_TYPE in requirements
    reservation = min(requirements[RESERVATION_ID].values) if reserved and RESERVATION_ID in requirements else None
    count = int(listed.get("ReservationCapacity") or 0)
    available = bool(listed.get("Available", True)) and (not reserved or count > 0)
    absent = (algebra.requirement(key, "DoesNotExist") for key in known if key not in requirements)
    price = Fraction(str(listed.get("Price", 0)))
    return Offering(algebra.add(requirements, absent), price, available, reservation, count)


def offering_keys(catalog: Iterable[Manifest]) -> frozenset[str]:
    offerings = (offering for listed in catalog for offering in listed.get("offerings") or ())
    keys = {algebra.normalise(r["key"]) for offering in offerings for r in offering.get("Requirements") or ()}
    return frozenset(keys)


def well_known(catalog: list[Manifest]) -> frozenset[str]:
    """§4.6, last paragraph."""
    labels = {algebra.normalise(key) for listed in catalog for key in listed.get("labels") or {}}
    return algebra.CORE_WELL_KNOWN | labels | offering_keys(catalog)


def type_of(listed: Manifest, label_keys: Iterable[str], keys: frozenset[str]) -> InstanceType:
    """§12.2: the type's own set; what it does not have is DoesNotExist."""
    offerings = tuple(offering_of(o, keys) for o in listed.get("offerings") or ())
    available = [o for o in offerings if o.available]
    requirements = algebra.add(
        {},
        [
            algebra.requirement(INSTANCE_TYPE, "In", [listed["name"]]),
            algebra.requirement(algebra.ARCH, "In", [listed["architecture"]]),
            algebra.requirement(algebra.OS, "In", listed["operatingSystems"]),
        ],
    )
    labels = {algebra.normalise(key): value for key, value in (listed.get("labels") or {}).items()}
    for key in label_keys:
        if key not in requirements:
            requirements[key] = algebra.requirement(key, "In", [labels[key]] if key in labels else [])
    for key in sorted(keys | {ZONE, CAPACITY_TYPE}):
        values = [v for o in available if key in o.requirements for v in o.requirements[key].values]
        if key not in labels:
            requirements[key] = algebra.requirement(key, "In", values)
    capacity = {"pods": 110 * resources.UNIT, **resources.amounts(listed.get("resources"))}
    return InstanceType(listed["name"], requirements, capacity, resources.amounts(listed.get("overhead")), offerings)


def types_of(catalog: list[Manifest]) -> list[InstanceType]:
    labels = sorted({algebra.normalise(key) for listed in catalog for key in listed.get("labels") or {}})
    keys = offering_keys(catalog)
    return [type_of(listed, labels, keys) for listed in catalog]


def price(instance_type: InstanceType, wanted: Requirements, known: frozenset[str]) -> Fraction:
    """§12.5."""
    return min((o.price for o in open_offerings(instance_type, wanted, known)), default=INFINITE)


def open_offerings(instance_type: InstanceType, wanted: Requirements, known: frozenset[str]) -> list[Offering]:
    return [o for o in instance_type.offerings if o.available and algebra.compatible(wanted, o.requirements, known)]


@dataclass(frozen=True)
class Overlay:
    """A NodeOverlay; `touched` tells which offerings (by place) of which pool's types it selects."""

    name: str
    weight: int
    spec: Manifest
    touched: Mapping[tuple[str, str], tuple[int, ...]]


def selected(pool: Manifest, instance_type: InstanceType, spec: Manifest, known: frozenset[str]) -> tuple[int, ...]:
    """§23.2: the offerings an overlay selects; none when the type as such is not selected."""
    requirements = algebra.from_expressions(spec.get("requirements") or ())
    labels = pool["spec"]["template"].get("metadata", {}).get("labels") or {}
    subject = algebra.add(
        algebra.from_labels(labels), [algebra.requirement(NODEPOOL, "In", [pool["metadata"]["name"]])]
    )
    subject = algebra.merged(subject, instance_type.requirements)
    if not algebra.compatible(subject, requirements):
        return ()
    offerings = enumerate(instance_type.offerings)
    return tuple(i for i, o in offerings if algebra.compatible(requirements, o.requirements, known))


def overlays_of(
    objects: list[Manifest], pools: list[Manifest], types: list[InstanceType], known: frozenset[str]
) -> list[Overlay]:
    """§23.1 order, §23.5 conflicts left out."""
    listed = [o for o in objects if o["kind"] == "NodeOverlay"]
    listed.sort(key=lambda o: o["metadata"]["name"], reverse=True)
    listed.sort(key=lambda o: o["spec"].get("weight") or 0, reverse=True)
    kept: list[Overlay] = []
    last_weight: dict[tuple[str, ...], int] = {}
    for obj in listed:
        spec, weight = obj["spec"], obj["spec"].get("weight") or 0
        touched = {
            (pool["metadata"]["name"], t.name): places
            for pool in pools
            for t in types
            if (places := selected(pool, t, spec, known))
        }
        keys = [
            *((*pair, "price", str(i)) for pair, places in touched.items() for i in places if sets_price(spec)),
            *((*pair, "capacity", name) for pair in touched for name in spec.get("capacity") or {}),
        ]
        if any(last_weight.get(key) == weight for key in keys):
            continue
        last_weight.update(dict.fromkeys(keys, weight))
        kept.append(Overlay(obj["metadata"]["name"], weight, spec, touched))
    return kept


def sets_price(spec: Manifest) -> bool:
    return spec.get("price") is not None or spec.get("priceAdjustment") is not None


def overlaid_price(spec: Manifest, old: Fraction) -> Fraction:
    """§23.3."""
    if spec.get("price") is not None:
        return max(Fraction(str(spec["price"])), Fraction(0))
    adjustment = str(spec["priceAdjustment"])
    if adjustment.endswith("%"):
        return max(old * (1 + Fraction(adjustment[:-1]) / 100), Fraction(0))
    return max(old + Fraction(adjustment), Fraction(0))


def overlaid(pool: str, instance_type: InstanceType, overlays: list[Overlay]) -> InstanceType:
    """§23.3-4: the heaviest wins by offering and by resource."""
    offerings, more = list(instance_type.offerings), Amounts()
    priced: set[int] = set()
    for overlay in overlays:
        places = overlay.touched.get((pool, instance_type.name), ())
        for i in places:
            if sets_price(overlay.spec) and i not in priced:
                priced.add(i)
                offerings[i] = replace(offerings[i], price=overlaid_price(overlay.spec, offerings[i].price))
        for name, value in (overlay.spec.get("capacity") or {}).items():
            if places and name not in more and name not in NEVER_OVERLAID:
                more[name] = resources.quantity(value)
    capacity = {**instance_type.capacity, **more}
    return replace(instance_type, capacity=capacity, offerings=tuple(offerings))
