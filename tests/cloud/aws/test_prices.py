"""A region read from AWS, by clients that answer as AWS does."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from baseload.catalog import ec2_file
from baseload.catalog.ec2 import Ec2Catalogue
from baseload.catalog.nodeclass import DEFAULT
from baseload.cloud.aws import prices
from baseload.cloud.aws.prices import Account, Reading
from baseload.values.errors import Unreachable
from tests.catalog.ec2_catalogue import catalogue, price

NOW = datetime(2027, 1, 2, 3, 4, tzinfo=UTC)
ZONES = [
    {"ZoneId": "use1-az4", "ZoneName": "us-east-1a", "ZoneType": "availability-zone"},
    {"ZoneId": "use1-az1", "ZoneName": "us-east-1b", "ZoneType": "availability-zone"},
    {"ZoneId": "use1-bos1-az1", "ZoneName": "us-east-1-bos-1a", "ZoneType": "local-zone"},
]


class RefusedError(Exception):
    pass


def instance_type(name: str, **more: Any) -> dict[str, Any]:
    record = {
        "InstanceType": name,
        "SupportedUsageClasses": ["on-demand", "spot"],
        "BareMetal": False,
        "Hypervisor": "nitro",
        "ProcessorInfo": {
            "SupportedArchitectures": ["x86_64"],
            "SustainedClockSpeedInGhz": 3.1,
            "Manufacturer": "Intel",
        },
        "VCpuInfo": {"DefaultVCpus": 2},
        "MemoryInfo": {"SizeInMiB": 8192},
        "EbsInfo": {"EbsOptimizedSupport": "default", "EbsOptimizedInfo": {"MaximumBandwidthInMbps": 4750}},
        "NetworkInfo": {
            "NetworkPerformance": "Up to 10 Gigabit",
            "Ipv4AddressesPerInterface": 10,
            "DefaultNetworkCardIndex": 0,
            "NetworkCards": [{"MaximumNetworkInterfaces": 3, "BaselineBandwidthInGbps": 0.75}],
            "EncryptionInTransitSupported": False,
        },
        "NitroEnclavesSupport": "unsupported",
    }
    return record | more


def product(name: str, dollars: str) -> str:
    dimension = {"pricePerUnit": {"USD": dollars}}
    terms = {"OnDemand": {"t": {"priceDimensions": {"d": dimension}}}}
    return json.dumps({"product": {"attributes": {"instanceType": name}}, "terms": terms})


def quote(name: str, zone: str, dollars: str, minutes_ago: int) -> dict[str, Any]:
    timestamp = NOW - timedelta(minutes=minutes_ago)
    return {"InstanceType": name, "AvailabilityZone": zone, "SpotPrice": dollars, "Timestamp": timestamp}


class FakeClient:
    """Answers calls from a table; an exception in it is raised."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def describe_availability_zones(self, **_: Any) -> dict[str, Any]:
        zones: dict[str, Any] = self.answer("describe_availability_zones", {})
        return zones

    def get_paginator(self, operation_name: str) -> "FakePaginator":
        return FakePaginator(self, operation_name)

    def answer(self, operation: str, arguments: dict[str, Any]) -> Any:
        self.calls.append((operation, arguments))
        answer = self.answers[operation]
        if isinstance(answer, Exception):
            raise answer
        return answer


class FakePaginator:
    def __init__(self, client: FakeClient, operation: str) -> None:
        self.client = client
        self.operation = operation

    def paginate(self, **arguments: Any) -> Iterable[dict[str, Any]]:
        pages: Iterable[dict[str, Any]] = self.client.answer(self.operation, arguments)
        return pages


def offered(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"InstanceTypeOfferings": [{"InstanceType": name, "Location": zone} for name, zone in pairs]}]


def account(**answers: Any) -> Account:
    usual: dict[str, Any] = {
        "describe_availability_zones": {"AvailabilityZones": ZONES},
        "describe_instance_type_offerings": offered(
            ("m5.large", "use1-az1"),
            ("m5.large", "use1-az4"),
            ("m99.large", "use1-az4"),
            ("m99.large", "use1-bos1-az1"),
        ),
        "describe_instance_types": [
            {"InstanceTypes": [instance_type("m99.large")]},
            {"InstanceTypes": [instance_type("m5.large"), instance_type("nowhere.large")]},
        ],
        "describe_spot_price_history": [
            {
                "SpotPriceHistory": [
                    quote("m5.large", "us-east-1a", "0.04", 90),
                    quote("m5.large", "us-east-1a", "0.05", 9),
                ]
            }
        ],
        "get_products": [{"PriceList": [product("m5.large", "0.1"), product("m5.large", "0.0")]}],
    }
    client = FakeClient(**(usual | answers))
    return Account("us-east-1", client, client, (RefusedError,))


def read(**answers: Any) -> Reading:
    return prices.read(account(**answers), catalogue().figures, NOW)


def as_catalogue(reading: Reading) -> Ec2Catalogue:
    data = ec2_file.encode("2027-01-02", {}, reading.specs, {"us-east-1": reading.region})
    return Ec2Catalogue.from_bytes(data, "f")


def test_types_zones_and_prices_are_those_that_aws_says() -> None:
    types = as_catalogue(read()).instance_types("us-east-1", settings=DEFAULT)
    assert types.names == ("m5.large", "m99.large")
    assert price(types, "m5.large") == 0.1
    assert price(types, "m5.large", "spot", "us-east-1a") == 0.05
    assert all(column.estimated == 0 for column in types.offerings)
    assert types.notes == (
        "us-east-1: on-demand prices of 2027-01-02; 1 types without a known price are not planned with",
        "us-east-1: spot prices as AWS gave them on 2027-01-02",
    )


def test_a_zone_without_a_spot_quote_offers_no_spot() -> None:
    types = as_catalogue(read()).instance_types("us-east-1", settings=DEFAULT)
    assert price(types, "m5.large", "spot", "us-east-1b") is None


def test_letters_of_zones_are_those_of_the_account() -> None:
    region = read().region
    assert region.names == {"use1-az1": "us-east-1b", "use1-az4": "us-east-1a"}
    assert region.offered == [0b11, 0b10]


def test_a_known_type_reads_as_it_is_embedded() -> None:
    spec = read().specs[0]
    assert spec == catalogue().spec("m5.large")


def test_the_price_list_is_asked_for_shared_linux_machines_and_bare_metal() -> None:
    there = account()
    prices.read(there, catalogue().figures, NOW)
    assert isinstance(there.pricing, FakeClient)
    asked = [arguments["Filters"] for name, arguments in there.pricing.calls if name == "get_products"]
    values = [{term["Field"]: term["Value"] for term in terms} for terms in asked]
    assert [found["productFamily"] for found in values] == ["Compute Instance", "Compute Instance (bare metal)"]
    assert all((found["tenancy"], found["regionCode"]) == ("Shared", "us-east-1") for found in values)


def test_without_the_price_list_the_embedded_prices_stand_in_with_a_warning() -> None:
    reading = read(get_products=RefusedError("not authorized"))
    types = as_catalogue(reading).instance_types("us-east-1", settings=DEFAULT)
    assert price(types, "m5.large") == 0.096
    assert reading.region.published == "2026-07-20"
    assert reading.warnings == (
        "us-east-1: the embedded on-demand prices are used: not authorized (needs pricing:GetProducts)",
    )


def test_without_spot_prices_the_estimates_stand_in_with_a_warning() -> None:
    reading = read(describe_spot_price_history=[{"SpotPriceHistory": []}])
    types = as_catalogue(reading).instance_types("us-east-1", settings=DEFAULT)
    assert price(types, "m5.large", "spot", "us-east-1b") == 0.034
    assert "AWS returned none (needs ec2:DescribeSpotPriceHistory)" in reading.warnings[0]


@pytest.mark.parametrize(
    "call", ["describe_availability_zones", "describe_instance_type_offerings", "describe_instance_types"]
)
def test_without_types_or_zones_nothing_is_read(call: str) -> None:
    with pytest.raises(Unreachable, match="AWS, region us-east-1: no credentials"):
        read(**{call: RefusedError("no credentials")})


@pytest.mark.parametrize(
    ("network", "mbps"),
    [
        ({"NetworkPerformance": "50 Gigabit"}, 50_000),
        ({"NetworkPerformance": "4x 100 Gigabit"}, 400_000),
        ({"NetworkPerformance": "Up to 10 Gigabit"}, 750),
        ({"NetworkPerformance": "High", "NetworkCards": [{"MaximumNetworkInterfaces": 1}]}, None),
    ],
)
def test_bandwidth_is_what_is_promised_exactly_else_the_baseline(network: dict[str, Any], mbps: int | None) -> None:
    record = instance_type("m5.large")
    record["NetworkInfo"] |= network
    assert read(describe_instance_types=[{"InstanceTypes": [record]}]).specs[0].network_mbps == mbps


def test_pods_follow_from_the_default_network_card() -> None:
    record = instance_type("m5.large")
    cards = [{"MaximumNetworkInterfaces": 15}, {"MaximumNetworkInterfaces": 4}]
    record["NetworkInfo"] |= {"NetworkCards": cards, "DefaultNetworkCardIndex": 1}
    assert read(describe_instance_types=[{"InstanceTypes": [record]}]).specs[0].enis == 4


def test_devices_and_disks() -> None:
    neuron = {"NeuronDevices": [{"Count": 6, "Name": "Inferentia2", "CoreInfo": {"Count": 2}}]}
    gpu = {"Gpus": [{"Name": "T4", "Manufacturer": "NVIDIA", "Count": 1, "MemoryInfo": {"SizeInMiB": 16384}}]}
    record = instance_type(
        "m5.large", NeuronInfo=neuron, InstanceStorageInfo={"TotalSizeInGB": 75, "NvmeSupport": "required"}
    )
    spec = read(describe_instance_types=[{"InstanceTypes": [record]}]).specs[0]
    assert spec.device is not None
    assert (spec.device.count, spec.device.cores, spec.nvme_gb) == (6, 12, 75)
    spec = read(describe_instance_types=[{"InstanceTypes": [instance_type("m5.large", GpuInfo=gpu)]}]).specs[0]
    assert spec.device is not None
    assert (spec.device.name, spec.device.memory_mib) == ("T4", 16384)
