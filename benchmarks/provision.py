"""`baseload plan provision` on the provisioning benchmarks of Karpenter, and on loads that their mix hides.

    python -m benchmarks.provision            prints the figures
    python -m benchmarks.provision --write    and writes them into docs/benchmarks.md

Whole command: processor seconds of the process less those of the same command on one pod, so what is left is what pods
cost. Solve: placing the pods alone, set-up not counted. Nothing is asserted; the figures are for reading.
"""

import argparse
import gc
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from baseload.decide.provision.options import Options
from baseload.decide.provision.setup import set_up, setting_of
from baseload.world import files
from benchmarks import measure, mix, report

TIMES = 3


@dataclass(frozen=True, slots=True)
class Load:
    """Pods, and the supply that they are planned on."""

    name: str
    pods: Callable[[], list[mix.Manifest]]
    aims: str  # what is asked of it
    catalog: Callable[[], list[mix.Manifest]] = mix.catalog
    pool: Callable[[], mix.Manifest] = mix.node_pool


MIX = [
    Load(f"mix, {count:,} pods", partial(mix.diverse, count), aims)
    for count, aims in (
        (500, ""),
        (2_000, ""),
        (5_000, "whole 0.3 s"),
        (10_000, ""),
        (20_000, "whole 1 s, solve 0.3 s, 300 MiB"),
    )
]

OTHERS = [
    Load("preferences, 4,000 pods", mix.preference, "solve 0.15 s"),
    Load("1,000 workloads with groups of their own, 20,000 pods", mix.workloads, "solve 0.6 s"),
    Load("every pod another size, 20,000 pods", partial(mix.distinct_sizes, 20_000), "solve 1.5 s", mix.small_catalog),
    Load("chain of 200 affinities, 4,000 pods", mix.affinity_chain, "solve 1 s"),
    Load("spread over 400 domains, 5,000 pods", mix.spread_over_types, "solve 1 s"),
    Load(
        "limit reached at half the nodes, 20,000 pods",
        partial(mix.diverse, 20_000),
        "",
        pool=lambda: mix.limit_reached(20_000)[1],
    ),
]


@dataclass(frozen=True, slots=True)
class Figures:
    load: Load
    whole: float
    solve: float
    peak: float
    nodes: int
    unplaced: int


def figures(load: Load, folder: Path) -> Figures:
    pods, pool = load.pods(), load.pool()
    catalog = folder / "catalog.json"
    catalog.write_bytes(msgspec.json.encode(load.catalog()))
    many, one = _written(folder / "many.json", pool, pods), _written(folder / "one.json", pool, pods[:1])

    def words(file: str) -> list[str]:
        return ["plan", "provision", "-f", file, "--catalog", str(catalog), "-o", "json"]

    run = measure.command(words(many), times=TIMES)
    base = measure.command(words(one), times=TIMES)
    solve, nodes, unplaced = _solve(many, str(catalog))
    return Figures(load, run.cpu - base.cpu, solve, run.peak, nodes, unplaced)


def _written(file: Path, pool: mix.Manifest, pods: Sequence[mix.Manifest]) -> str:
    file.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": [pool, *pods]}))
    return str(file)


def _solve(file: str, catalog: str) -> tuple[float, int, int]:
    """The best of some solves, each on a set-up of its own, and what it came to."""
    inputs = files.read([file], catalog=catalog)
    best, nodes, unplaced = float("inf"), 0, 0
    for _ in range(TIMES):
        made = set_up(setting_of(inputs.view, inputs.tables, Options()))
        gc.collect()
        gc.disable()
        seconds, fitted = measure.timed(partial(made.fit.solve, made.pods))
        gc.enable()
        best, nodes, unplaced = min(best, seconds), len(fitted.claims), len(fitted.failed)
    return best, nodes, unplaced


def table(rows: Sequence[Figures]) -> str:
    head = ("load", "whole command less one pod", "solve", "per pod", "peak memory", "nodes", "unplaced", "asked")
    cells = []
    for row in rows:
        count = len(row.load.pods())
        cells.append(
            (
                row.load.name,
                f"{row.whole:.2f} s",
                f"{row.solve:.3f} s",
                f"{1e6 * row.solve / count:.0f} µs",
                f"{row.peak:.0f} MiB",
                f"{row.nodes:,}",
                f"{row.unplaced:,}",
                row.load.aims,
            )
        )
    return report.table(head, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [figures(load, Path(folder)) for load in (*MIX, *OTHERS)]
    by_name = {row.load.name: row for row in rows}
    small, large = by_name["mix, 5,000 pods"], by_name["mix, 20,000 pods"]
    text = (
        f"{table(rows)}\n\nFrom 5,000 to 20,000 pods of the mix: solve {large.solve / small.solve:.1f} times, "
        f"whole command {large.whole / small.whole:.1f} times (asked: at most 4.5)."
    )
    report.tell("provision", text, write=chosen.write)


if __name__ == "__main__":
    main()
