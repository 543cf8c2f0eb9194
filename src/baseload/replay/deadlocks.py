"""Controllers that can never begin: what each waits for would have to be done by itself, or by others that wait for it.

A controller that lives in pods waits for the workload controllers where those pods are not there, for the scheduler
where that does not run and they have no node, and else for a node, which only Karpenter launches.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from baseload.embedded.actors import pods
from baseload.embedded.store.record import Record
from baseload.values import duration, instant, selector
from baseload.values.duration import MINUTE
from baseload.world.living import KARPENTER, SCHEDULER, WORKLOADS, Hosting, Living

LONG = 10 * MINUTE
"""A pod that has waited so long for a node waits for one that nobody launches"""
_DOES: Final = {KARPENTER: "launches nodes", SCHEDULER: "binds pods", WORKLOADS: "makes pods"}

_CURES: Final = {
    KARPENTER: "give it nodes of their own",
    SCHEDULER: "give it a pod that names its node",
    WORKLOADS: "have it live outside of the cluster",
}


@dataclass(frozen=True, slots=True)
class _Wait:
    """What a controller that does not run waits for."""

    why: str
    whom: str  # who would do it


def notes(living: Living) -> Iterator[str]:
    """A line for each controller, or circle of them, that is deadlocked now."""
    waits = {name: wait for name in living.settings.hosts if (wait := _wait(living, name)) is not None}
    told: set[str] = set()
    for name, wait in waits.items():
        chain = [name]
        while chain[-1] in waits and waits[chain[-1]].whom not in chain:
            chain.append(waits[chain[-1]].whom)
        if name in told or chain[-1] not in waits or waits[chain[-1]].whom != name:
            continue  # it waits for one that runs, or for a circle that was told, or of others
        told.update(chain)
        others = "".join(f"; {one} does not run either, since {waits[one].why}" for one in chain[1:])
        who = " and ".join(dict.fromkeys(f"only {waits[one].whom} {_DOES[waits[one].whom]}" for one in chain))
        yield f"deadlock: {name} does not run, since {wait.why}{others}, and {who}: {_CURES[wait.whom]}"


def _wait(living: Living, name: str) -> _Wait | None:
    """What one waits for that is down for long; None where it runs, or waits for nobody."""
    process = living.processes.get(name)
    if process is None or process.is_up or living.clock.now() - process.since < LONG:
        return None
    hosts = list(_hosts(living, living.settings.hosts[name]))
    if not hosts:
        return _Wait("none of the pods that it lives in is there", WORKLOADS)
    waiting = [pod for pod in hosts if not pod.node and _age(living, pod) >= LONG]
    if len(waiting) < len(hosts):
        return None
    oldest = max(waiting, key=lambda pod: _age(living, pod))
    age = duration.format(_age(living, oldest))
    why = f"it lives in pods that wait for a node ({oldest.namespace}/{oldest.name} for {age})"
    scheduler = living.processes[SCHEDULER]
    return _Wait(why, KARPENTER if scheduler.is_up else SCHEDULER)


def _hosts(living: Living, hosting: Hosting) -> Iterator[Record]:
    store = living.cluster.store
    resource = store.resource_of("", "Pod")
    assert resource is not None
    records, labels = store.table(resource).records, selector.parse(hosting.labels)
    for key in sorted(records):
        pod = records[key]
        if pod.namespace == hosting.namespace and labels.matches(pod.shared.labels) and not pods.is_over(pod):
            yield pod


def _age(living: Living, pod: Record) -> int:
    return living.clock.now() - instant.parse(pod.created)
