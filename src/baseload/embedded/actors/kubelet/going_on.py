"""Pods that run already when a kubelet sees them first: what there is at the start of a cluster's life, or a restart.

Their containers go on where they are. What is not ready is taken to begin now, since nobody knows what it waits for.
"""

from collections.abc import Sequence

from baseload.embedded.actors.kubelet.container import ContainerRun
from baseload.embedded.actors.pods import ContainerStatus, PodStatus
from baseload.values import instant


def goes_on(held: PodStatus, runs: Sequence[ContainerRun], now: int) -> bool:
    """Whether a pod of this status runs already; its containers are then as it says."""
    if held.phase != "Running":
        return False
    told = {one.name: one for one in (*held.init_container_statuses, *held.container_statuses)}
    ready = held.condition("Ready")
    is_ready = ready is not None and ready.status == "True"
    for run in runs:
        one = told.get(run.plan.name)
        if run.plan.role == "init":
            run.started = now
            run.end(now, 0)
        else:
            run.go_on(now, _since(one, now), 0 if one is None else one.restart_count, is_ready=_is_ready(one, is_ready))
    return True


def _is_ready(one: ContainerStatus | None, is_pod_ready: bool) -> bool:
    return is_pod_ready if one is None else one.ready


def _since(one: ContainerStatus | None, now: int) -> int:
    """When a container began; now where its status does not say."""
    running = None if one is None else one.state.running
    if running is None or not running.started_at:
        return now
    try:
        return min(instant.parse(running.started_at), now)
    except ValueError:
        return now
