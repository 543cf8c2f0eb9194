"""A lock that no longer fits what is required, or that names a host, is found without asking any package index."""

import pytest

from tools import check_lock

PYPROJECT = """
[build-system]
requires = ["builder"]
[project]
dependencies = ["Some.Thing>=2"]
[project.optional-dependencies]
aws = ["cloudy"]
"""
HASH = f"--hash=sha256:{'0' * 64}"


def locked(*pins: str) -> str:
    return "".join(f"{pin} \\\n    {HASH} \\\n    {HASH}\n    # via somebody\n" for pin in pins)


FITTING = ("builder==1", "cloudy==0.3", "linter==7.1", "some-thing==2.5")


def faults(lock: str) -> list[str]:
    return check_lock.faults(pyproject=PYPROJECT, development="# tools\nlinter\n", lock=lock)


def test_a_lock_that_pins_everything_with_hashes_is_fresh() -> None:
    assert faults(locked(*FITTING)) == []


def test_a_pin_may_hold_for_some_pythons_only() -> None:
    assert faults(locked(*FITTING, 'elder==1 ; python_version < "3.12"')) == []


@pytest.mark.parametrize("missing", FITTING)
def test_each_requirement_has_to_be_locked(missing: str) -> None:
    assert len(faults(locked(*(pin for pin in FITTING if pin != missing)))) == 1


def test_each_of_several_pins_of_a_package_has_to_fit() -> None:
    pins = ("cloudy==0.3 ; python_version < '3.12'", "some-thing==1 ; python_version < '3.12'", "some-thing==2.5")

    assert faults(locked("builder==1", "linter==7.1", *pins)) == ["Some.Thing is locked at 1, but >=2 is wanted"]


def test_a_version_that_the_requirement_excludes_is_found() -> None:
    assert faults(locked(*FITTING[:-1], "some-thing==1.9")) == ["Some.Thing is locked at 1.9, but >=2 is wanted"]


def test_a_pin_without_hash_is_found() -> None:
    assert faults(locked(*FITTING) + "other==1\n") == ["other is pinned without a hash"]


@pytest.mark.parametrize("line", ["--index-url somewhere", "thing @ file:thing.whl", "other>=1"])
def test_a_line_that_is_no_pin_is_found(line: str) -> None:
    assert len(faults(f"{line}\n{locked(*FITTING)}")) == 1


def test_a_url_is_found_even_in_a_comment() -> None:
    assert faults(locked(*FITTING) + "# from scheme://host\n") == ["the lock names a URL"]


def test_what_is_fetched_for_the_tests_is_pinned_with_hashes_and_no_host() -> None:
    fetched = (check_lock.ROOT / check_lock.FETCHED).read_text(encoding="utf-8")

    assert check_lock.pins(fetched)[1] == []
    assert len(check_lock.pins("elder==1\nhttps://example.com/elder.whl\n")[1]) == 3
