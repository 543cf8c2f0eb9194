"""Removing each node of a running cluster in a simulation, on one set-up: what disruption and rebalancing stand on.

    python -m benchmarks.simulate [--nodes N] [--write]

The cluster has 30 pods a node, in workloads of every kind. A simulation takes one node away and places its pods anew on
the others or on new nodes. Nothing is asserted; the figures are for reading.
"""

import argparse
import gc
import statistics
import tempfile
from functools import partial
from pathlib import Path

import msgspec

from baseload.decide.provision.options import Options
from baseload.decide.provision.setup import set_up, setting_of
from baseload.world import files
from benchmarks import cluster, measure, mix, report

PODS_EACH = 30


def inputs(nodes: int, folder: Path) -> files.Inputs:
    catalog, dump = folder / "catalog.json", folder / "cluster.json"
    catalog.write_bytes(msgspec.json.encode(mix.catalog()))
    items = [mix.node_pool(), *cluster.running(nodes, PODS_EACH)]
    dump.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items}))
    return files.read([str(dump)], catalog=str(catalog))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        read = inputs(chosen.nodes, Path(folder))
    gc.collect()
    gc.freeze()
    gc.disable()
    setting = partial(setting_of, read.view, read.tables, Options())
    set_up_in, ready = measure.timed(lambda: set_up(setting(), movable=True))
    names = [host.name for host in ready.cluster.hosts]
    ready.without(names[:1])  # the first imports numpy
    times = [measure.timed(partial(ready.without, [name]))[0] for name in names]
    times.sort()
    rows = [
        ("set-up, once", f"{set_up_in:.2f} s", "1.5 s"),
        ("one removal, mean", f"{1000 * statistics.fmean(times):.2f} ms", "1 ms"),
        ("one removal, 99th percentile", f"{1000 * times[int(0.99 * len(times))]:.2f} ms", "3 ms"),
        ("one removal, worst", f"{1000 * times[-1]:.2f} ms", ""),
    ]
    head = (f"{chosen.nodes:,} nodes, {chosen.nodes * PODS_EACH:,} pods, each node removed once", "measured", "asked")
    report.tell("simulate", report.table(head, rows), write=chosen.write)


if __name__ == "__main__":
    main()
