"""A whole disruption pass over a running cluster: every probe of several nodes, and every single node tried.

    python -m benchmarks.disrupt [--write]

The cluster is that of `benchmarks.simulate`, 30 pods a node in workloads of every kind, in a pool that consolidates at
once. Each node also holds a pod of a workload that wants nodes of its own, and the catalogue has no type below the
nodes' own; so each simulation places all pods of a node, plans a new node, and finds it no cheaper. In the second
cluster one node more, ranked last, has no such pod: the only move there is. Nothing is asserted; the figures are for
reading.

Beside it: what both modes of consolidation come to on half-empty clusters, and the bound on what any of them could.
"""

import argparse
import gc
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from baseload.decide.disrupt.decide import disrupt
from baseload.decide.disrupt.optimal import modes
from baseload.decide.provision.options import Options
from baseload.plan.disrupt import DisruptPlan, Method
from baseload.values import instant
from baseload.world import files
from benchmarks import cluster, half_empty, measure, mix, report
from benchmarks.mix import CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, Manifest

PODS_EACH: Final = 30
PODS_OF_LAST: Final = 45
NOW: Final = instant.parse("2026-06-01T12:00:00Z")
_BEFORE: Final = "2026-06-01T00:00:00Z"
_CONDITIONS: Final = ("Launched", "Registered", "Initialized", "Consolidatable")
_SIZES: Final = ((1_000, "5 s"), (200, "1 s"))
_OWN: Final = {"app": "anchor"}
CLUSTERS: Final = 10
_HALF_EMPTY: Final = f"""\
{CLUSTERS} random half-empty clusters of 200 nodes (`benchmarks.half_empty`), each until nothing is left to do.
In dollars an hour: before, at the end as Karpenter decides (`compatible`), at the end of the mode `optimal`, and the
bound: no end costs less in which the same pods run. A budget lets a tenth of the nodes go at once, or all, as drawn."""


def pool() -> Manifest:
    """A pool whose nodes may go at any time, all at once."""
    made = mix.node_pool()
    on_demand = {"key": CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]}
    made["spec"]["template"]["spec"]["requirements"] = [on_demand]
    made["spec"]["disruption"] = {"consolidateAfter": "0s", "budgets": [{"nodes": "100%"}]}
    return made


def items(nodes: int, *, movable: bool) -> Iterator[Manifest]:
    """The cluster; with `movable` one node more, whose many small pods have room elsewhere."""
    yield pool()
    yield from cluster.running(nodes, PODS_EACH)
    for number in range(nodes):
        demand = {"affinity": mix.anti_affinity(HOSTNAME, _OWN)}
        yield _running(mix.pod(f"anchor-{number}", _OWN, 100, 64, **demand, nodeName=f"node-{number:04}"))
    if movable:
        node, claim = cluster.node(nodes)
        node["spec"]["taints"] = [{"key": "closed", "effect": "NoSchedule"}]  # else an anchor could go there
        yield from (node, claim)
        for number in range(PODS_OF_LAST):
            yield _running(mix.pod(f"last-{number}", {"app": "last"}, 100, 64, nodeName=f"node-{nodes:04}"))


def _running(pod: Manifest) -> Manifest:
    return pod | {"status": {"phase": "Running"}}


def _ready(item: Manifest) -> Manifest:
    """A node of the smallest type in the catalogue, or its claim, long initialised and consolidatable."""
    if item["kind"] in ("Node", "NodeClaim"):
        item["metadata"]["labels"] |= {INSTANCE_TYPE: f"fake-it-{cluster.CPU - 1}"}
    if item["kind"] == "NodeClaim":
        item["status"] |= {
            "conditions": [
                {"type": type_, "status": "True", "reason": type_, "lastTransitionTime": _BEFORE}
                for type_ in _CONDITIONS
            ]
        }
    return item


def inputs(nodes: int, folder: Path, *, movable: bool) -> files.Inputs:
    return _read(mix.catalog()[cluster.CPU - 1 :], map(_ready, items(nodes, movable=movable)), folder)


def _read(types: list[Manifest], made: Iterable[Manifest], folder: Path) -> files.Inputs:
    catalog, dump = folder / "catalog.json", folder / "cluster.json"
    catalog.write_bytes(msgspec.json.encode(types))
    dump.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": list(made)}))
    return files.read([str(dump)], catalog=str(catalog), expand="never")


def once(nodes: int, *, movable: bool) -> tuple[float, DisruptPlan]:
    """The processor's time for a pass, and its plan."""
    with tempfile.TemporaryDirectory() as folder:
        read = inputs(nodes, Path(folder), movable=movable)
    gc.collect()
    gc.freeze()
    gc.disable()
    found = measure.timed(lambda: disrupt(read.view, read.tables, Options(now=NOW)))
    gc.enable()
    gc.unfreeze()
    return found


def optimal() -> str:
    """A table of the ends of both modes on half-empty clusters, beside the bound."""
    rows, shares = [], []
    for seed in range(1, CLUSTERS + 1):
        with tempfile.TemporaryDirectory() as folder:
            read = _read(half_empty.catalog(), half_empty.items(200, seed), Path(folder))
        took, compared = measure.timed(partial(modes.until_stable, read.view, read.tables, Options(now=NOW)))
        it = compared.comparison
        compatible, best = it.compatible.price_per_hour, it.optimal.price_per_hour
        shares.append(
            (compatible / it.before, best / it.before, it.bound / it.before, best / compatible, best / it.bound)
        )
        prices = (f"${price:.2f}" for price in (it.before, compatible, best, it.bound))
        moves = (f"{outlay.moves:,}" for outlay in (it.compatible, it.optimal))
        rows.append((str(seed), *prices, f"{best / compatible:.1%}", f"{best / it.bound:.1%}", *moves, f"{took:.0f} s"))
    means = [sum(column) / len(shares) for column in zip(*shares, strict=True)]
    rows.append(("mean", "100%", *(f"{share:.1%}" for share in means), "", "", ""))
    head = (
        *("cluster", "before", "compatible", "optimal", "bound", "optimal / compatible", "optimal / bound"),
        *("pods moved, compatible", "optimal", "all passes of both"),
    )
    return report.table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    chosen = parser.parse_args()
    once(20, movable=True)  # the first imports numpy
    rows = []
    for nodes, asked in _SIZES:
        for movable, told in ((False, "no move is possible"), (True, "only the last node can go")):
            took, plan = once(nodes, movable=movable)
            tried = sum(one.method is Method.SINGLE_NODE for one in plan.tried)
            found = ", ".join(f"{c.method} of {c.candidates[0].node}" for c in plan.commands) or "nothing"
            rows.append((f"{nodes:,} nodes, {told}", f"{tried:,}", found, f"{took:.2f} s", asked))
    head = (f"{PODS_EACH} pods a node", "kept after a try", "found", "measured", "asked")
    passes = report.table(head, rows)
    report.tell("disrupt", f"{passes}\n\n{_HALF_EMPTY}\n\n{optimal()}", write=chosen.write)


if __name__ == "__main__":
    main()
