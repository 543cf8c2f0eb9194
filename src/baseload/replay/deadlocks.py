"""Controllers that can never begin: each waits for a pod that waits for a node, which only that controller launches."""

from collections.abc import Iterator

from baseload.embedded.actors import pods
from baseload.embedded.store.record import Record
from baseload.values import duration, instant, selector
from baseload.values.duration import MINUTE
from baseload.world.living import Hosting, Living

LONG = 10 * MINUTE
"""A pod that has waited so long for a node waits for one that nobody launches"""


def notes(living: Living) -> Iterator[str]:
    """A line for each controller that is deadlocked now."""
    for name, hosting in living.settings.hosts.items():
        process = living.processes.get(name)
        if process is None or process.is_up:
            continue
        hosts = list(_hosts(living, hosting))
        waiting = [pod for pod in hosts if not pod.node and _age(living, pod) >= LONG]
        if hosts and len(waiting) == len(hosts):
            oldest = max(waiting, key=lambda pod: _age(living, pod))
            age = duration.format(_age(living, oldest))
            yield (
                f"deadlock: {name} does not run, since it lives in pods that wait for a node ({oldest.namespace}/"
                f"{oldest.name} for {age}), and only {name} launches nodes: give it nodes of their own"
            )


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
