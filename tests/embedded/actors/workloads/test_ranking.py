"""Which pods a ReplicaSet deletes first."""

import pytest

from baseload.embedded.actors.workloads.ranking import Candidate, bucket, cost, in_order
from baseload.values.instant import SECOND

NOW = 1_000_000 * SECOND


def pod(name: str, **given: object) -> Candidate:
    held: dict[str, object] = {
        "key": name,
        "uid": name,
        "node": "n1",
        "phase": "Running",
        "ready_since": NOW - 100 * SECOND,
        "cost": 0,
        "beside": 0,
        "restarts": 0,
        "created": NOW - 200 * SECOND,
        **given,
    }
    return Candidate(**held)  # type: ignore[arg-type]


def order(*pods: Candidate) -> str:
    turned = "".join(found.key for found in in_order(reversed(pods), NOW))
    assert turned == "".join(found.key for found in in_order(pods, NOW)), "the order of the input decides"
    return turned


def test_a_pod_without_a_node_goes_before_one_with_whatever_they_cost() -> None:
    a = pod("a", node="", phase="Pending", ready_since=None, cost=100)
    b = pod("b", ready_since=None, cost=-5)
    c = pod("c", cost=-10)

    assert order(a, b, c) == "abc"


def test_pending_goes_before_unknown_before_running() -> None:
    assert order(pod("r"), pod("u", phase="Unknown"), pod("p", phase="Pending")) == "pur"


def test_a_pod_that_is_not_ready_goes_first_then_the_cheaper_one() -> None:
    assert order(pod("a", cost=1), pod("b"), pod("c", ready_since=None, cost=9)) == "cba"


def test_of_pods_that_cost_the_same_the_one_beside_more_siblings_goes() -> None:
    assert order(pod("b", beside=1), pod("a", beside=2)) == "ab"


def test_ready_for_a_shorter_time_goes_first_by_powers_of_two() -> None:
    assert (bucket(3600 * SECOND), bucket(5000 * SECOND), bucket(7200 * SECOND)) == (41, 42, 42)
    assert order(pod("z", ready_since=NOW - 3600 * SECOND), pod("a", ready_since=NOW - 5000 * SECOND)) == "za"


def test_within_one_power_of_two_the_uid_decides() -> None:
    older, newer = NOW - 7200 * SECOND, NOW - 5000 * SECOND

    assert order(pod("1", ready_since=older), pod("2", ready_since=newer)) == "12"
    assert order(pod("2", ready_since=older), pod("1", ready_since=newer)) == "12"


def test_more_restarts_go_before_fewer_and_the_younger_before_the_older() -> None:
    assert order(pod("a"), pod("b", restarts=3)) == "ba"
    assert order(pod("a", created=NOW - 9000 * SECOND), pod("b", created=NOW - 100 * SECOND)) == "ba"


@pytest.mark.parametrize(
    ("text", "number"), [("5", 5), ("-5", -5), ("05", 0), ("+5", 0), ("5.0", 0), ("2147483648", 0), ("", 0)]
)
def test_a_cost_that_is_no_32_bit_integer_counts_as_none(text: str, number: int) -> None:
    assert cost({"controller.kubernetes.io/pod-deletion-cost": text}) == number
