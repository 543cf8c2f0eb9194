"""Which catalogue a command uses."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from baseload.catalog import ec2_file
from baseload.catalog.ec2_file import Region, TypeSpec
from baseload.catalog.nodeclass import DEFAULT
from baseload.cloud.aws import prices
from baseload.cloud.aws.prices import Account, Reading
from baseload.values.errors import BadInput
from baseload.world import catalogue

READING = Reading(
    (TypeSpec("m5.large", "amd64", 2, 8192, enis=3, ipv4_per_eni=10),),
    Region("2027-01-02", ["use1-az1"], {"use1-az1": "us-east-1a"}, [1], [0.5], ".", [50]),
    ("us-east-1: something is old",),
)
LATER = datetime(2027, 1, 2, tzinfo=UTC)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """An AWS that answers with READING."""
    monkeypatch.setattr(prices, "connect", lambda region: region)
    monkeypatch.setattr(prices, "read", lambda *_: READING)


def test_without_a_cache_the_packages_figures_are_used() -> None:
    opened = catalogue.open_ec2("us-east-1")
    assert opened.catalogue is catalogue.embedded()
    assert opened.notes == ()


@pytest.mark.usefixtures("aws")
def test_what_a_refresh_read_is_used_from_then_on(tmp_path: Path) -> None:
    refreshed = catalogue.refresh("us-east-1", LATER)
    assert (refreshed.file, refreshed.types) == (tmp_path / "baseload" / "ec2-us-east-1.json.gz", 1)
    assert refreshed.warnings == READING.warnings
    opened = catalogue.open_ec2("us-east-1")
    assert opened.catalogue.instance_types("us-east-1", settings=DEFAULT).names == ("m5.large",)
    assert "figures read from AWS on 2027-01-02" in opened.notes[0]
    assert [file.name for file in (tmp_path / "baseload").iterdir()] == ["ec2-us-east-1.json.gz"]


@pytest.mark.usefixtures("aws")
def test_the_cache_can_be_ignored() -> None:
    catalogue.refresh("us-east-1", LATER)
    assert catalogue.open_ec2("us-east-1", ignore_cache=True).catalogue is catalogue.embedded()


@pytest.mark.usefixtures("aws")
def test_a_cache_older_than_the_package_is_not_used() -> None:
    catalogue.refresh("us-east-1", datetime(2020, 1, 1, tzinfo=UTC))
    opened = catalogue.open_ec2("us-east-1")
    assert opened.catalogue is catalogue.embedded()
    assert "older than the package's" in opened.notes[0]


@pytest.mark.parametrize("data", [b"", b"garbage", ec2_file.encode("2030-01-01", {}, [], {})])
def test_a_cache_that_cannot_be_used_is_named_and_passed_over(data: bytes) -> None:
    file = catalogue.cache_file("us-east-1")
    file.parent.mkdir()
    file.write_bytes(data)
    opened = catalogue.open_ec2("us-east-1")
    assert opened.catalogue is catalogue.embedded()
    assert str(file) in opened.notes[0]


def test_without_boto3_the_embedded_catalogue_stays_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    refreshed = catalogue.refresh("us-east-1")
    assert refreshed.file is None
    assert refreshed.warnings == ("boto3 is not installed: install baseload[aws]; the embedded catalogue is used",)
    assert not catalogue.cache_file("us-east-1").exists()


def test_an_aws_that_refuses_leaves_the_cache_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def describe_availability_zones(self) -> None:
            raise PermissionError("AccessDenied")

    there = Account("us-east-1", Refusing(), Refusing(), (PermissionError,))  # type: ignore[arg-type]
    monkeypatch.setattr(prices, "connect", lambda _: there)
    file = catalogue.cache_file("us-east-1")
    file.parent.mkdir()
    file.write_bytes(b"old")
    assert catalogue.refresh("us-east-1").warnings == (
        "AWS, region us-east-1: AccessDenied; the embedded catalogue is used",
    )
    assert file.read_bytes() == b"old"


@pytest.mark.usefixtures("aws")
def test_a_cache_that_cannot_be_written_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    with pytest.raises(BadInput, match="cannot be written"):
        catalogue.refresh("us-east-1", LATER)


def test_a_file_of_ones_own_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"no/such\.json: cannot be read: No such file"):
        catalogue.from_file("no/such.json")


@pytest.mark.parametrize("region", ["", "r" * 5000, "../../etc"])
def test_no_region_is_too_odd_to_look_for(region: str) -> None:
    assert catalogue.open_ec2(region).catalogue is catalogue.embedded()


def test_whoever_has_no_home_has_no_cache(monkeypatch: pytest.MonkeyPatch, aws: None) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert catalogue.open_ec2("us-east-1").catalogue is catalogue.embedded()
    with pytest.raises(BadInput, match="no home folder"):
        catalogue.refresh("us-east-1", LATER)
