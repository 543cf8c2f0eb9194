"""A generated file that is not what its generator writes is found."""

from pathlib import Path

import pytest

from tools import check_generated

GENERATOR = """
def outputs() -> dict[str, bytes]:
    return {"out/table.json": b"[1]"}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "tools/build_table.py").write_text(GENERATOR)
    (tmp_path / "out/table.json").write_bytes(b"[1]")
    return tmp_path


def test_what_the_generator_writes_is_fine(root: Path) -> None:
    assert check_generated.faults(root) == []


def test_an_edited_output_is_found(root: Path) -> None:
    (root / "out/table.json").write_bytes(b"[2]")

    assert check_generated.faults(root) == [
        "out/table.json: not what tools/build_table.py writes; run python tools/build_table.py"
    ]


def test_a_missing_output_is_found(root: Path) -> None:
    (root / "out/table.json").unlink()

    assert len(check_generated.faults(root)) == 1


@pytest.mark.parametrize("changed", ["tools/build_table.py", "out/table.json"])
def test_a_recorded_file_may_not_change(root: Path, changed: str) -> None:
    check_generated.record(root, [str(root / "tools/build_table.py"), str(root / "out/table.json")])
    assert check_generated.faults(root) == []

    (root / changed).write_text("def outputs(): raise AssertionError('a recorded generator is not run')")

    assert [fault.partition(":")[0] for fault in check_generated.faults(root)] == [changed]


def test_a_recorded_file_may_not_vanish(root: Path) -> None:
    check_generated.record(root, [str(root / "tools/build_table.py"), str(root / "out/table.json")])
    (root / "out/table.json").unlink()

    assert check_generated.faults(root) == ["out/table.json: recorded in tools/generated.sha256, but not there"]
