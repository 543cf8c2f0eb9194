"""The pressure model against the tables that were worked out by hand (cluster-actors spec 24.6-24.8, 28.40)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.node.pressure import Load, PressureSettings, strain

MIB = 2**20


def t4g_large(used: int, pods: int = 59) -> Load:
    return Load(7782 * MIB, 640 * MIB, pods, 1.3 * pods, used * MIB, cores=2.0)


@pytest.mark.parametrize(
    ("used", "available", "share", "squeeze", "slowness", "relist", "renewal", "verdict"),
    [
        (5324, 1654, 21.3, 0, 1, 0.8, 10, "healthy"),
        (5989, 989, 12.7, 0, 1, 0.8, 10, "healthy"),
        (6389, 589, 7.6, 0.07, 1.1, 0.9, 10, "tight"),
        (6655, 323, 4.2, 0.64, 80, 65, 26, "tight"),
        (6788, 190, 2.4, 0.93, 240, 196, 58, "down"),
        (6921, 57, 0.7, 1, 301, 247, 70, "down"),
    ],
)
def test_59_pods_on_8_gib_go_from_fine_to_dead_within_266_mib(
    used: int,
    available: int,
    share: float,
    squeeze: float,
    slowness: float,
    relist: float,
    renewal: float,
    verdict: str,
) -> None:
    found = strain(t4g_large(used))

    assert found.system == 804 * MIB
    assert found.available == available * MIB
    assert round(100 * found.available / (7782 * MIB), 1) == share
    assert round(found.squeeze, 2) == squeeze
    assert found.slowness == pytest.approx(slowness, abs=1.1, rel=0.01)
    assert found.relist == pytest.approx(relist, abs=0.06, rel=0.01)
    assert round(found.renewal) == renewal
    assert found.verdict == verdict


def test_probes_of_one_second_time_out_at_half_of_the_limits() -> None:
    assert 0.05 * strain(t4g_large(6389)).probe_slowness < 1
    assert 0.12 * strain(t4g_large(6655)).probe_slowness > 1


def test_a_slab_of_daemons_alone_puts_4_gib_under_pressure() -> None:
    found = strain(Load(3830 * MIB, 442 * MIB, 12, 15.6, 3277 * MIB, cores=2.0))

    assert found.available == 31 * MIB
    assert found.pods_available == 111 * MIB
    assert (found.is_evicting, found.is_silent, round(found.slowness), round(found.renewal)) == (True, True, 301, 70)


def test_a_machine_with_room_feels_nothing() -> None:
    found = strain(t4g_large(2900, pods=18))

    assert (found.system, found.available, found.pods_available) == (558 * MIB, 4324 * MIB, 4242 * MIB)
    assert (found.squeeze, found.slowness, found.renewal, found.verdict) == (0, 1, 10, "healthy")
    assert round(found.relist, 1) == 0.3


def test_cpu_beyond_the_cores_stretches_the_work_of_pods_alone() -> None:
    load = Load(7782 * MIB, 640 * MIB, 18, 23.4, 2900 * MIB, cores=0.6, cpu=1.6)

    assert strain(load).stretch == pytest.approx(2.0)
    assert strain(load).slowness == 1


def test_every_number_of_the_model_can_be_set() -> None:
    calm = PressureSettings(system_memory=0, system_memory_per_pod=0, slow_down=0.0, eviction_threshold=0)

    found = strain(t4g_large(7142), calm)

    assert (found.available, found.slowness, found.is_silent) == (640 * MIB, 1, False)
    assert (found.pods_available, found.is_evicting) == (0, False)


@given(st.integers(0, 8000), st.integers(0, 2000), st.integers(1, 110))
def test_more_use_never_makes_a_machine_faster(used: int, more: int, pods: int) -> None:
    before, after = strain(t4g_large(used, pods)), strain(t4g_large(used + more, pods))

    assert after.available == before.available - more * MIB
    assert after.slowness >= before.slowness
    assert after.renewal >= before.renewal
    assert after.probe_slowness >= before.probe_slowness
    assert (before.is_evicting, before.is_silent) <= (after.is_evicting, after.is_silent) or after.is_evicting
