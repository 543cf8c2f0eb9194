"""Writes the package's catalogue of EC2 figures from the raw ones.

    python tools/build_catalog.py FOLDER

FOLDER holds four files of figures:

* `ec2_instance_types.json`: `types`, one record a type;
* `ec2_prices.json`: `regions`, US dollars an hour on demand; `adjusted`, `estimated`: which are not as published;
* `ec2_spot.json`: `regions`, [saving in per cent, interruption bucket] a type; `meta.default`, the saving by category;
* `ec2_catalog.json.gz`: the zones of each region and, as a mask, those that offer a type.

The sources of the figures stand in NOTICE. The folder is not part of the repository, so `make check` cannot rebuild the
output: this script records its own sum and that of its output in `tools/generated.sha256`.
"""

import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median_low
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from baseload.catalog import ec2_file
from baseload.catalog.ec2_file import ADJUSTED, ESTIMATED, PUBLISHED, Device, Region, TypeSpec
from tools import check_generated

OUTPUT = "src/baseload/catalog/ec2.json.gz"
SOURCES = {
    "moto 5.2.5 (Apache-2.0)": "types, zones",
    "karpenter-provider-aws 1d92708 (Apache-2.0)": "branch interfaces, prices of us-east-1 and GovCloud",
    "ec2.shop 74c9fd8 (MIT)": "prices of the other regions",
    "spotinfo 05e9331 (Apache-2.0)": "spot savings",
    "toil 9.6.0 (Apache-2.0)": "retired types",
}


def device(record: dict[str, Any]) -> Device | None:
    """No type has two kinds of GPU or accelerator."""
    devices = [*record["gpus"], *record["accelerators"]]
    assert len(devices) <= 1, record["name"]
    for found in devices:
        return Device(
            name=found["name"],
            manufacturer=found["manufacturer"],
            count=found["count"],
            memory_mib=found.get("memoryMiB"),
            cores=found.get("cores") or 0,
            kind=found.get("kind", "gpu"),
        )
    return None


def spec(record: dict[str, Any]) -> TypeSpec:
    return TypeSpec(
        name=record["name"],
        arch=record["arch"],
        vcpus=record["vcpus"],
        memory_mib=record["memoryMiB"],
        cpu_manufacturer=record["cpuManufacturer"],
        clock_mhz=record["clockMHz"],
        enis=record["enis"],
        ipv4_per_eni=record["ipv4PerEni"],
        branch_enis=record["podEni"] or 0,
        hypervisor=record["hypervisor"],
        bare_metal=record["bareMetal"],
        device=device(record),
        nvme_gb=record["localNvmeGB"],
        disk_gb=record["localDiskGB"],
        network_mbps=record["networkMbps"],
        ebs_mbps=record["ebsMbps"] if record["ebsOptimized"] == "default" else None,
        efas=record["efa"],
        encryption_in_transit=bool(record["encryptionInTransit"]),
        nitro_enclaves=bool(record["nitroEnclaves"]),
        prefix_delegation=bool(record["prefixDelegation"]),
        spot=record["spot"],
        on_demand=record["onDemand"],
        retired=record["retired"],
    )


def savings(records: list[dict[str, Any]], known: dict[str, list[int]], defaults: dict[str, int]) -> list[int]:
    """Per cent off a type: the region's own figure, else the family's median there, else the category's default."""
    by_family: dict[str, list[int]] = defaultdict(list)
    for record in records:
        if record["name"] in known:
            by_family[record["family"]].append(known[record["name"]][0])
    family = {name: median_low(found) for name, found in by_family.items()}
    return [
        known[record["name"]][0]
        if record["name"] in known
        else family.get(record["family"], defaults.get(record["category"], 0))
        for record in records
    ]


def region(name: str, zonal: dict[str, Any], records: list[dict[str, Any]], raw: dict[str, Any]) -> Region:
    prices: dict[str, float] = raw["prices"]["regions"][name]
    adjusted, estimated = set(raw["prices"]["adjusted"][name]), set(raw["prices"]["estimated"][name])
    names = [record["name"] for record in records]
    retired = [record["retired"] for record in records]
    return Region(
        published=raw["prices"]["meta"]["published"][name],
        zones=zonal["zones"],
        names=zonal["names"],
        offered=[0 if gone else mask for mask, gone in zip(zonal["mask"], retired, strict=True)],
        price=[prices.get(type_) for type_ in names],
        origin="".join(ESTIMATED if t in estimated else ADJUSTED if t in adjusted else PUBLISHED for t in names),
        saving=savings(records, raw["spot"]["regions"].get(name, {}), raw["spot"]["meta"]["default"]),
    )


def main(folder: Path) -> None:
    parts = ("instance_types", "prices", "spot")
    raw = {part: json.loads((folder / f"ec2_{part}.json").read_bytes()) for part in parts}
    zonal = json.loads(gzip.decompress((folder / "ec2_catalog.json.gz").read_bytes()))
    records = sorted(raw["instance_types"]["types"], key=lambda record: record["name"])
    assert [record["name"] for record in records] == zonal["names"]
    regions = {name: region(name, found, records, raw) for name, found in sorted(zonal["regions"].items())}
    data = ec2_file.encode(zonal["meta"]["generated"], SOURCES, [spec(record) for record in records], regions)
    (check_generated.ROOT / OUTPUT).write_bytes(data)
    check_generated.record(check_generated.ROOT, [__file__, str(check_generated.ROOT / OUTPUT)])
    print(f"{OUTPUT}: {len(data)} bytes, {len(records)} types, {len(regions)} regions")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
