"""Sees that generated files are what their generators write.

Every generator is a script `tools/build_*.py` and is held to its output in one of two ways:

* Its inputs lie in the repository or in a locked package: it has a function `outputs() -> dict[str, bytes]`, file name
  relative to the project's root to content, that reads nothing else and writes nothing. It is run here and every file
  is compared byte for byte. Run as a script, it writes the files.
* Its inputs are too large or come from elsewhere: `tools/generated.sha256` records the SHA-256 of the generator and of
  each of its outputs, one `sum  name` a line as sha256sum prints them. Whoever changes the generator without running
  it, or an output by hand, breaks a sum. After running it, `python tools/check_generated.py --record FILE...` (the
  generator and its outputs) writes the sums.

A generator that stands in that file is of the second kind, any other of the first.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = "tools/generated.sha256"


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def recorded(root: Path) -> dict[str, str]:
    """File name -> recorded sum."""
    record = root / RECORD
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    return {name: sum for sum, name in (line.split("  ", 1) for line in lines)}


def generated(generator: Path) -> dict[str, bytes]:
    """What a generator of the first kind writes."""
    spec = importlib.util.spec_from_file_location(generator.stem, generator)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[generator.stem] = module
    spec.loader.exec_module(module)
    outputs: dict[str, bytes] = module.outputs()
    return outputs


def faults(root: Path) -> list[str]:
    """Every generated file that is not what its generator writes."""
    found = []
    sums = recorded(root)
    for name, sum in sums.items():
        if not (root / name).exists():
            found.append(f"{name}: recorded in {RECORD}, but not there")
        elif digest(root / name) != sum:
            found.append(f"{name}: changed since {RECORD} was written; run its generator and record anew")
    for generator in sorted((root / "tools").glob("build_*.py")):
        name = generator.relative_to(root).as_posix()
        if name in sums:
            continue
        for output, content in generated(generator).items():
            if not (root / output).exists() or (root / output).read_bytes() != content:
                found.append(f"{output}: not what {name} writes; run python {name}")
    return found


def record(root: Path, files: Iterable[str]) -> None:
    """Take the sums of these files into the record."""
    names = {Path(file).resolve().relative_to(root.resolve()).as_posix() for file in files}
    sums = recorded(root) | {name: digest(root / name) for name in names}
    lines = [f"{sums[name]}  {name}\n" for name in sorted(sums)]
    (root / RECORD).write_text("".join(lines), encoding="utf-8")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--record"]:
        record(ROOT, arguments[1:])
        return 0
    found = faults(ROOT)
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
