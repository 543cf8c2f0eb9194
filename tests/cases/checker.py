"""Judges a provisioning plan by what a case's expect.yaml says of it (README.md beside this file).

A plan is taken as the JSON contract has it. Each key of `expect` is one function here, which yields a line for every
way in which the plan differs from it; a case holds when no line is yielded.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import yaml

from baseload.values import quantity

Json = Mapping[str, Any]
Place = tuple[str, str]
"""("node" or "nodeClaim", its name)"""

HOSTNAME: Final = "kubernetes.io/hostname"
ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class Case:
    """A folder: what goes in, and what must come out."""

    folder: Path
    rule: tuple[str, ...]
    title: str
    catalog: Path | None
    expect: Json
    objects: tuple[Json, ...]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def options_file(self) -> Path | None:
        file = self.folder / "options.yaml"
        return file if file.exists() else None


def read(folder: Path) -> Case:
    told = yaml.safe_load((folder / "expect.yaml").read_text(encoding="utf-8"))
    own = folder / "catalog.json"
    shared = (folder / told["catalog"]).resolve() if "catalog" in told else None
    return Case(
        folder=folder,
        rule=tuple(told["rule"]),
        title=told["title"],
        catalog=own if own.exists() else shared,
        expect=told["expect"],
        objects=tuple(yaml.safe_load_all((folder / "cluster.yaml").read_text(encoding="utf-8"))),
    )


class Outcome:
    """A plan beside the input that it was made for."""

    def __init__(self, case: Case, plan: Json) -> None:
        self.plan = plan
        self.pods = {_name(o): o for o in case.objects if o["kind"] == "Pod"}
        self.nodes = {o["metadata"]["name"]: o for o in case.objects if o["kind"] in ("NodeClaim", "Node")}
        self.claims: dict[str, Json] = {claim["name"]: claim for claim in plan["nodeClaims"]}
        self.failed = {unplaced["pod"] for unplaced in plan["unschedulable"]}
        self.placed: dict[str, Place] = {
            p["pod"]: ("node", p["node"]) if "node" in p else ("nodeClaim", p["nodeClaim"]) for p in plan["placements"]
        }
        bound = {name: pod["spec"]["nodeName"] for name, pod in self.pods.items() if pod["spec"].get("nodeName")}
        self.places: dict[str, Place] = {name: ("node", node) for name, node in bound.items()} | self.placed

    def claim(self, pod: str) -> Json:
        kind, name = self.places.get(pod, ("", ""))
        return self.claims[name] if kind == "nodeClaim" else {}

    def labels(self, pod: str) -> Mapping[str, str]:
        kind, name = self.places.get(pod, ("", ""))
        if not kind:
            return {}
        place = self.claims[name]["labels"] if kind == "nodeClaim" else self.nodes[name]["metadata"].get("labels", {})
        return {HOSTNAME: name, **place}

    def is_pending(self, pod: str) -> bool:
        return not self.pods[pod]["spec"].get("nodeName") and not _is_finished(self.pods[pod])


Faults = Iterator[str]
Test = Callable[[Outcome, Any], Faults]


def judge(case: Case, plan: Json) -> list[str]:
    """All that is not as the case says."""
    outcome = Outcome(case, plan)
    return [f"{key}: {fault}" for key, wanted in case.expect.items() for fault in TESTS[key](outcome, wanted)]


def _scheduled(outcome: Outcome, wanted: list[str]) -> Faults:
    return (f"{pod} got no place" for pod in wanted if pod not in outcome.placed)


def _unschedulable(outcome: Outcome, wanted: list[str]) -> Faults:
    for pod in wanted:
        if pod in outcome.placed:
            yield f"{pod} was placed on {outcome.placed[pod]}"
        elif outcome.is_pending(pod) and pod not in outcome.failed:
            yield f"{pod} is not listed"


def _scheduled_count(outcome: Outcome, wanted: object) -> Faults:
    return _count("pods got a place", len(outcome.placed), wanted)


def _new_nodes(outcome: Outcome, wanted: object) -> Faults:
    return _count("NodeClaims", len(outcome.claims), wanted)


def _count(what: str, got: int, wanted: Any) -> Faults:
    least, most = (wanted.get("min", 0), wanted.get("max", got)) if isinstance(wanted, dict) else (wanted, wanted)
    if not least <= got <= most:
        yield f"{got} {what}, not {wanted}"


def _on_node(outcome: Outcome, wanted: Json) -> Faults:
    for pod, nodes in wanted.items():
        if outcome.places.get(pod) not in [("node", node) for node in _listed(nodes)]:
            yield f"{pod} is on {outcome.places.get(pod)}, not {nodes}"


def _on_new_node(outcome: Outcome, wanted: list[str]) -> Faults:
    return (f"{pod} is on {outcome.places.get(pod)}" for pod in wanted if not outcome.claim(pod))


def _together(outcome: Outcome, wanted: list[list[str]]) -> Faults:
    for group in wanted:
        places = {outcome.places.get(pod) for pod in group}
        if len(places) > 1 or None in places:
            yield f"{group} are on {[outcome.places.get(pod) for pod in group]}"


def _apart(outcome: Outcome, wanted: list[list[str]]) -> Faults:
    for group in wanted:
        for one, other in combinations(group, 2):
            if outcome.places.get(one) == outcome.places.get(other):
                yield f"{one} and {other} are both on {outcome.places.get(one)}"


def _node_labels(outcome: Outcome, wanted: Json) -> Faults:
    for pod, key, values in _pairs(wanted):
        got = outcome.labels(pod).get(key)
        if got is None or (values != ANY and got not in map(str, _listed(values))):
            yield f"{pod}: {key} is {got}, not {values}"


def _node_labels_not(outcome: Outcome, wanted: Json) -> Faults:
    for pod, key, values in _pairs(wanted):
        got = outcome.labels(pod).get(key)
        if pod not in outcome.places or (got is not None and (values == ANY or got in map(str, _listed(values)))):
            yield f"{pod}: {key} is {got}"


def _of_claim(field: str) -> Test:
    def test(outcome: Outcome, wanted: Json) -> Faults:
        for pod, values in wanted.items():
            if outcome.claim(pod).get(field) not in _listed(values):
                yield f"{pod}: {outcome.claim(pod).get(field)}, not {values}"

    return test


def _instance_type_options(outcome: Outcome, wanted: Json) -> Faults:
    for pod, options in wanted.items():
        got = outcome.claim(pod).get("instanceTypes", ())
        if isinstance(options, list):
            if sorted(got) != sorted(options):
                yield f"{pod}: {sorted(got)}, not {options}"
        else:
            yield from _count(f"types are open to {pod}", len(got), options)


def _requests(outcome: Outcome, wanted: Json) -> Faults:
    for pod, resource, amount in _pairs(wanted):
        got = outcome.claim(pod).get("requests", {}).get(resource)
        if got is None or quantity.parse(got) != quantity.parse(amount):
            yield f"{pod}: {resource} is {got}, not {amount}"


def _node_annotations(outcome: Outcome, wanted: Json) -> Faults:
    for pod, key, value in _pairs(wanted):
        got = outcome.claim(pod).get("annotations", {}).get(key)
        if got != value:
            yield f"{pod}: {key} is {got}, not {value}"


def _node_taints(outcome: Outcome, wanted: Json) -> Faults:
    for pod, taints in wanted.items():
        got = [_taint(taint) for taint in outcome.claim(pod).get("taints", ())]
        yield from (f"{pod}: {taint} is missing from {got}" for taint in taints if _taint(taint) not in got)


def _requirements(outcome: Outcome, wanted: Json) -> Faults:
    for pod, key, entries in _pairs(wanted):
        written = outcome.claim(pod).get("requirements", ())
        got = [{name: entry[name] for name in entry if name != "key"} for entry in written if entry["key"] == key]
        if sorted(map(_entry, got)) != sorted(map(_entry, entries)):
            yield f"{pod}: {key} is {got}, not {entries}"


def _static_node_claims(outcome: Outcome, wanted: Json) -> Faults:
    return _values({pool["nodePool"]: pool["delta"] for pool in outcome.plan["staticPools"]}, wanted, absent=0)


def _buffer_replicas(outcome: Outcome, wanted: Json) -> Faults:
    return _values({buffer["buffer"]: buffer["replicas"] for buffer in outcome.plan["buffers"]}, wanted)


def _buffer_provisioning(outcome: Outcome, wanted: Json) -> Faults:
    return _values({buffer["buffer"]: buffer["provisioning"] for buffer in outcome.plan["buffers"]}, wanted)


def _values(got: Json, wanted: Json, absent: object = None) -> Faults:
    for name, value in wanted.items():
        if got.get(name, absent) != value:
            yield f"{name}: {got.get(name, absent)}, not {value}"


def _skew(outcome: Outcome, wanted: list[Json]) -> Faults:
    for entry in wanted:
        counts: Counter[str] = Counter()
        for name, pod in outcome.pods.items():
            if _is_counted(outcome, name) and _selects(entry, pod):
                domain = outcome.labels(name).get(entry["key"])
                counts.update([domain] if domain is not None else [])
        if sorted(counts.values()) != sorted(entry["counts"]):
            yield f"{entry['key']}: {dict(sorted(counts.items()))}, not {entry['counts']}"


def _is_counted(outcome: Outcome, pod: str) -> bool:
    """Placed in this pass, or running: neither finished nor terminating."""
    leaves = _is_finished(outcome.pods[pod]) or "deletionTimestamp" in outcome.pods[pod]["metadata"]
    return pod in outcome.placed or not leaves


def _selects(entry: Json, pod: Json) -> bool:
    metadata, selector = pod["metadata"], entry["selector"]
    is_near = metadata["namespace"] == entry.get("namespace", "default")
    return is_near and all(metadata.get("labels", {}).get(key) == value for key, value in selector.items())


def _is_finished(pod: Json) -> bool:
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def _name(obj: Json) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _taint(taint: Json) -> tuple[str, str, str]:
    return taint["key"], taint.get("value", ""), taint["effect"]


def _entry(entry: Json) -> tuple[str, tuple[str, ...], int]:
    return entry["operator"], tuple(map(str, entry.get("values", ()))), entry.get("minValues") or 0


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


def _pairs(wanted: Json) -> Iterator[tuple[str, str, Any]]:
    """What is wanted of a pod's node, one entry at a time."""
    return ((pod, key, value) for pod, entries in wanted.items() for key, value in entries.items())


TESTS: Final[Mapping[str, Test]] = {
    "scheduled": _scheduled,
    "unschedulable": _unschedulable,
    "scheduledCount": _scheduled_count,
    "newNodes": _new_nodes,
    "onNode": _on_node,
    "onNewNode": _on_new_node,
    "together": _together,
    "apart": _apart,
    "nodeLabels": _node_labels,
    "nodeLabelsNot": _node_labels_not,
    "instanceType": _of_claim("instanceType"),
    "nodePool": _of_claim("nodePool"),
    "binding": _of_claim("binding"),
    "instanceTypeOptions": _instance_type_options,
    "requests": _requests,
    "requirements": _requirements,
    "nodeAnnotations": _node_annotations,
    "nodeTaints": _node_taints,
    "skew": _skew,
    "staticNodeClaims": _static_node_claims,
    "bufferReplicas": _buffer_replicas,
    "bufferProvisioning": _buffer_provisioning,
}
