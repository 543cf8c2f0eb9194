"""How instance types are written: for people as aligned tables, for programs as JSON or YAML.

A price that nobody published stands with a tilde before it, and a line under the table says what that means; in JSON it
carries `estimated: true`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from baseload.catalog.listing import CAPACITY_TYPES, Listed, Offer
from baseload.report.table import columns as aligned
from baseload.values import resource as resources
from baseload.values.quantity import UNIT

ESTIMATE: Final = "~ an estimate, no published price"
_PODS: Final = {
    "interfaces": "interfaces of the default network card",
    "addressesPerInterface": "IPv4 addresses of each",
    "eniLimited": "pods by these addresses",
    "prefixDelegation": "pods with prefix delegation",
    "maxPods": "pods with kubelet.maxPods",
}
_COMPARED: Final = {
    "processor": "karpenter.k8s.aws/instance-cpu-manufacturer",
    "clock MHz": "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
    "network Mbps": "karpenter.k8s.aws/instance-network-bandwidth",
    "EBS Mbps": "karpenter.k8s.aws/instance-ebs-bandwidth",
    "local NVMe GB": "karpenter.k8s.aws/instance-local-nvme",
}
Row = Sequence[str]
Json = dict[str, object]


def table(header: Row, rows: Iterable[Row], left: int = 1) -> str:
    """Columns wide enough for all they hold; the first `left` of them flush left, the others right."""
    lines = aligned(header, list(rows), right=frozenset(range(left, len(header))))
    return "".join(f"{line}\n" for line in lines)


def dollars(offer: Offer | None, decimals: int) -> str:
    """The price of an offer that can be had."""
    if offer is None or offer.price is None or not offer.available:
        return "-"
    return ("~" if offer.estimated else "") + f"{offer.price:.{decimals}f}"


def decimals(offers: Iterable[Offer | None]) -> int:
    """How many decimals write all of these prices exactly: four at least, six at most."""
    written = [f"{offer.price:.6f}".rstrip("0") for offer in offers if offer is not None and offer.price is not None]
    return max([4, *(len(text.partition(".")[2]) for text in written)])


def gib(amount: float) -> str:
    return f"{amount:.2f}".rstrip("0").rstrip(".")


def mib(nanos: int) -> str:
    return f"{nanos // UNIT // 2**20}Mi"


def amount(resource: str, nanos: int) -> str:
    """A quantity as people write that resource."""
    if resource == "memory" and nanos % (2**20 * UNIT) == 0:
        return mib(nanos)
    return resources.written(resource, nanos)


def per(offer: Offer | None, divisor: float) -> str:
    if offer is None or offer.price is None or not divisor:
        return "-"
    return ("~" if offer.estimated else "") + f"{offer.price / divisor:.5f}"


def prices(listed: Sequence[Listed], capacity_type: str) -> list[str]:
    """The lowest price of each type, all with equally many decimals."""
    offers = [type_.cheapest(capacity_type) for type_ in listed]
    places = decimals(offers)
    return [dollars(offer, places) for offer in offers]


def legend(texts: Iterable[str], compared: str = "") -> str:
    """The lines under a table: what its tilde means, and which price was divided."""
    lines = [f"per vCPU and per GiB: of the {compared} price"] if compared else []
    if any("~" in text for text in texts):
        lines.append(ESTIMATE)
    return "".join(f"{line}\n" for line in lines)


def capacity_types(listed: Sequence[Listed]) -> list[str]:
    """Those that are offered of any of the types."""
    offered = {offer.capacity_type for type_ in listed for offer in type_.offers}
    return [name for name in CAPACITY_TYPES if name in offered]


def list_text(listed: Sequence[Listed]) -> str:
    kinds = capacity_types(listed)
    columns = {
        "NAME": [type_.name for type_ in listed],
        "ARCH": [type_.architecture for type_ in listed],
        "VCPU": [f"{type_.vcpus:g}" for type_ in listed],
        "GIB": [gib(type_.gib) for type_ in listed],
        "PODS": [f"{type_.capacity.get('pods', 0) // UNIT}" for type_ in listed],
        "CPU LEFT": [amount("cpu", type_.allocatable.get("cpu", 0)) for type_ in listed],
        "MEMORY LEFT": [mib(type_.allocatable.get("memory", 0)) for type_ in listed],
        **{kind.upper(): prices(listed, kind) for kind in kinds},
        "PER VCPU": [per(type_.compared, type_.vcpus) for type_ in listed],
        "PER GIB": [per(type_.compared, type_.gib) for type_ in listed],
    }
    text = table(list(columns), zip(*columns.values(), strict=True), left=2)
    return f"{text}\n{legend([text], kinds[0] if kinds else '')}"


def show_text(type_: Listed, region: str, pods: Mapping[str, int]) -> str:
    """Everything about one type; `pods` as in the JSON contract."""
    where = f" in {region}" if region else ""
    resources = [
        [resource, amount(resource, held), amount(resource, type_.allocatable.get(resource, 0))]
        for resource, held in type_.capacity.items()
    ]
    parts = [
        f"{type_.name}{where}: {type_.vcpus:g} vCPU, {gib(type_.gib)} GiB, {type_.architecture}\n",
        table(["RESOURCE", "CAPACITY", "ALLOCATABLE"], resources),
        table(["PODS", "NUMBER"], [[_PODS[what], str(number)] for what, number in pods.items()]) if pods else "",
        _offers_text(type_),
        table(["LABEL", "VALUE"], [[key, ", ".join(type_.labels[key])] for key in sorted(type_.labels)], left=2),
    ]
    return "\n".join(part for part in parts if part)


def _offers_text(type_: Listed) -> str:
    kinds = capacity_types([type_])
    zones = list(dict.fromkeys((offer.zone, offer.zone_id) for offer in type_.offers))
    columns = []
    for kind in kinds:
        offers = {offer.zone: offer for offer in type_.offers if offer.capacity_type == kind}
        places, cheapest = decimals(offers.values()), type_.cheapest(kind)
        cells = [dollars(offers.get(zone), places) for zone, _ in zones]
        columns.append([*cells, per(cheapest, type_.vcpus), per(cheapest, type_.gib)])
    places_ = [[zone, id] for zone, id in zones] + [["per vCPU", ""], ["per GiB", ""]]
    rows = [[*place, *(column[i] for column in columns)] for i, place in enumerate(places_)]
    text = table(["ZONE", "ZONE ID", *(kind.upper() for kind in kinds)], rows, left=2)
    return text + legend([text])


def compare_text(listed: Sequence[Listed]) -> str:
    kinds = capacity_types(listed)
    resources = dict.fromkeys(resource for type_ in listed for resource in type_.capacity)
    rows = {
        "architecture": [type_.architecture for type_ in listed],
        "vCPU": [f"{type_.vcpus:g}" for type_ in listed],
        "GiB": [gib(type_.gib) for type_ in listed],
        **{f"allocatable {resource}": _allocatable(listed, resource) for resource in resources},
        **{what: [", ".join(type_.labels.get(key, ("-",))) for type_ in listed] for what, key in _COMPARED.items()},
        **{f"{kind} an hour": prices(listed, kind) for kind in kinds},
        **{f"{kind} per vCPU": [per(type_.cheapest(kind), type_.vcpus) for type_ in listed] for kind in kinds},
        **{f"{kind} per GiB": [per(type_.cheapest(kind), type_.gib) for type_ in listed] for kind in kinds},
    }
    told = [[what, *cells] for what, cells in rows.items() if any(cell != "-" for cell in cells)]
    text = table(["", *(type_.name for type_ in listed)], told)
    return text + legend([text])


def _allocatable(listed: Sequence[Listed], resource: str) -> list[str]:
    return [
        amount(resource, type_.allocatable.get(resource, 0)) if resource in type_.capacity else "-" for type_ in listed
    ]


def as_object(type_: Listed) -> Json:
    """A type as the JSON contract has it."""
    return {
        "name": type_.name,
        "architecture": type_.architecture,
        "operatingSystems": list(type_.operating_systems),
        "capacity": {resource: amount(resource, held) for resource, held in type_.capacity.items()},
        "allocatable": {resource: amount(resource, held) for resource, held in type_.allocatable.items()},
        "labels": {key: list(values) for key, values in sorted(type_.labels.items())},
        "prices": [
            _price_object(type_, offer) for kind in CAPACITY_TYPES if (offer := type_.cheapest(kind)) is not None
        ],
        "offerings": [_offer_object(offer) for offer in type_.offers],
    }


def _price_object(type_: Listed, offer: Offer) -> Json:
    found = offer.price or 0.0
    return {
        "capacityType": offer.capacity_type,
        "pricePerHour": found,
        "estimated": offer.estimated,
        "perVCPU": round(found / type_.vcpus, 8) if type_.vcpus else None,
        "perGiB": round(found / type_.gib, 8) if type_.gib else None,
    }


def _offer_object(offer: Offer) -> Json:
    return {
        "zone": offer.zone,
        "zoneID": offer.zone_id,
        "capacityType": offer.capacity_type,
        "pricePerHour": offer.price,
        "estimated": offer.estimated,
        "available": offer.available,
    }
