"""A region that was saved goes on as if only time had passed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.cloud.simulated import memory
from baseload.cloud.simulated.settings import CloudSettings
from baseload.timeline.virtual import VirtualClock
from baseload.values.errors import BadInput
from baseload.values.instant import SECOND
from tests.cloud.simulated.clouds import START, TABLE, Run
from tests.cloud.simulated.test_properties import SETTINGS, STEPS, check_sums, play


@given(STEPS, STEPS, st.integers(0, 3))
def test_a_saved_region_goes_on_as_the_one_that_was_not_stopped(
    before: list[tuple[Any, ...]], after: list[tuple[Any, ...]], seed: int
) -> None:
    run = Run(seed=seed, **SETTINGS)
    play(run, before)
    saved = run.cloud.save()
    other = Run(saved=saved, now=run.clock.now(), **SETTINGS)

    assert other.cloud.save() == saved
    check_sums(other)
    assert play(other, after) == play(run, after)
    assert other.cloud.save() == run.cloud.save()


def test_what_is_due_while_the_region_is_stopped_happens_at_its_own_moment() -> None:
    settings: dict[str, Any] = {"boot": {"running": "5s"}, "terminating": "20s", "queue": {"retention": "24h"}}
    run = Run(**settings)
    starting = run.ask(run.cloud.launch(run.fleet("m5.large", token="claim-1"))).instance
    ending = run.ask(run.cloud.launch(run.fleet("m5.large"))).instance
    run.ask(run.cloud.terminate(ending.id))
    late = Run(saved=run.cloud.save(), now=START + 600 * SECOND, **settings)

    (change,) = late.cloud.follow().take()
    (machine,) = late.cloud.machines()
    assert (change.what, change.machine) == ("booted", machine)
    assert (machine.instance.id, machine.booted) == (starting.id, START + 5 * SECOND)
    assert late.ask(late.cloud.instance(ending.id)).state == "terminated"
    assert late.ask(late.cloud.launch(late.fleet("m5.large", token="claim-1"))).instance.id == starting.id
    states = [json.loads(message.body)["detail"]["state"] for message in late.ask(late.cloud.receive(seconds=0))]
    assert states == ["pending", "pending", "shutting-down", "running", "terminated"]


def test_volumes_and_spot_prices_go_on() -> None:
    settings: dict[str, Any] = {"spot": {}, "boot": {"running": "5s"}, "volumes": {"attaching": "10s"}}
    run = Run(**settings)
    instance = run.ask(run.cloud.launch(run.fleet("m5.large", zones=("z1",)))).instance
    volume = run.ask(run.cloud.create_volume("z1", 10, token="claim", tags={}))
    run.until(6)
    run.ask(run.cloud.attach_volume(volume.id, instance.id))
    late = Run(saved=run.cloud.save(), now=START + 3600 * SECOND, **settings)
    run.until(3600)

    assert late.ask(late.cloud.volumes([volume.id])) == run.ask(run.cloud.volumes([volume.id]))
    assert late.ask(late.cloud.volumes([volume.id]))[0].state == "in-use"
    assert late.cloud.region.market.quotes("z2", "spot", late.clock.now()) == run.cloud.region.market.quotes(
        "z2", "spot", run.clock.now()
    )


def test_the_revision_grows_with_what_is_done_and_what_happens() -> None:
    run = Run(boot={"running": "5s"})
    assert run.cloud.revision == 0
    run.ask(run.cloud.launch(run.fleet()))
    assert run.cloud.revision == 1
    run.until(5)
    assert run.cloud.revision == 2
    run.until(60)
    assert run.cloud.revision == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "cloud.json: not the state of a simulated cloud: Input data was truncated"),
        (b"{}", "cloud.json: not the state of a simulated cloud: Object missing required field `version`"),
    ],
)
def test_bytes_that_are_no_state_are_bad_input(data: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        memory.restore(data, lambda _: TABLE, VirtualClock(START), CloudSettings(), file="cloud.json")


def test_the_state_of_another_format_is_bad_input() -> None:
    data = Run().cloud.save().replace(b'"version":1', b'"version":9')
    with pytest.raises(BadInput, match=r"cloud.json: state of format 9 \(format 1\)"):
        memory.restore(data, lambda _: TABLE, VirtualClock(START), CloudSettings(), file="cloud.json")
