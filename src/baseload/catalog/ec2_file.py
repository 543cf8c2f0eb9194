"""The file of EC2 figures: gzipped JSON in columns, one value a type and column, all aligned to the list of names.

A column with few different values is written as a dictionary and positions in it: `{"d": [values], "i": [positions]}`.
Figures of a region lie apart from one another and are decoded when the region is first asked for, so that opening the
file costs little. Of each region it knows:

* `zones`: zone ids (letters differ from account to account), and `names`, the letters of one account;
* `offered`: a mask a type, bit k for `zones[k]`; 0 where the region does not have the type;
* `price`: US dollars an hour on demand, and `origin`, a letter a type: `.` published, `a` an older published price
  adjusted by what the type's price did elsewhere since, `e` estimated;
* `saving`: per cent off on demand on the spot market, an average of the past;
* `spot`: spot prices as they were read from AWS, zone id -> one price a type; in refreshed files alone.
"""

import gzip
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from baseload.values.errors import BadInput, Fault

VERSION: Final = 1
PUBLISHED, ADJUSTED, ESTIMATED = ".", "a", "e"


class Device(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The one kind of GPU or accelerator that a type has."""

    name: str
    manufacturer: str
    count: int
    memory_mib: int | None = None
    cores: int = 0  # of all devices together
    kind: str = "gpu"  # gpu, neuron, inference, fpga, media


class TypeSpec(msgspec.Struct, frozen=True, gc=False):
    """What EC2 says of an instance type; None where it says nothing."""

    name: str
    arch: str
    vcpus: int
    memory_mib: int
    cpu_manufacturer: str | None = None
    clock_mhz: int | None = None
    enis: int | None = None  # of the default network card, which alone carries pods
    ipv4_per_eni: int | None = None
    branch_enis: int = 0  # 0 also where trunking is not supported
    hypervisor: str | None = None
    bare_metal: bool = False
    device: Device | None = None
    nvme_gb: int = 0
    disk_gb: int = 0  # all local disks, NVMe or not
    network_mbps: int | None = None
    ebs_mbps: int | None = None  # only where EBS optimisation is on by default
    efas: int = 0
    encryption_in_transit: bool = False
    nitro_enclaves: bool = False
    prefix_delegation: bool = False
    spot: bool = True
    on_demand: bool = True
    retired: bool = False  # known by name, never offered any more


class Region(msgspec.Struct, frozen=True):
    """What a region offers; the lists are aligned to the catalogue's names."""

    published: str  # the day of the price list
    zones: list[str]
    names: dict[str, str]  # zone id -> zone name
    offered: list[int]
    price: list[float | None]
    origin: str
    saving: list[int]
    spot: dict[str, list[float | None]] = {}


class _File(msgspec.Struct, frozen=True):
    v: int
    generated: str
    sources: dict[str, str]
    names: list[str]
    columns: dict[str, msgspec.Raw]
    regions: dict[str, msgspec.Raw]


class _Coded(msgspec.Struct, frozen=True):
    d: list[msgspec.Raw]
    i: list[int]


class Figures(msgspec.Struct, frozen=True):
    """A file's content; `regions` still encoded."""

    generated: str
    sources: dict[str, str]
    specs: tuple[TypeSpec, ...]
    regions: dict[str, msgspec.Raw]

    def region(self, name: str) -> Region:
        return msgspec.json.decode(self.regions[name], type=Region)


def decode(data: bytes, file: str) -> Figures:
    """The figures of a file, given as its bytes."""
    try:
        read = msgspec.json.decode(gzip.decompress(data), type=_File)
        if read.v != VERSION:
            fault = Fault(f"catalogue format {read.v}", file=file, allowed=f"format {VERSION}: refresh it")
            raise BadInput([fault])
        columns = {field.name: _column(field, read) for field in msgspec.structs.fields(TypeSpec)}
        specs = tuple(TypeSpec(*row) for row in zip(*columns.values(), strict=True))
    except (msgspec.DecodeError, EOFError, OSError, zlib.error, LookupError, ValueError) as error:
        raise BadInput([Fault(f"not a catalogue of EC2 figures: {error}", file=file)]) from error
    return Figures(read.generated, read.sources, specs, read.regions)


def _column(field: msgspec.structs.FieldInfo, read: _File) -> list[object]:
    if field.name == "name":
        return list(read.names)
    raw = read.columns[field.name]
    if bytes(memoryview(raw)[:1]) == b"{":
        coded = msgspec.json.decode(raw, type=_Coded)
        values = [msgspec.json.decode(value, type=field.type) for value in coded.d]
        return [values[position] for position in coded.i]
    plain: list[object] = msgspec.json.decode(raw, type=list[field.type])  # type: ignore[name-defined]
    return plain


def encode(generated: str, sources: dict[str, str], specs: Sequence[TypeSpec], regions: Mapping[str, Region]) -> bytes:
    """The bytes of a file; the same figures give the same bytes."""
    fields = [field.name for field in msgspec.structs.fields(TypeSpec) if field.name != "name"]
    content = {
        "v": VERSION,
        "generated": generated,
        "sources": sources,
        "names": [spec.name for spec in specs],
        "columns": {field: _coded([getattr(spec, field) for spec in specs]) for field in fields},
        "regions": regions,
    }
    return gzip.compress(msgspec.json.encode(content), compresslevel=9, mtime=0)


def _coded(values: list[object]) -> object:
    """A column as it takes the least room."""
    texts = [msgspec.json.encode(value) for value in values]
    known = {text: position for position, text in enumerate(sorted(set(texts)))}
    if len(known) * 4 > len(values):
        return values
    return {"d": [msgspec.Raw(text) for text in known], "i": [known[text] for text in texts]}
