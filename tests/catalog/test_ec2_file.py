"""The file of EC2 figures."""

import gzip

import pytest

from baseload.catalog import ec2_file
from baseload.catalog.ec2 import Ec2Catalogue
from baseload.catalog.ec2_file import Device, Region, TypeSpec
from baseload.values.errors import BadInput

SPECS = [TypeSpec("a.large", "amd64", 2, 8192), TypeSpec("b.large", "arm64", 2, 8192, device=Device("T4", "NVIDIA", 1))]
REGION = Region("2026-01-01", ["z1"], {"z1": "za"}, [1, 0], [0.1, None], "..", [60, 0])


def test_what_is_written_is_read_again() -> None:
    figures = ec2_file.decode(ec2_file.encode("2026-01-02", {"me": "all"}, SPECS, {"here": REGION}), "f")
    assert figures.specs == tuple(SPECS)
    assert figures.region("here") == REGION
    assert (figures.generated, figures.sources) == ("2026-01-02", {"me": "all"})


def test_equal_figures_are_equal_bytes() -> None:
    first, second = (ec2_file.encode("2026-01-02", {}, SPECS, {"here": REGION}) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "data", [b"", b"{}", gzip.compress(b"{}", mtime=0), gzip.compress(b'{"v": 1, "names": [1]}', mtime=0), b"\x1f\x8b"]
)
def test_a_file_of_another_kind_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"other\.gz: not a catalogue of EC2 figures"):
        Ec2Catalogue.from_bytes(data, "other.gz")


def test_a_file_of_another_format_is_refused() -> None:
    data = gzip.decompress(ec2_file.encode("2026-01-02", {}, SPECS, {})).replace(b'"v":1', b'"v":9')
    with pytest.raises(BadInput, match="catalogue format 9"):
        Ec2Catalogue.from_bytes(gzip.compress(data), "other.gz")
