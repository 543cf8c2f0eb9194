"""Whatever is asked and whatever goes wrong: nothing is leaked, nothing is launched twice, every run is the same."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from baseload.cloud.errors import CloudError
from baseload.cloud.port import Launched
from baseload.values.instant import SECOND
from tests.cloud.simulated.clouds import START, Run

ROOT = Path(__file__).parents[3]
NAMES = ("m5.large", "c5.large", "p3.2xlarge")
FAULTS: list[dict[str, Any]] = [
    {"call": "CreateFleet", "lost": True, "percent": 20},
    {"call": "CreateFleet", "error": "InsufficientCapacity", "zones": ["z1"], "percent": 20},
    {"call": "CreateFleet", "error": "Unauthorized", "percent": 5},
    {"call": "TerminateInstances", "lost": True, "percent": 20},
    {"call": "TerminateInstances", "error": "Throttled", "percent": 20},
]
FAILURES: list[dict[str, Any]] = [
    {"kind": "FailsToStart", "percent": 10},
    {"kind": "Dies", "percent": 10, "after": {0: "1s", 100: "10m"}},
    {"kind": "Stops", "percent": 10, "after": "1m"},
]
SETTINGS: dict[str, Any] = {
    "subnets": [{"id": f"subnet-{zone}", "zone": zone, "addresses": 4} for zone in ("z1", "z2", "z3")],
    "quotas": {"on-demand": {"standard": 12, "p": 16}},
    "capacity": [{"instances": {"least": 0, "most": 3}, "types": ["c5.*"]}],
    "spot": {"life": {0: "1m", 50: "20m"}},
    "outages": [{"zone": "z2", "from": "5m", "until": "9m"}],
    "faults": FAULTS,
    "failures": FAILURES,
    "latencies": {},
}

LAUNCH = st.tuples(st.just("launch"), st.integers(0, 5), st.sampled_from(("spot", "on-demand")), st.integers(0, 2))
STEPS = st.lists(
    st.one_of(
        LAUNCH, st.tuples(st.just("terminate"), st.integers(0, 20)), st.tuples(st.just("wait"), st.integers(1, 300))
    ),
    max_size=25,
)


def play(run: Run, steps: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """What all steps came to."""
    told: list[tuple[Any, ...]] = []
    known: list[str] = []
    for step in steps:
        try:
            match step:
                case ("launch", token, kind, place):
                    names = NAMES[place:] + NAMES[:place]
                    fleet = run.fleet(*names, token=f"{token}-{kind}-{place}", kind=kind)
                    launched: Launched = run.ask(run.cloud.launch(fleet))
                    known.append(launched.instance.id)
                    told.append((run.seconds, launched))
                case ("terminate", place):
                    if known:
                        run.ask(run.cloud.terminate(known[place % len(known)]))
                case ("wait", seconds):
                    run.until(run.seconds + seconds)
        except CloudError as error:
            told.append((run.seconds, error.code, str(error)))
    return told


def check_sums(run: Run) -> None:
    """What is occupied is what the instances occupy, no more and no less."""
    region = run.cloud.region
    region.agenda.settle()
    present = [it for it in region.inventory if it.state != "terminated"]
    by_subnet = Counter(it.instance.subnet for it in present)
    assert {it.id: 4 - it.free_addresses for it in region.network.described()} == {
        it.id: by_subnet[it.id] for it in region.network.described()
    }
    assert len({it.instance.private_address for it in present}) == len(present)
    pools = Counter((it.instance.instance_type, it.instance.zone, it.instance.capacity_type) for it in present)
    assert region.capacity.used == pools
    vcpus: Counter[tuple[str, str]] = Counter()
    for it in present:
        if it.is_living:
            vcpus[it.instance.capacity_type, "p" if it.instance.instance_type[0] == "p" else "standard"] += it.vcpus
    assert region.quotas.used == vcpus
    assert vcpus["on-demand", "standard"] <= 12
    running = {it.instance.id for it in region.inventory if it.state == "running"}
    assert {it.instance.id for it in run.cloud.machines()} == running


@given(STEPS, st.integers(0, 3))
def test_no_address_quota_capacity_or_machine_is_leaked_whatever_happens(
    steps: list[tuple[Any, ...]], seed: int
) -> None:
    run = Run(seed=seed, **SETTINGS)
    for step in steps:
        play(run, [step])
        check_sums(run)
    for record in list(run.cloud.region.inventory):
        run.cloud.region.terminate(record.instance.id)
    run.until(run.seconds + 7200)

    assert list(run.cloud.region.inventory) == []
    assert all(it.free_addresses == 4 for it in run.cloud.region.network.described())
    assert (run.cloud.region.capacity.used, run.cloud.region.quotas.used, run.cloud.machines()) == ({}, {}, ())


@given(STEPS, st.integers(0, 3))
def test_no_token_ever_launches_two_instances(steps: list[tuple[Any, ...]], seed: int) -> None:
    run = Run(seed=seed, **SETTINGS)
    by_token: dict[str, set[str]] = {}
    for step in (step for step in steps if step[0] == "launch"):
        for told in play(run, [step, step]):
            if isinstance(told[1], Launched):
                by_token.setdefault(str(step[1:]), set()).add(told[1].instance.id)
    assert all(len(ids) == 1 for ids in by_token.values())
    assert len(list(run.cloud.region.inventory)) <= len({step[1:] for step in steps if step[0] == "launch"})


@given(STEPS, st.integers(0, 3))
def test_the_same_steps_and_seed_give_the_same_run(steps: list[tuple[Any, ...]], seed: int) -> None:
    first, second = Run(seed=seed, **SETTINGS), Run(seed=seed, **SETTINGS)
    assert play(first, steps) == play(second, steps)
    assert first.clock.steps == second.clock.steps


def test_a_run_is_the_same_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", "from tests.cloud.simulated import test_properties; test_properties.tell()"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed, zone in (("1", "UTC"), ("77", "Asia/Tokyo"))
    }
    assert len(printed) == 1
    assert "m5.large" in printed.pop()


def tell() -> None:
    """Prints all that a run of an hour comes to."""
    run = Run(seed=5, **SETTINGS)
    steps: list[tuple[Any, ...]] = [("launch", n % 4, kind, n % 3) for n in range(12) for kind in ("spot", "on-demand")]
    told: list[Any] = play(run, [step for at, launch in enumerate(steps) for step in (launch, ("wait", 20 + at))])
    run.until(3600)
    told += [record.instance for record in run.cloud.region.inventory]
    told += run.ask(run.cloud.receive(seconds=0))
    sys.stdout.write("\n".join(map(repr, told)))
    assert run.clock.now() == START + 3600 * SECOND or run.seconds > 3600
