"""The queue of evictions: each pod is tried again, ever later, until it has gone (disruption and lifecycle spec 23.4).

What is to be done with a pod is decided anew at every attempt. A pod has the earliest deadline that was ever given.
"""

from collections.abc import Callable, Iterable
from typing import Final

from baseload.act.events import Events
from baseload.act.objects import Objects
from baseload.act.queue import Queue
from baseload.decide.lifecycle import drain
from baseload.kube.client.errors import ApiError, Conflict, NotFound, ServerFailed, TooManyRequests
from baseload.kube.client.requests import Deletion
from baseload.kube.types.core import Node, Pod
from baseload.plan.lifecycle import Told

FIRST: Final = 0.1  # seconds until an eviction is tried again, doubling
LONGEST: Final = 10.0
WORKERS: Final = 10
_Key = tuple[str, str, str]
"""(namespace, name, uid)"""


class Evictions:
    """The pods that are to leave; `find` gives a pod as it is now, by namespace and name."""

    def __init__(self, objects: Objects, events: Events, find: Callable[[str, str], Pod | None]) -> None:
        self._objects, self._events, self._find = objects, events, find
        self._clock = objects.client.clock
        self._queue: Queue[_Key] = Queue(self._clock)
        self._asked: dict[_Key, tuple[int | None, Node]] = {}
        self._failures: dict[_Key, int] = {}

    def add(self, pods: Iterable[Pod], node: Node, deadline: int | None) -> None:
        """Has pods of a node leave, where that is not under way."""
        for pod in pods:
            key = pod.metadata.namespace, pod.metadata.name, pod.metadata.uid
            held = self._asked.get(key)
            if held is None:
                self._queue.add(key)
            elif deadline is None or (held[0] is not None and held[0] <= deadline):
                continue
            self._asked[key] = deadline, node

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
        deadline, node = self._asked[key]
        pod = self._find(namespace, name)
        if pod is not None and pod.metadata.uid != uid:
            pod = None
        now = self._clock.now()
        match drain.attempt(pod, deadline, now):
            case "later":
                return False
            case "evict":
                assert pod is not None
                return await self._evict(pod, node)
            case "delete":
                assert pod is not None
                await self._objects.delete(pod, grace_seconds=drain.grace_left(deadline, now))
                message = "Deleted the pod to accommodate the terminationGracePeriod of the node"
                await self._events.tell(pod, Told("Disrupted", message))
        return True

    async def _evict(self, pod: Pod, node: Node) -> bool:
        metadata = pod.metadata
        try:
            options = Deletion(uid=metadata.uid)
            await self._objects.client.evict(metadata.name, namespace=metadata.namespace, options=options)
        except (NotFound, Conflict):
            return True  # gone, or another pod of that name
        except TooManyRequests as error:
            await self._failed(pod, node, f"evicting pod violates a PDB ({error})")
            return False
        except ServerFailed as error:
            await self._failed(pod, node, str(error))
            return False
        await self._events.tell(pod, Told("Evicted", "Evicted pod: the node is being deleted"))
        return True

    async def _failed(self, pod: Pod, node: Node, why: str) -> None:
        message = f"Failed to drain node, {pod.metadata.namespace}/{pod.metadata.name}: {why}"
        await self._events.tell(node, Told("FailedDraining", message, "Warning"))
