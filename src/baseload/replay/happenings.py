"""What a scenario may have happen: each kind of event with its fields, and how a list of them is read.

`at` is a moment from the start of the run; `cron` a schedule, in UTC or in `timeZone`. With `every` and `repeat` an
event comes again. `acts` carries them out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from baseload.cloud.simulated.forms import Tree
from baseload.cloud.simulated.settings import CALLS, ERRORS
from baseload.replay import fields
from baseload.replay.fields import Field, about
from baseload.replay.weather import NAMES
from baseload.values import cron, duration
from baseload.world.living import KARPENTER, PROCESSES

MOST: Final = 100_000  # events of a scenario, the repeated ones counted each
_FAILURES: Final = ("Dies", "Stops", "Hangs", "HostFails", "Retires")
CAPACITY_TYPES: Final = ("on-demand", "spot")

_NAMESPACE: Final = about(fields.TEXT, "`default` where nothing is said")
_FOR: Final = about(fields.LENGTH, "how long; for good where nothing is said")
_STRUCK: Final = about(
    fields.texts(fields.one_of(*NAMES)), "for whom; for everybody, the scenario's users too, where nothing is said"
)
_OBJECT: Final = {
    "kind": about(fields.TEXT, "e.g. `Deployment`").required,
    "name": about(fields.TEXT, "its name").required,
    "namespace": _NAMESPACE,
}
_WORKLOAD: Final = {"workload": about(fields.TEXT, "the name of a workload").required, "namespace": _NAMESPACE}
_WHERE: Final = {
    "types": about(fields.texts(fields.TEXT), "instance types, with `*`; all where nothing is said"),
    "zones": about(fields.texts(fields.TEXT), "zones; all where nothing is said"),
    "capacityTypes": about(fields.texts(fields.one_of(*CAPACITY_TYPES)), "`spot`, `on-demand`; both by default"),
}
_NODES: Final = {
    "node": about(fields.TEXT, "one Node by its name"),
    "nodePool": about(fields.TEXT, "those of a NodePool"),
    "zone": about(fields.TEXT, "those in a zone"),
    "instanceType": about(fields.TEXT, "those of an instance type"),
    "capacityType": about(fields.one_of(*CAPACITY_TYPES), "those of a capacity type"),
    "workload": about(fields.TEXT, "those on which a pod of a workload runs, by its name"),
    "namespace": about(fields.TEXT, "the workload's; `default` where nothing is said"),
    "count": about(fields.whole(1), "so many of them, drawn; all where nothing is said"),
    "percent": about(fields.PERCENT, "such a share of them, drawn and rounded up"),
}

KINDS: Final[Mapping[str, tuple[str, Mapping[str, Field]]]] = {
    "apply": (
        "applies objects, as kubectl apply --server-side --force-conflicts does",
        {"manifests": about(fields.LIST, "files, relative to the scenario, or objects").required},
    ),
    "delete": ("deletes an object", _OBJECT),
    "scale": (
        "sets the replicas of a Deployment, ReplicaSet or StatefulSet",
        {**_WORKLOAD, "replicas": about(fields.whole(0, 1_000_000), "how many").required},
    ),
    "patch": (
        "changes an object by a merge patch",
        {
            **_OBJECT,
            "patch": about(fields.MAP, "the patch").required,
            "subresource": about(fields.one_of("status", "scale"), "of a subresource in place of the object"),
        },
    ),
    "loadCurve": (
        "says what all pods of a workload together use from now on, as metrics tell autoscalers",
        {
            **_WORKLOAD,
            "cpu": about(fields.USE, "cores; equal shares for the pods that run"),
            "memory": about(fields.USE, "bytes; equal shares for the pods that run"),
        },
    ),
    "runCronJob": ("makes the Job of a CronJob now, as kubectl create job --from does", _WORKLOAD),
    "interrupt": ("gives spot instances their notice; two minutes later they end", _NODES),
    "nodeFailure": (
        "has instances fail",
        {
            **_NODES,
            "failure": about(fields.one_of(*_FAILURES), "how; see the failures of the cloud").required,
            "for": _FOR,
        },
    ),
    "outOfCapacity": (
        "has pools give no more instances than they have",
        {**_WHERE, "instances": about(fields.whole(0), "how many each gives at most; 0"), "for": _FOR},
    ),
    "zoneDown": (
        "has a zone give no instance and its instances hang",
        {"zone": about(fields.TEXT, "which").required, "for": _FOR},
    ),
    "zoneUp": ("ends an outage of a zone", {"zone": about(fields.TEXT, "which").required}),
    "cloudFault": (
        "has calls of the cloud go wrong",
        {
            "call": about(fields.one_of(*CALLS), "by AWS' name").required,
            "error": about(fields.one_of(*ERRORS), "what the caller is told"),
            "delay": about(fields.SPAN, "how much later the answer comes"),
            "lost": about(fields.BOOLEAN, "whether the call is done and its answer never comes"),
            "count": about(fields.whole(1), "how many calls; all where nothing is said"),
            "percent": about(fields.PERCENT, "such a share of them"),
            **_WHERE,
            "for": _FOR,
        },
    ),
    "apiSlow": (
        "has the API server answer later",
        {"delay": about(fields.LENGTH, "how much later").required, "controllers": _STRUCK, "for": _FOR},
    ),
    "apiDown": ("has the API server not answer, and breaks watches", {"controllers": _STRUCK, "for": _FOR}),
    "killController": (
        "ends the process of a controller; it starts anew",
        {
            "controller": about(fields.one_of(*PROCESSES), "which").required,
            "afterWrites": about(
                fields.whole(0), "of karpenter: not now, but in place of its next write or cloud call but so many"
            ),
            "downFor": about(fields.SPAN, "until it starts anew; 5s"),
        },
    ),
    "cordon": ("makes Nodes unschedulable", _NODES),
    "uncordon": ("makes Nodes schedulable again", _NODES),
    "evict": (
        "evicts pods of a workload by the eviction API, which asks PodDisruptionBudgets; a refusal is noted",
        {**_WORKLOAD, "count": about(fields.whole(1), "so many, by their names; all where nothing is said")},
    ),
}
"""Kind of event -> what it does, and its fields"""

MOMENTS: Final[Mapping[str, Field]] = {
    "at": about(fields.SPAN, "when, from the start of the run"),
    "cron": about(fields.TEXT, "a schedule in place of `at`, e.g. `0 8 * * 1-5`"),
    "timeZone": about(fields.TEXT, "the schedule's; UTC where nothing is said"),
    "every": about(fields.LENGTH, "again and again, so long after each other"),
    "repeat": about(fields.whole(1, MOST), "how often in all; to the end of the run where nothing is said"),
}


BY_USERS: Final = ("apply", "delete", "scale", "patch", "runCronJob", "cordon", "uncordon", "evict")
"""What somebody asks of the API server"""
WEATHERS: Final = ("apiSlow", "apiDown")


@dataclass(frozen=True, slots=True)
class Happening:
    """One event of a scenario."""

    moments: tuple[int, ...]  # from the start of the run
    do: str
    fields: Mapping[str, Any]  # those of its kind; None where nothing is said
    path: str


def read(trees: Iterator[Tree], path: str, *, start: int, length: int) -> Iterator[tuple[Happening, Tree]]:
    """The events of a list of maps, each with its map, where more can be noted."""
    for index, tree in enumerate(trees):
        do = tree.required("do", fields.one_of(*KINDS).form, None)
        moments = tuple(_moments(tree, start, length))
        if do is None:
            tree.pass_over()
            continue
        found = fields.read(tree, KINDS[do][1])
        for note in _CHECKS.get(do, ()):
            note(tree, found)
        yield Happening(moments, do, found, f"{path}[{index}]"), tree


def _moments(tree: Tree, start: int, length: int) -> Iterator[int]:
    when = fields.read(tree, MOMENTS)
    if when["cron"] is not None:
        yield from _scheduled(tree, when, start, length)
        return
    at = when["at"]
    if at is None:
        if not tree.says("at"):
            tree.note("at", "Required value", "a duration from the start, e.g. 10m; or cron, a schedule")
        return
    if at > length:
        tree.note("at", f"{duration.format(at)} is after the end", f"at most {duration.format(length)}")
        return
    every, repeat = when["every"], when["repeat"]
    if every is None:
        if repeat is not None:
            tree.note("repeat", "says nothing without every", "give every, e.g. 1h")
        yield at
        return
    count = (length - at) // every + 1
    if repeat is not None and repeat > count:
        last = duration.format(at + (repeat - 1) * every)
        tree.note("repeat", f"the last is at {last}, after the end", f"at most {count}")
        return
    if repeat is None and count > MOST:
        tree.note("every", f"comes {count} times", f"at most {MOST}")
        return
    yield from (at + number * every for number in range(count if repeat is None else repeat))


def _scheduled(tree: Tree, when: Mapping[str, Any], start: int, length: int) -> Iterator[int]:
    for name in ("at", "every", "repeat"):
        if when[name] is not None:
            tree.note(name, "says nothing beside cron", "leave one of them out")
    try:
        schedule = cron.parse(when["cron"], when["timeZone"] or "")
    except ValueError as error:  # also of a time zone that there is not
        tree.note("cron", str(error))
        return
    except LookupError:
        tree.note("timeZone", "is no time zone", "e.g. Europe/Berlin")
        return
    count, at = 0, schedule.next(start - 1)
    while at is not None and at <= start + length:
        yield at - start
        count, at = count + 1, schedule.next(at)
        if count > MOST:
            tree.note("cron", f"comes more than {MOST} times")
            return
    if not count:
        tree.note("cron", "is not due before the end", f"something within {duration.format(length)}")


def _one_target(tree: Tree, found: Mapping[str, Any]) -> None:
    if found["node"] is not None:
        others = [name for name in _NODES if name not in ("node", "namespace") and found[name] is not None]
        if others:
            tree.note("node", f"is one Node, beside {', '.join(others)}", "leave one of them out")
    if found["count"] is not None and found["percent"] is not None:
        tree.note("percent", "beside count", "leave one of them out")
    if not any(tree.says(name) for name in _NODES):
        tree.note("", "says of no Node that it is meant", f"at least one of {', '.join(_NODES)}")


def _some_use(tree: Tree, found: Mapping[str, Any]) -> None:
    if not (tree.says("cpu") or tree.says("memory")):
        tree.note("", "does nothing", "give cpu or memory")


def _some_fault(tree: Tree, found: Mapping[str, Any]) -> None:
    if not (tree.says("error") or tree.says("delay") or tree.says("lost")):
        tree.note("", "does nothing", "give error, delay or lost")


def _of_karpenter(tree: Tree, found: Mapping[str, Any]) -> None:
    if found["afterWrites"] is not None and found["controller"] not in (None, KARPENTER):
        tree.note("afterWrites", f"is not of {found['controller']}", f"of {KARPENTER} alone")


_Check = Callable[[Tree, Mapping[str, Any]], None]
_CHECKS: Final[Mapping[str, tuple[_Check, ...]]] = {
    "interrupt": (_one_target,),
    "nodeFailure": (_one_target,),
    "cordon": (_one_target,),
    "uncordon": (_one_target,),
    "loadCurve": (_some_use,),
    "cloudFault": (_some_fault,),
    "killController": (_of_karpenter,),
}
