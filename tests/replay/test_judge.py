"""Lines of numbers over time, and expectations that are held against them."""

from fractions import Fraction
from typing import Any

import pytest

from baseload.replay.judge import Bound, Expectation, judge
from baseload.replay.line import Line, Sum
from baseload.replay.series import Book, Query

START = 1000


def line(*changes: tuple[int, int]) -> Line:
    made = Line()
    for at, change in changes:
        made.add(START + at, change)
    return made


def bound(name: str, value: int) -> Bound:
    return Bound(name, Fraction(value), str(value))


def told(line: Line | Sum, when: Any, begins: int, ends: int, *bounds: Bound, lasts: int = 0, end: int = 100) -> Any:
    asked = Expectation(Query("launches"), when, begins, ends, bounds, lasts)
    found = judge(asked, line, START, START + end)
    return found.verdict, found.moment, found.value


STEPS = line((10, 2), (20, 1), (20, -3), (50, 5))  # 0, 2 from 10, 0 from 20, 5 from 50


def test_a_line_is_what_it_was_made_to_be_last_at_each_moment() -> None:
    assert [STEPS.at(START + at) for at in (0, 9, 10, 19, 20, 49, 50, 99)] == [0, 0, 2, 2, 0, 0, 5, 5]
    assert STEPS.most() == 5


def test_a_sum_rises_by_its_rate() -> None:
    spent = Sum(STEPS, START)
    assert [spent.at(START + at) for at in (10, 15, 20, 50, 60)] == [0, 10, 20, 20, 70]


@pytest.mark.parametrize(
    ("when", "begins", "ends", "asked", "lasts", "expected"),
    [
        ("at", 10, 10, bound("is", 2), 0, ("holds", 10, 2)),
        ("at", 9, 9, bound("is", 2), 0, ("fails", 9, 0)),
        ("at", 10, 10, bound("is", 2), 9, ("holds", 19, 2)),
        ("at", 10, 10, bound("is", 2), 10, ("fails", 20, 0)),
        ("always", 0, 100, bound("atMost", 4), 0, ("fails", 50, 5)),
        ("always", 0, 49, bound("atMost", 4), 0, ("holds", 49, 0)),
        ("always", 10, 19, bound("is", 2), 0, ("holds", 19, 2)),
        ("eventually", 0, 100, bound("above", 1), 0, ("holds", 10, 2)),
        ("eventually", 0, 100, bound("above", 1), 20, ("holds", 50, 5)),
        ("eventually", 0, 40, bound("above", 1), 20, ("fails", 40, 0)),
        ("within", 15, 45, bound("is", 0), 30, ("holds", 20, 0)),
        ("within", 15, 45, bound("is", 0), 31, ("fails", 50, 5)),
        ("within", 15, 45, bound("is", 2), 31, ("fails", 45, 0)),
        ("within", 25, 45, bound("isNot", 0), 0, ("fails", 45, 0)),
    ],
)
def test_an_expectation_holds_or_fails_first_at_a_moment(
    when: str, begins: int, ends: int, asked: Bound, lasts: int, expected: tuple[str, int, int]
) -> None:
    assert told(STEPS, when, begins, ends, asked, lasts=lasts) == expected


def test_what_the_run_did_not_come_to_is_open() -> None:
    assert told(STEPS, "at", 60, 60, bound("is", 5), end=55)[0] == "open"
    assert told(STEPS, "always", 0, 60, bound("atMost", 9), end=55)[0] == "open"
    assert told(STEPS, "always", 0, 60, bound("atMost", 4), end=55) == ("fails", 50, 5)
    assert told(STEPS, "eventually", 0, 60, bound("above", 9), end=55)[0] == "open"
    assert told(STEPS, "eventually", 0, 60, bound("above", 1), end=55)[0] == "holds"
    assert told(STEPS, "within", 15, 45, bound("is", 0), lasts=60, end=49)[0] == "open"
    assert told(STEPS, "within", 15, 45, bound("is", 0), lasts=60, end=55) == ("fails", 50, 5)


def test_a_sum_passes_a_bound_between_two_changes() -> None:
    spent = Sum(STEPS, START)
    assert told(spent, "always", 0, 100, bound("atMost", 32)) == ("fails", 53, 35)
    assert told(spent, "eventually", 0, 100, bound("atLeast", 20)) == ("holds", 20, 20)
    assert told(spent, "at", 55, 55, bound("is", 45)) == ("holds", 55, 45)
    assert told(spent, "always", 0, 30, bound("atMost", 20), bound("atLeast", 0)) == ("holds", 30, 20)


def test_waits_longer_than_a_time_are_counted_from_when_they_got_too_long() -> None:
    query = Query("pods.pendingLongerThan", longer_than=10)
    book = Book((query, Query("pods.pendingLongerThan", (("workload", "b"),), 10)), START)
    book.waited(("default", "a"), START, START + 10)
    book.waited(("default", "a"), START + 5, START + 30)
    book.waited(("default", "b"), START + 15, None)
    late = book.line(query)
    assert [late.at(START + at) for at in (10, 15, 16, 25, 26, 29, 30)] == [0, 0, 1, 1, 2, 2, 1]


def test_a_series_is_narrowed_down_by_what_it_is_about() -> None:
    every, web = Query("pods.ready"), Query("pods.ready", (("workload", "web"),))
    book = Book((every, web), START)
    book.add("pods.ready", ("default", "web"), START, 2)
    book.add("pods.ready", ("default", "db"), START, 1)
    book.add("pods.running", ("default", "db"), START, 1)
    assert (book.line(every).at(START), book.line(web).at(START)) == (3, 2)
