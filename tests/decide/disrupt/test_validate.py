"""Commands are held against a later view before they start (disruption spec 21)."""

from baseload.decide.disrupt.candidates import Busy
from baseload.decide.disrupt.situation import Situation
from baseload.decide.disrupt.validate import Failure, still_empty, still_holds
from baseload.plan.disrupt import Command
from tests.decide.disrupt.stage import (
    HOSTNAME,
    PROTECTED,
    Made,
    Object,
    command,
    inputs,
    node,
    plan,
    pod,
    pool,
    situation,
)

TWO = [*node("a"), *node("b", "large")]


def empty() -> Command:
    return command(plan(pool(), TWO))


def test_what_is_still_empty_goes_and_what_is_not_stays() -> None:
    assert still_empty(empty(), situation(pool(), TWO)) == (("b", "a"), None)
    assert still_empty(empty(), situation(pool(), TWO, pod("new", "a"))) == (("b",), None)


def test_an_emptiness_of_which_nothing_is_left_failed_by_churn() -> None:
    assert still_empty(empty(), situation(pool(), TWO, pod("new", "a"), pod("x", "b"))) == ((), Failure.CHURN)


def test_budgets_are_asked_anew_and_nominated_nodes_spared() -> None:
    assert still_empty(empty(), situation(pool(budgets=[{"nodes": "1"}]), TWO)) == (("b",), None)
    assert still_empty(empty(), situation(pool(budgets=[{"nodes": "0"}]), TWO)) == ((), Failure.BUDGET)
    assert still_empty(empty(), situation(pool(), TWO), nominated=("b",)) == (("a",), None)


def tied(name: str, node: str, cpu: str = "1") -> Object:
    return pod(name, node, cpu, nodeSelector={HOSTNAME: node})


DELETES = [*node("a", "large"), pod("w", "a"), *node("b", "large"), tied("t", "b", "2")]
REPLACES = [*node("a", "large"), pod("w", "a", "3")]


def failure(before: Made, *now: Made, own: Object | None = None) -> Failure | None:
    return still_holds(command(plan(pool(), before)), situation(own or pool(), *now))


def test_a_consolidation_that_would_be_the_same_holds() -> None:
    assert failure(DELETES, DELETES) is None
    assert failure(REPLACES, REPLACES) is None


def test_one_node_that_changed_kills_the_command() -> None:
    assert failure(DELETES, DELETES, pod("new", "a", annotations=PROTECTED)) is Failure.CHURN
    assert failure(DELETES, DELETES[2:]) is Failure.CHURN
    assert failure(DELETES, node("a", "large", marks={}), DELETES[2:]) is Failure.CHURN


def test_budgets_have_to_cover_all_of_it() -> None:
    assert failure(DELETES, DELETES, own=pool(budgets=[{"nodes": "0"}])) is Failure.BUDGET


def test_a_nominated_node_is_not_given_up() -> None:
    made = command(plan(pool(), DELETES))

    assert still_holds(made, situation(pool(), DELETES), nominated=("a",)) is Failure.BUDGET
    taken = Situation(*inputs(pool(), DELETES), busy=Busy(nominated=("a",)))
    assert still_holds(made, taken) is Failure.CHURN


def test_what_has_no_place_any_more_or_needs_another_number_of_nodes_does_not_hold() -> None:
    assert failure(DELETES, DELETES, tied("more", "b", "6")) is Failure.SCHEDULING
    assert failure(REPLACES, REPLACES, node("b", "large"), tied("t", "b")) is Failure.SCHEDULING


def test_a_replacement_may_be_of_types_that_would_still_do_and_no_others() -> None:
    assert failure(REPLACES, node("a", "large"), pod("w", "a", "3500m")) is None
    assert failure(REPLACES, node("a", "large"), pod("w", "a", "5")) is Failure.SCHEDULING


def test_without_a_ready_pool_nothing_holds() -> None:
    assert failure(DELETES, DELETES, own=pool(ready="False")) is Failure.SCHEDULING
