"""The catalogue that the package carries, opened once for all tests, and short ways to ask it."""

from functools import cache
from importlib.resources import files
from typing import Any

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.ec2 import Ec2Catalogue
from baseload.catalog.nodeclass import DEFAULT, NodeClassSettings
from baseload.values.quantity import UNIT

MI, GI = 2**20 * UNIT, 2**30 * UNIT


@cache
def catalogue() -> Ec2Catalogue:
    return Ec2Catalogue.from_bytes((files("baseload.catalog") / "ec2.json.gz").read_bytes(), "ec2.json.gz")


def types_of(region: str = "us-east-1", settings: NodeClassSettings = DEFAULT, **options: Any) -> InstanceTypes:
    return catalogue().instance_types(region, settings=settings, **options)


def capacity(types: InstanceTypes, name: str, resource: str) -> int:
    return types.capacity[resource][types.names.index(name)]


def allocatable(types: InstanceTypes, name: str, resource: str) -> int:
    return types.allocatable[resource][types.names.index(name)]


def says(types: InstanceTypes, name: str, key: str) -> str:
    """What a type says of a label key."""
    position = types.names.index(name)
    (found,) = (requirement for requirement, mask in types.labels[key].groups if mask >> position & 1)
    return str(found).removeprefix(f"{key} ")


def price(types: InstanceTypes, name: str, capacity_type: str = "on-demand", zone: str = "") -> float | None:
    """The price of a type's first available offering of this kind, None where there is none."""
    position = types.names.index(name)
    for column in types.offerings:
        wanted = column.capacity_type == capacity_type and zone in ("", column.zone)
        if wanted and column.available >> position & 1:
            return column.prices[position]
    return None
