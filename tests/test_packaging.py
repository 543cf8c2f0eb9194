"""What is installed is what was written: the distribution carries every data file and runs from anywhere."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import baseload

ROOT = Path(__file__).parents[1]


def build(source: Path, kind: str, directory: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(directory)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = directory.iterdir()
    return built


def test_the_wheel_carries_every_file_of_the_package_and_the_licence(tmp_path: Path) -> None:
    source = ROOT / "src"
    written = {file.relative_to(source).as_posix() for file in source.rglob("*") if file.is_file()}
    wanted = {name for name in written if not name.endswith(".pyc")}

    with zipfile.ZipFile(build(ROOT, "wheel", tmp_path)) as wheel:
        packed = set(wheel.namelist())

    assert wanted <= packed
    assert {Path(name).name for name in packed - wanted} >= {"LICENSE", "NOTICE", "entry_points.txt"}


@pytest.mark.long
def test_a_wheel_built_from_the_source_distribution_runs_without_the_repository(tmp_path: Path) -> None:
    with tarfile.open(build(ROOT, "sdist", tmp_path / "sdist")) as archive:
        # As an attribute, which Python before 3.11.4 passes over; there the method takes no filter.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path / "unpacked")
    (source,) = (tmp_path / "unpacked").iterdir()
    wheel = build(source, "wheel", tmp_path / "wheel")
    site = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(install, check=True)

    code = "import sys, baseload.cli.main as m; assert m.__file__.startswith(sys.argv.pop(1)); sys.exit(m.main())"
    command = [sys.executable, "-c", code, str(site), "--version"]
    printed = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(site)}, check=True, capture_output=True, text=True
    )

    assert printed.stdout == f"baseload {baseload.__version__}\n"
