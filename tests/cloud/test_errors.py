"""The errors of a cloud: the tree in the docstring is the classes', and each says what it is by code and words."""

from baseload.cloud import errors
from baseload.cloud.errors import CloudError, InsufficientCapacity, QuotaExceeded, Refusal, Throttled
from baseload.values.errors import Unreachable
from tests.values.test_errors import drawn, walked


def test_the_docstring_draws_the_tree_of_errors() -> None:
    assert drawn(errors.__doc__ or "") == list(walked(CloudError))


def test_no_capacity_is_said_with_every_code_once_and_every_offering() -> None:
    refusals = tuple(
        Refusal(code, "", "m5.large", zone, "spot", "")
        for code, zone in (("InsufficientInstanceCapacity", "a"), ("Unsupported", "b"), ("Unsupported", "c"))
    )
    error = InsufficientCapacity(refusals)

    assert str(error) == "no pool has a machine: InsufficientInstanceCapacity, Unsupported"
    assert error.code == "InsufficientInstanceCapacity"
    assert [refusal.offering for refusal in error.refusals] == [("m5.large", zone, "spot") for zone in "abc"]


def test_every_failure_of_a_cloud_is_a_cloud_error_with_a_code() -> None:
    assert (Throttled(retry_after=1.5).code, Throttled(retry_after=1.5).retry_after) == ("RequestLimitExceeded", 1.5)
    assert issubclass(QuotaExceeded, InsufficientCapacity)
    assert issubclass(errors.CloudUnreachable, Unreachable)
