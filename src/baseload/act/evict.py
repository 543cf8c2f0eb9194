"""The queue of evictions: each pod is tried again, ever later, until it has gone (disruption and lifecycle spec 23.4).

What is to be done with a pod is decided anew at every attempt. A pod has the earliest deadline that was ever given.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from baseload.act.events import Events
from baseload.act.objects import Objects
from baseload.act.queue import Queue
from baseload.decide.lifecycle import drain
from baseload.decide.lifecycle.pods import protection_told
from baseload.kube.client.errors import ApiError, Conflict, NotFound, ServerFailed, TooManyRequests
from baseload.kube.client.requests import Deletion
from baseload.kube.types.core import Node, Pod
from baseload.plan.lifecycle import Told
from baseload.values import instant

FIRST: Final = 0.1  # seconds until an eviction is tried again, doubling
LONGEST: Final = 10.0
WORKERS: Final = 10
SEVERAL: Final = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
"""What the API says of a pod that several budgets guard"""
_Key = tuple[str, str, str]
"""(namespace, name, uid)"""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Of which node a pod is to leave, by when, and why."""

    node: Node
    deadline: int | None
    reason: str


class Evictions:
    """The pods that are to leave; `find` gives a pod as it is now, by namespace and name."""

    def __init__(self, objects: Objects, events: Events, find: Callable[[str, str], Pod | None]) -> None:
        self._objects, self._events, self._find = objects, events, find
        self._clock = objects.client.clock
        self._queue: Queue[_Key] = Queue(self._clock)
        self._asked: dict[_Key, _Asked] = {}
        self._failures: dict[_Key, int] = {}

    def add(self, pods: Iterable[Pod], node: Node, deadline: int | None, reason: str) -> None:
        """Has pods of a node leave, where that is not under way."""
        for pod in pods:
            key = pod.metadata.namespace, pod.metadata.name, pod.metadata.uid
            held = self._asked.get(key)
            if held is None:
                self._queue.add(key)
            elif deadline is None or (held.deadline is not None and held.deadline <= deadline):
                continue
            self._asked[key] = _Asked(node, deadline, reason)

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(*(self._work() for _ in range(WORKERS)))

    async def _work(self) -> None:
        while True:
            key = await self._queue.take()
            try:
                is_over = await self._attempt(key)
            except ApiError:
                is_over = False
            self._queue.done(key)
            if is_over:
                del self._asked[key]
                self._failures.pop(key, None)
            else:
                failures = self._failures[key] = self._failures.get(key, 0) + 1
                self._queue.add(key, min(FIRST * 2 ** min(failures - 1, 10), LONGEST))

    async def _attempt(self, key: _Key) -> bool:
        """Whether nothing is left to be done."""
        namespace, name, uid = key
        asked = self._asked[key]
        pod = self._find(namespace, name)
        if pod is not None and pod.metadata.uid != uid:
            pod = None
        now = self._clock.now()
        told = None if pod is None else protection_told(pod, now)
        if pod is not None and told is not None:
            self._events.tell(pod, told)
        match drain.attempt(pod, asked.deadline, now):
            case "later":
                return False
            case "evict":
                assert pod is not None
                return await self._evict(pod, asked)
            case "delete":
                assert pod is not None
                assert asked.deadline is not None
                grace = drain.grace_left(asked.deadline, now)
                self._events.tell(pod, Told("Disrupted", _disrupted(pod, asked.deadline, grace)))
                await self._objects.delete(pod, grace_seconds=grace)
        return True

    async def _evict(self, pod: Pod, asked: _Asked) -> bool:
        metadata = pod.metadata
        try:
            options = Deletion(uid=metadata.uid)
            await self._objects.client.evict(metadata.name, namespace=metadata.namespace, options=options)
        except (NotFound, Conflict):
            return True  # gone, or another pod of that name
        except TooManyRequests:
            self._failed(pod, asked.node, "evicting pod violates a PDB")
            return False
        except ServerFailed as error:
            if SEVERAL in str(error):
                self._failed(pod, asked.node, "eviction does not support multiple PDBs")
            return False
        self._events.tell(pod, Told("Evicted", f"Evicted pod: {asked.reason}"))
        return True

    def _failed(self, pod: Pod, node: Node, why: str) -> None:
        message = f"Failed to drain node, {why} (Pod={pod.metadata.namespace}/{pod.metadata.name})"
        self._events.tell(node, Told("FailedDraining", message, "Warning"))


def _disrupted(pod: Pod, deadline: int, grace: int) -> str:
    moment = instant.format(deadline).replace("T", " ").removesuffix("Z")
    return (
        f"Deleting the pod to accommodate the terminationTime {moment} +0000 UTC of the node. The pod was granted "
        f"{grace} seconds of grace-period of its {pod.spec.termination_grace_period_seconds or 0} "
        "terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation."
    )
