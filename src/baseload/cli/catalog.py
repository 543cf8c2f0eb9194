"""`baseload catalog`: which instance types there are, what they hold and what they cost."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

import click

from baseload.catalog import allocatable, listing, where
from baseload.catalog.columns import InstanceTypes
from baseload.catalog.ec2 import DEFAULT_REGION, Ec2Catalogue
from baseload.catalog.listing import Order, Price
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.cli import catalog_text as text
from baseload.cli import stderr
from baseload.cli.numbers import Real
from baseload.cli.output import OUTPUT, Printed, encoded
from baseload.plan.encode import API_VERSION
from baseload.values.errors import BadInput, Fault
from baseload.values.requirement import Requirements
from baseload.world import catalogue

_Command = TypeVar("_Command", bound=Callable[..., Any])


_USD: Final = Real(min=0)
_REGION: Final = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]+")
_SOURCE: Final = (
    click.option("--region", metavar="R", help=f"AWS region; {DEFAULT_REGION} when left out."),
    click.option("--catalog", "file", metavar="FILE", help="Types from a file in KWOK's format instead of EC2's."),
    click.option(
        "--max-pods", type=click.IntRange(0, 2**31 - 1), metavar="N", help="As kubelet.maxPods of a NodeClass."
    ),
    click.option("--embedded", is_flag=True, help="Pass over what `catalog refresh` has read."),
)


def _with_source(command: _Command) -> _Command:
    for option in reversed(_SOURCE):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the types come from; `ec2` is None for a file of the user's own."""

    types: InstanceTypes
    ec2: Ec2Catalogue | None
    notes: tuple[str, ...] = ()


def _source(region: str | None, file: str | None, max_pods: int | None, embedded: bool) -> _Source:
    if file is not None:
        if region is not None or max_pods is not None or embedded:
            raise click.UsageError("--region, --max-pods and --embedded say nothing of the types of --catalog FILE")
        return _Source(catalogue.from_file(file), None)
    name = DEFAULT_REGION if region is None else region
    opened = catalogue.open_ec2(name, ignore_cache=embedded)
    types = opened.catalogue.instance_types(name, settings=NodeClassSettings(max_pods=max_pods))
    assumed = () if region is not None else (f"no --region: {name}",)
    return _Source(types, opened.catalogue, (*assumed, *opened.notes, *types.notes))


def _say(notes: tuple[str, ...]) -> None:
    for note in notes:
        stderr.say(note)


@click.command("list")
@click.option(
    "--where",
    "texts",
    multiple=True,
    metavar="EXPR",
    help="A requirement on labels, e.g. 'karpenter.k8s.aws/instance-category in (c,m)'. Repeat or join by commas.",
)
@click.option("--capacity-type", type=click.Choice(listing.CAPACITY_TYPES), help="Only this capacity type's prices.")
@click.option(
    "--sort",
    "order",
    type=click.Choice(["price", "per-vcpu", "per-gib", "name"]),
    default="price",
    show_default=True,
    help="By the on-demand price, or by the spot price where that alone is shown.",
)
@click.option("--max-price", type=_USD, metavar="USD", help="At most this an hour, by the price that is ranked by.")
@click.option("--max-per-vcpu", type=_USD, metavar="USD", help="At most this an hour for each vCPU.")
@click.option("--max-per-gib", type=_USD, metavar="USD", help="At most this an hour for each GiB of memory.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The first N only.")
@_with_source
@OUTPUT
def list_(
    texts: tuple[str, ...],
    capacity_type: str | None,
    order: str,
    max_price: float | None,
    max_per_vcpu: float | None,
    max_per_gib: float | None,
    limit: int | None,
    region: str | None,
    file: str | None,
    max_pods: int | None,
    embedded: bool,
    output: str,
) -> Printed | None:
    """List instance types by requirement, region and price.

    \b
    baseload catalog list --where 'karpenter.k8s.aws/instance-category in (c,m)' --where 'kubernetes.io/arch=arm64'
    baseload catalog list --where 'karpenter.k8s.aws/instance-memory > 6144' --sort per-gib --limit 10
    """
    source = _source(region, file, max_pods, embedded)
    demand = where.parse(texts, source.types.labels.keys())
    if capacity_type is not None:
        demand = demand.add(listing.capacity_type_demand(capacity_type))
    found = listing.ordered(listing.select(source.types, demand), cast(Order, order))
    most: dict[Price, float | None] = {"price": max_price, "per-vcpu": max_per_vcpu, "per-gib": max_per_gib}
    asked = {price: usd for price, usd in most.items() if usd is not None}
    for price, usd in asked.items():
        found = listing.within(found, price, usd)
    shown = found[:limit]
    _say((*source.notes, _counted(shown, found, demand, asked)))
    if output != "table":
        content: text.Json = {
            "region": source.types.region,
            "notes": list(source.notes),
            "items": [text.as_object(type_) for type_ in shown],
        }
        return _encoded("InstanceTypeList", content, output)
    return text.list_text(shown) if shown else None


def _counted(
    shown: list[listing.Listed], found: list[listing.Listed], demand: Requirements, most: dict[Price, float]
) -> str:
    if not found:
        limits = [f"{'a price' if price == 'price' else price} of at most ${usd:g}" for price, usd in most.items()]
        return f"no instance type meets {' and '.join([*([str(demand)] if demand else []), *limits])}"
    types = "instance type" if len(found) == 1 else "instance types"
    return f"{len(shown)} of {len(found)} {types}" if len(shown) < len(found) else f"{len(found)} {types}"


@click.command()
@click.argument("name", metavar="TYPE")
@_with_source
@OUTPUT
def show(name: str, region: str | None, file: str | None, max_pods: int | None, embedded: bool, output: str) -> Printed:
    """Show all that is known of one instance type."""
    source = _source(region, file, max_pods, embedded)
    (type_,) = _find(source, (name,))
    _say(source.notes)
    pods = _pods(source.ec2, name, max_pods)
    if output != "table":
        content = {"region": source.types.region} | text.as_object(type_) | {"pods": pods}
        return _encoded("InstanceType", content, output)
    return text.show_text(type_, source.types.region, pods)


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="TYPE TYPE...")
@_with_source
@OUTPUT
def compare(
    names: tuple[str, ...], region: str | None, file: str | None, max_pods: int | None, embedded: bool, output: str
) -> Printed:
    """Set instance types side by side."""
    if len(set(names)) < 2:
        raise click.UsageError("a comparison needs two instance types at least")
    source = _source(region, file, max_pods, embedded)
    found = _find(source, names)
    _say(source.notes)
    if output != "table":
        content: text.Json = {"region": source.types.region, "types": [text.as_object(type_) for type_ in found]}
        return _encoded("InstanceTypeComparison", content, output)
    return text.compare_text(found)


@click.command()
@click.option("--region", default=DEFAULT_REGION, show_default=True, metavar="R", help="AWS region.")
def refresh(region: str) -> str | None:
    """Read types and prices from AWS into the user's cache.

    Needs the extra `aws` and the permissions ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings,
    ec2:DescribeAvailabilityZones, ec2:DescribeSpotPriceHistory and pricing:GetProducts. Without them the embedded
    catalogue stays in use, and a warning says so.
    """
    if _REGION.fullmatch(region) is None:
        raise BadInput(
            [Fault(f"{region!r} is no AWS region", allowed=f"e.g. {', '.join(catalogue.embedded().regions)}")]
        )
    refreshed = catalogue.refresh(region)
    _say(tuple(f"warning: {warning}" for warning in refreshed.warnings))
    return f"{refreshed.types} instance types written to {refreshed.file}\n" if refreshed.file else None


def _encoded(kind: str, content: text.Json, output: str) -> Printed:
    return encoded({"apiVersion": API_VERSION, "kind": kind} | content, output)


def _find(source: _Source, names: tuple[str, ...]) -> list[listing.Listed]:
    retired = [
        Fault(f"the instance type {name!r} is retired: AWS does not offer it any more")
        for name in names
        if source.ec2 is not None and (spec := source.ec2.spec(name)) is not None and spec.retired
    ]
    if retired:
        raise BadInput(retired)
    return listing.find(source.types, names)


def _pods(ec2: Ec2Catalogue | None, name: str, max_pods: int | None) -> dict[str, int]:
    """How many pods the type takes under each way to give them addresses."""
    spec = ec2.spec(name) if ec2 is not None else None
    if spec is None:
        return {}
    counts = {
        "interfaces": spec.enis,
        "addressesPerInterface": spec.ipv4_per_eni,
        "eniLimited": allocatable.eni_limited_pods(spec, NodeClassSettings()),
        "prefixDelegation": allocatable.prefix_pods(spec),
        "maxPods": max_pods,
    }
    return {what: number for what, number in counts.items() if number is not None}
