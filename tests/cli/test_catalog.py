"""`baseload catalog`: choosing, showing, comparing and refreshing instance types."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from baseload.catalog.ec2_file import Region, TypeSpec
from baseload.cli.main import main
from baseload.cloud.aws import prices
from baseload.cloud.aws.prices import Reading
from baseload.world import catalogue
from tests.conftest import Golden

GOLDEN = Path(__file__).parent / "golden"
FAMILY = "karpenter.k8s.aws/instance-family"
GRAVITON = f"{FAMILY} in (t4g,m6g,r6g), karpenter.k8s.aws/instance-cpu < 4"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command and gives its exit status, output and messages."""

    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(["catalog", *arguments])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def own_types(tmp_path: Path) -> str:
    """A catalogue file of two types, one of them without an available offering."""

    def entry(name: str, available: bool) -> dict[str, Any]:
        requirements = [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-1"]},
        ]
        return {
            "name": name,
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "resources": {"cpu": "4", "memory": "8Gi", "pods": "20"},
            "labels": {"size": name},
            "offerings": [{"Price": 0.25, "Available": available, "Requirements": requirements}],
        }

    file = tmp_path / "types.json"
    file.write_text(json.dumps([entry("gone", False), entry("small", True)]))
    return str(file)


def test_a_list_is_a_table_by_price(run: Run, golden: Golden) -> None:
    status, out, _ = run("list", "--region", "us-east-1", "--where", GRAVITON)
    assert status == 0
    golden(GOLDEN / "catalog-list.txt", out)


def test_where_a_price_is_estimated_a_tilde_and_a_line_say_so(run: Run) -> None:
    _, out, err = run("list", "--region", "us-west-2", "--where", f"{FAMILY}=m8i")
    assert "~0.10584" in out
    assert out.endswith("~ an estimate, no published price\n")
    assert "us-west-2: on-demand prices of 2025-04-04, 475 of 1354 estimated" in err
    _, out, _ = run("list", "--region", "us-west-2", "--where", f"{FAMILY}=m5", "--capacity-type", "on-demand")
    assert "~" not in out


def test_a_list_can_be_cut_and_says_how_many_there_are(run: Run) -> None:
    _, out, err = run("list", "--where", f"{FAMILY}=m5", "--limit", "2", "--sort", "name")
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["m5.large", "m5.xlarge"]
    assert "2 of 9 instance types" in err
    assert "no --region: us-east-1" in err


@pytest.mark.parametrize(
    ("option", "field"), [("price", "pricePerHour"), ("per-vcpu", "perVCPU"), ("per-gib", "perGiB")]
)
def test_what_costs_more_than_allowed_is_left_out(run: Run, option: str, field: str) -> None:
    def costs(*args: str) -> dict[str, float]:
        _, out, _ = run("list", "--region", "us-east-1", "--where", f"{FAMILY} in (m5,t4g,r6g)", "-o", "json", *args)
        return {item["name"]: item["prices"][0][field] for item in json.loads(out)["items"]}

    everything = costs()
    most = sorted(everything.values())[len(everything) // 2]
    left = costs(f"--max-{option}", str(most))
    assert 0 < len(left) < len(everything)
    assert left == {name: cost for name, cost in everything.items() if cost <= most}


def test_no_amount_is_not_a_limit(run: Run) -> None:
    code, _, err = run("list", "--max-price", "nan")
    assert code == 2
    assert "is no number" in err


def test_one_capacity_type_is_the_only_column_of_prices(run: Run) -> None:
    _, out, _ = run("list", "--where", f"{FAMILY}=t4g", "--capacity-type", "spot")
    assert "SPOT" in out.splitlines()[0]
    assert "ON-DEMAND" not in out


def test_a_requirement_that_nothing_meets_lists_nothing_and_says_so(run: Run) -> None:
    status, out, err = run("list", "--where", f"{FAMILY}=m5, kubernetes.io/arch=arm64")
    assert (status, out) == (0, "")
    assert "no instance type meets karpenter.k8s.aws/instance-family In [m5], kubernetes.io/arch In [arm64]" in err


def test_a_list_as_json(run: Run) -> None:
    _, out, _ = run("list", "--where", "node.kubernetes.io/instance-type=r6g.medium", "-o", "json")
    listed = json.loads(out)
    assert (listed["apiVersion"], listed["kind"], listed["region"]) == (
        "baseload.dev/v1alpha1",
        "InstanceTypeList",
        "us-east-1",
    )
    (item,) = listed["items"]
    assert (item["capacity"]["pods"], item["allocatable"]["memory"]) == ("8", "7075Mi")
    assert item["prices"][0] == {
        "capacityType": "on-demand",
        "pricePerHour": 0.0504,
        "estimated": False,
        "perVCPU": 0.0504,
        "perGiB": 0.0063,
    }
    assert item["prices"][1]["estimated"] is True
    assert {offering["zoneID"] for offering in item["offerings"]} >= {"use1-az2"}


def test_max_pods_is_what_a_node_class_would_set(run: Run) -> None:
    _, out, _ = run("list", "--max-pods", "110", "--where", "node.kubernetes.io/instance-type=r6g.medium", "-o", "yaml")
    assert yaml.safe_load(out)["items"][0]["capacity"]["pods"] == "110"


def test_a_list_of_ones_own_types(run: Run, own_types: str) -> None:
    status, out, err = run("list", "--catalog", own_types, "--where", "size in (small,gone)")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["small", "gone"]
    assert out.splitlines()[2].split()[-3:] == ["-", "-", "-"]
    assert err == "2 instance types\n"


def test_show_tells_everything_of_a_type(run: Run, golden: Golden) -> None:
    status, out, _ = run("show", "r6g.medium", "--region", "us-east-1", "--max-pods", "110")
    assert status == 0
    golden(GOLDEN / "catalog-show.txt", out)


def test_show_as_json_has_the_pods_under_each_way_to_give_them_addresses(run: Run) -> None:
    _, out, _ = run("show", "m5.large", "--max-pods", "50", "-o", "json")
    shown = json.loads(out)
    assert shown["kind"] == "InstanceType"
    assert shown["pods"] == {
        "interfaces": 3,
        "addressesPerInterface": 10,
        "eniLimited": 29,
        "prefixDelegation": 110,
        "maxPods": 50,
    }


def test_show_a_type_of_ones_own(run: Run, own_types: str) -> None:
    status, out, _ = run("show", "small", "--catalog", own_types)
    assert status == 0
    assert out.startswith("small: 4 vCPU, 8 GiB, amd64\n")


def test_compare_sets_types_side_by_side(run: Run, golden: Golden) -> None:
    status, out, _ = run("compare", "t4g.large", "r6g.medium", "g5.xlarge", "--region", "us-east-1")
    assert status == 0
    golden(GOLDEN / "catalog-compare.txt", out)


def test_compare_as_json(run: Run) -> None:
    _, out, _ = run("compare", "t4g.large", "r6g.medium", "-o", "json")
    compared = json.loads(out)
    assert compared["kind"] == "InstanceTypeComparison"
    assert [type_["name"] for type_ in compared["types"]] == ["t4g.large", "r6g.medium"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("list", "--where", "instance-categry in (c,m)"), "did you mean karpenter.k8s.aws/instance-category?"),
        (("list", "--where", "instance-family in (m5"), "--where 'instance-family in (m5'"),
        (("list", "--region", "eu-wast-1"), "unknown region 'eu-wast-1' (did you mean eu-west-1?)"),
        (("list", "--region", "../../etc"), "unknown region '../../etc'"),
        (("list", "--region", "us-gov-west-1"), "does not know the zones of region us-gov-west-1"),
        (("list", "--catalog", "no-such.json"), "no-such.json: cannot be read"),
        (("list", "--catalog", "x.json", "--region", "us-east-1"), "say nothing of the types of --catalog FILE"),
        (("list", "--limit", "0"), "--limit"),
        (("show", "t4g.lrge"), "no instance type 't4g.lrge' is offered in us-east-1 (nearest: t4g.large"),
        (("show", "p3.2xlarge"), "the instance type 'p3.2xlarge' is retired"),
        (("show", "hpc6a.48xlarge"), "no instance type 'hpc6a.48xlarge' is offered in us-east-1"),
        (("compare", "m5.large", "m5.large"), "needs two instance types at least"),
        (("compare", "m5.large", "c5.lage"), "'c5.lage'"),
        (("refresh", "--region", "moon"), "'moon' is no AWS region"),
    ],
)
def test_what_is_not_known_ends_with_2_and_the_nearest_known(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_a_refresh_is_used_by_the_next_list_and_can_be_passed_over(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = TypeSpec("m5.large", "amd64", 2, 8192, enis=3, ipv4_per_eni=10)
    region = Region("2031-01-02", ["use1-az1"], {"use1-az1": "us-east-1a"}, [1], [0.5], ".", [50])
    reading = Reading((spec,), region, ("us-east-1: something is old",))
    monkeypatch.setattr(prices, "connect", lambda name: name)
    monkeypatch.setattr(prices, "read", lambda *_: reading)
    monkeypatch.setattr(catalogue, "datetime", FutureClock)
    status, out, err = run("refresh")
    assert (status, err) == (0, "warning: us-east-1: something is old\n")
    assert out.startswith("1 instance types written to ")
    _, out, err = run("list")
    assert "0.5000" in out
    assert "figures read from AWS on 2031-01-02" in err
    _, out, _ = run("list", "--embedded", "--limit", "1")
    assert "m5.large" not in out


class FutureClock(datetime):
    @classmethod
    def now(cls, tz: object = None) -> "FutureClock":
        return cls(2031, 1, 2, tzinfo=UTC)


def test_a_refresh_that_aws_does_not_answer_warns_and_keeps_the_embedded_catalogue(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    status, out, err = run("refresh", "--region", "eu-west-1")
    assert (status, out) == (0, "")
    assert err == "warning: boto3 is not installed: install baseload[aws]; the embedded catalogue is used\n"
