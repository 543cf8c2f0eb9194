"""A region's instance types, zones and prices as AWS says now, with the embedded figures for what it does not say.

Types and zones must come from AWS, or the reading fails. Prices on demand come from the price list, which has an
endpoint in few regions and needs a permission of its own; spot prices need another. When one of them cannot be read,
the embedded prices stand in, marked as what they are, and a warning says so.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

import msgspec

from baseload.catalog.ec2_file import PUBLISHED, Figures, Region, TypeSpec
from baseload.cloud.aws import types
from baseload.cloud.aws.types import Record
from baseload.values.errors import Unreachable

PRICE_LIST_REGION: Final = "us-east-1"
_PRODUCTS: Final = ("Compute Instance", "Compute Instance (bare metal)")
_LINUX: Final = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"]
_Prices = Mapping[str, float]  # type -> US dollars an hour
_T = TypeVar("_T")


class Paginator(Protocol):
    def paginate(self, **arguments: Any) -> Iterable[Record]: ...


class Client(Protocol):
    """What is used of a boto3 client."""

    def get_paginator(self, operation_name: str, /) -> Paginator: ...


class EC2Client(Client, Protocol):
    def describe_availability_zones(self, **arguments: Any) -> Record: ...


@dataclass(frozen=True, slots=True)
class Account:
    """Clients of one account for one region, and the exceptions by which their calls fail."""

    region: str
    ec2: EC2Client
    pricing: Client
    failures: tuple[type[Exception], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a region, its lists aligned to `specs`; `warnings` say what could not be."""

    specs: tuple[TypeSpec, ...]
    region: Region
    warnings: tuple[str, ...]


def connect(region: str) -> Account:
    """Clients with the user's own credentials, found as every AWS tool finds them; raises Unreachable without boto3."""
    try:
        import boto3
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise Unreachable("boto3 is not installed: install baseload[aws]") from error
    try:
        return Account(
            region,
            boto3.client("ec2", region_name=region),
            boto3.client("pricing", region_name=PRICE_LIST_REGION),
            (BotoCoreError, ClientError),
        )
    except BotoCoreError as error:
        raise Unreachable(f"AWS, region {region}: {error}") from error


def read(account: Account, embedded: Figures, now: datetime) -> Reading:
    """Everything of a region; raises Unreachable when its types or zones cannot be read."""
    known = {spec.name: spec for spec in embedded.specs}
    try:
        zones = _zones(account.ec2)
        offered = _offered(account.ec2, list(zones))
        specs = tuple(sorted(_specs(account.ec2, known, offered), key=lambda spec: spec.name))
    except account.failures as error:
        raise Unreachable(f"AWS, region {account.region}: {error}") from error
    region = Region(
        published=now.date().isoformat(),
        zones=list(zones),
        names=zones,
        offered=[offered[spec.name] for spec in specs],
        price=[None] * len(specs),
        origin=PUBLISHED * len(specs),
        saving=[0] * len(specs),
    )
    reading = _with_embedded(Reading(specs, region, ()), embedded, account.region)
    reading = _with_on_demand(reading, account, now)
    return _with_spot(reading, account, now)


def _zones(ec2: EC2Client) -> dict[str, str]:
    """Zone id -> zone name in this account, by id."""
    found = ec2.describe_availability_zones()["AvailabilityZones"]
    usable = [zone for zone in found if zone.get("ZoneType", "availability-zone") == "availability-zone"]
    return {zone["ZoneId"]: zone["ZoneName"] for zone in sorted(usable, key=lambda zone: str(zone["ZoneId"]))}


def _offered(ec2: Client, zones: list[str]) -> dict[str, int]:
    """Type -> mask of the zones that offer it."""
    masks: dict[str, int] = {}
    for page in ec2.get_paginator("describe_instance_type_offerings").paginate(LocationType="availability-zone-id"):
        for offering in page["InstanceTypeOfferings"]:
            if offering["Location"] in zones:
                bit = 1 << zones.index(offering["Location"])
                masks[offering["InstanceType"]] = masks.get(offering["InstanceType"], 0) | bit
    return masks


def _specs(ec2: Client, known: Mapping[str, TypeSpec], offered: Mapping[str, int]) -> Iterator[TypeSpec]:
    for page in ec2.get_paginator("describe_instance_types").paginate(PaginationConfig={"PageSize": 100}):
        for record in page["InstanceTypes"]:
            name = record["InstanceType"]
            spec = types.spec(record, known[name].branch_enis if name in known else 0)
            if spec is not None and name in offered:
                yield spec


def _with_embedded(reading: Reading, embedded: Figures, name: str) -> Reading:
    """The prices and savings that the package carries for the region."""
    if name not in embedded.regions:
        return reading
    old = embedded.region(name)
    position = {spec.name: i for i, spec in enumerate(embedded.specs)}
    places = [position.get(spec.name) for spec in reading.specs]
    region = msgspec.structs.replace(
        reading.region,
        published=old.published,
        price=[None if place is None else old.price[place] for place in places],
        origin="".join(PUBLISHED if place is None else old.origin[place] for place in places),
        saving=[0 if place is None else old.saving[place] for place in places],
    )
    return replace(reading, region=region)


def _with_on_demand(reading: Reading, account: Account, now: datetime) -> Reading:
    prices, warning = _tried(lambda: _on_demand(account), account, "on-demand prices", "pricing:GetProducts")
    if not prices:
        return replace(reading, warnings=(*reading.warnings, warning))
    region = msgspec.structs.replace(
        reading.region,
        published=now.date().isoformat(),
        price=[prices.get(spec.name) for spec in reading.specs],
        origin=PUBLISHED * len(reading.specs),
    )
    return replace(reading, region=region)


def _on_demand(account: Account) -> _Prices:
    wanted = {
        "regionCode": account.region,
        "operatingSystem": "Linux",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
        "tenancy": "Shared",
    }
    prices: dict[str, float] = {}
    for family in _PRODUCTS:
        terms = [
            {"Type": "TERM_MATCH", "Field": k, "Value": v} for k, v in (wanted | {"productFamily": family}).items()
        ]
        for page in account.pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=terms):
            for text in page["PriceList"]:
                product = json.loads(text)
                for price in _dollars(product):
                    prices[product["product"]["attributes"]["instanceType"]] = price
    return prices


def _dollars(product: Record) -> Iterator[float]:
    """The hourly price of a product; the list also carries products at no price, which are not for sale."""
    for term in product["terms"].get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            if (price := float(dimension["pricePerUnit"].get("USD", 0))) > 0:
                yield price


def _with_spot(reading: Reading, account: Account, now: datetime) -> Reading:
    prices, warning = _tried(lambda: _spot(account.ec2, now), account, "spot prices", "ec2:DescribeSpotPriceHistory")
    if not prices:
        return replace(reading, warnings=(*reading.warnings, warning))
    spot = {id: [prices.get((spec.name, name)) for spec in reading.specs] for id, name in reading.region.names.items()}
    return replace(reading, region=msgspec.structs.replace(reading.region, spot=spot))


def _spot(ec2: Client, now: datetime) -> dict[tuple[str, str], float]:
    """(type, zone name) -> the newest price."""
    newest: dict[tuple[str, str], tuple[datetime, float]] = {}
    pages = ec2.get_paginator("describe_spot_price_history").paginate(StartTime=now, ProductDescriptions=_LINUX)
    for page in pages:
        for entry in page["SpotPriceHistory"]:
            pool = entry["InstanceType"], entry["AvailabilityZone"]
            quoted = entry["Timestamp"], float(entry["SpotPrice"])
            newest[pool] = max(quoted, newest.get(pool, quoted))
    return {pool: price for pool, (_, price) in newest.items()}


def _tried(call: Callable[[], _T], account: Account, what: str, permission: str) -> tuple[_T | None, str]:
    """The result of a call, or None and why there is none."""
    why = "AWS returned none"
    try:
        if result := call():
            return result, ""
    except account.failures as error:
        why = str(error)
    return None, f"{account.region}: the embedded {what} are used: {why} (needs {permission})"
