"""Where a command's instance types come from: a file of the user's, his cache of what AWS said, or the package.

The cache has one file a region, written by `baseload catalog refresh`, under `$XDG_CACHE_HOME/baseload` (by default
`~/.cache/baseload`). It is used as long as the package's own figures are not newer.
"""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

from baseload.catalog import ec2_file, kwok
from baseload.catalog.columns import InstanceTypes
from baseload.catalog.ec2 import Ec2Catalogue
from baseload.kube import sources
from baseload.values.errors import BadInput, Fault, Unreachable


@dataclass(frozen=True, slots=True)
class Opened:
    """A catalogue, and what the user should know about where it comes from."""

    catalogue: Ec2Catalogue
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did. `file` is None when AWS could not be read; `warnings` say why, or which figures are old."""

    file: Path | None
    types: int
    warnings: tuple[str, ...]


@cache
def embedded() -> Ec2Catalogue:
    """The figures that the package carries."""
    return Ec2Catalogue.from_bytes((files("baseload.catalog") / "ec2.json.gz").read_bytes(), "ec2.json.gz")


def cache_file(region: str) -> Path:
    """Where the figures of a region are kept once they have been read from AWS."""
    return _caches() / "baseload" / f"ec2-{region}.json.gz"


def _caches() -> Path:
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError as error:
        fault = Fault("there is no home folder to keep the catalogue in", allowed="name a folder by XDG_CACHE_HOME")
        raise BadInput([fault]) from error


def open_ec2(region: str, *, ignore_cache: bool = False) -> Opened:
    """The best figures there are of a region: the cache, unless it is older than the package or cannot be read."""
    if ignore_cache or not _is_name(region):
        return Opened(embedded())
    try:
        file = cache_file(region)
        if not file.exists():
            return Opened(embedded())
        cached = Ec2Catalogue.from_bytes(file.read_bytes(), str(file))
    except (BadInput, OSError) as error:
        return Opened(embedded(), (f"the cached catalogue is not used: {error}",))
    if cached.figures.generated < embedded().figures.generated or region not in cached.regions:
        return Opened(embedded(), (f"the cached catalogue {file} is older than the package's and not used",))
    return Opened(cached, (f"{region}: figures read from AWS on {cached.figures.generated} ({file})",))


def from_file(path: str) -> InstanceTypes:
    """The user's own instance types, in KWOK's file format."""
    try:
        data = sources.content(Path(path))
    except OSError as error:
        raise BadInput([Fault(f"cannot be read: {error.strerror or error}", file=path)]) from error
    return kwok.read(data, path)


def refresh(region: str, now: datetime | None = None) -> Refreshed:
    """Read a region from AWS into the cache; where AWS cannot be read, the cache stays as it is."""
    from baseload.cloud.aws import prices

    now = now or datetime.now(UTC)
    file = cache_file(region)
    try:
        reading = prices.read(prices.connect(region), embedded().figures, now)
    except Unreachable as error:
        return Refreshed(None, 0, (f"{error}; the embedded catalogue is used",))
    origin = {"AWS": f"{region}, {now.date().isoformat()}"}
    data = ec2_file.encode(now.date().isoformat(), origin, reading.specs, {region: reading.region})
    _write(file, data)
    return Refreshed(file, len(reading.specs), reading.warnings)


def _is_name(region: str) -> bool:
    return region.replace("-", "").isalnum()


def _write(file: Path, data: bytes) -> None:
    """Whole or not at all: whoever reads meanwhile finds the old file or the new one."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as error:
        raise BadInput([Fault(f"cannot be written: {error.strerror or error}", file=str(file))]) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise BadInput([Fault(f"cannot be written: {error.strerror or error}", file=str(file))]) from error
