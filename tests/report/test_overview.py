"""`baseload top` as text: on paper, and on terminals of any size."""

from dataclasses import replace
from pathlib import Path

import pytest

from baseload.plan.overview import NodeRow, Overview, PodRow, PoolRow
from baseload.report.overview import fitting, lines, plain
from baseload.values import instant
from baseload.values.quantity import UNIT
from tests.conftest import Golden

GOLDEN = Path(__file__).with_name("golden")
NOW = instant.parse("2026-11-30T12:00:00Z")
MI = 2**20 * UNIT


def amounts(cpu: int, memory: int, pods: int) -> dict[str, int]:
    """Of milli-cores, mebibytes and pods."""
    return {"cpu": cpu * UNIT // 1000, "memory": memory * MI, "pods": pods * UNIT}


def pod(name: str, seconds: int, state: str = "Running", reason: str = "") -> PodRow:
    return PodRow(name, state, reason, NOW - seconds * instant.SECOND, amounts(500, 1024, 1))


NODE = NodeRow(
    name="ip-10-0-160-4.ec2.internal",
    claim="default-cwr2b",
    state="Ready",
    reason="",
    node_pool="default",
    instance_type="c5.2xlarge",
    zone="us-east-1f",
    capacity_type="spot",
    price_per_hour=0.1496,
    estimated=True,
    created=NOW - 200 * instant.SECOND,
    requests=amounts(7500, 5120, 5),
    allocatable=amounts(7910, 14162, 58),
    pods=(pod("shop/web-1", 150), pod("shop/web-2", 4000, "NotReady")),
)
FLOOR = replace(
    NODE,
    name="ip-192-168-1-21.ec2.internal",
    claim="",
    state="NotReady",
    reason="KubeletNotReady",
    node_pool="",
    instance_type="m5.large",
    capacity_type="on-demand",
    price_per_hour=None,
    estimated=False,
    created=NOW - 90 * 86400 * instant.SECOND,
    requests=amounts(2000, 10, 1),
    allocatable=amounts(1930, 6778, 29),
    pods=(),
)
COMING = replace(
    NODE,
    name="default-x7k2p",
    claim="default-x7k2p",
    state="Booting",
    requests={},
    allocatable={},
    created=None,
    pods=(),
)
WAITING = tuple(pod(f"shop/web-{number}", 10 * number, "Pending", "0/2 nodes are available") for number in range(3, 9))
CLUSTER = Overview(
    now=NOW + 5,
    nodes=(NODE, FLOOR),
    coming=(COMING,),
    pending=(*WAITING, pod("ops/job", 1, "Pending")),
    pools=(
        PoolRow("default", 2, amounts(16000, 30000, 2), {"cpu": 500 * UNIT, "memory": 1000 * 1024 * MI}),
        PoolRow("full", 1, amounts(16000, 30000, 2), {"cpu": 16 * UNIT}),
        PoolRow("open", 0, {}, {}),
    ),
    pods={"NotReady": 1, "Pending": 7, "Running": 1},
)
EMPTY = Overview(NOW, (), (), (), (), {})


@pytest.mark.parametrize("width", [None, 150, 120, 100, 80, 60, 40])
def test_the_picture_fits_every_width(width: int | None, golden: Golden) -> None:
    text = plain(lines(CLUSTER, title="context prod", width=width))
    assert width is None or max(map(len, text.splitlines())) <= width
    golden(GOLDEN / f"overview-{width or 'paper'}.txt", text)


def test_pods_stand_below_their_nodes_and_what_is_wrong_above_everything(golden: Golden) -> None:
    text = plain(lines(CLUSTER, title="context prod", problem="no connection for 3s", pods=True))
    golden(GOLDEN / "overview-pods.txt", text)


def test_an_empty_cluster_has_no_table(golden: Golden) -> None:
    golden(GOLDEN / "overview-empty.txt", plain(lines(EMPTY, title="context prod", width=80)))


def test_what_a_terminal_has_no_room_for_is_counted() -> None:
    found = lines(CLUSTER)
    assert fitting(found, 100) == found
    cut = plain(fitting(found, 5)).splitlines()
    assert len(cut) == 5
    assert cut[-1] == f"… {len(found) - 4} more lines"


def test_states_have_the_colours_that_people_expect() -> None:
    styles = {span.text.strip(): span.style for line in lines(CLUSTER) for span in line}
    assert styles["Ready"] == "green"
    assert styles["NotReady: KubeletNotReady"] == "red"
    assert styles["NodePool full: 1 node, cpu 16 of 16"] == "yellow"
