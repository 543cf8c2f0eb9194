"""The node lifecycle controller: finds silent nodes, taints nodes by their conditions, and paces how they are emptied.

It looks every 5 s, as the real one does; but the look at which a silent node is Unknown is known when it falls silent,
so there is a look only where something is due. Taints that keep pods from being scheduled follow a node's conditions at
once; those that evict follow one look later, in the order of a queue for each zone (cluster-actors spec 17). The
controller of 1.37.2 puts them into the queue in the look that found the node silent, which can be asked for.
"""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from baseload.decide.node import silence, taints
from baseload.decide.node.silence import Looks
from baseload.decide.node.taints import Status
from baseload.embedded.actors import nodes, pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.heartbeats import Heartbeats
from baseload.embedded.actors.kubelet import leases
from baseload.embedded.actors.pods import Condition
from baseload.embedded.actors.recorder import Recorder
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.store.record import Json, Record
from baseload.values.clock import FOREVER, Clock
from baseload.values.instant import SECOND

MANAGER: Final = "kube-controller-manager"
COMPONENT: Final = "node-controller"
EXCLUDED: Final = "node.kubernetes.io/exclude-disruption"
_ZONE: Final = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
_OURS: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_STOPPED: Final = ("NodeStatusUnknown", "Kubelet stopped posting node status.")
_NEVER: Final = ("NodeStatusNeverUpdated", "Kubelet never posted node status.")


@dataclass(slots=True)
class _Seen:
    """What the controller remembers of a node; moments of looks."""

    first: int
    posted: int  # the last change of its status by somebody else
    heartbeat: str = ""  # of its Ready condition, as it was then
    ready: str = ""  # what the last look found


@dataclass(slots=True)
class _Zone:
    """The queue of nodes that are to be tainted, and when the next may be."""

    queue: dict[str, None] = field(default_factory=dict)
    free: int = 0
    pace: int | None = taints.EVERY


class NodeLifecycle:
    """Watches all nodes of a cluster."""

    def __init__(
        self, cluster: Cluster, clock: Clock, heartbeats: Heartbeats, *, evicts_one_look_later: bool = True
    ) -> None:
        self._client, self._clock, self._heartbeats = ActorClient(cluster, MANAGER), clock, heartbeats
        self._recorder = Recorder(self._client, COMPONENT)
        self._bell = clock.bell()
        self._nodes = self._client.subscribe(
            "", "Node", ("added", "removed", "spec", "status", "other"), self._bell.ring
        )
        self._leases = self._client.subscribe(
            "coordination.k8s.io", "Lease", ("added", "spec", "other"), self._bell.ring
        )
        heartbeats.follow(self._bell.ring)
        self._is_late = evicts_one_look_later
        self._seen: dict[str, _Seen] = {}
        self._due: dict[str, int] = {}  # node -> the look at which it is due
        self._zones: dict[str, _Zone] = {}
        self._is_all_disrupted = False
        self._looks, self._looked = Looks(clock.now()), 0  # and when it last looked

    async def run(self) -> None:
        """Watches until the end."""
        self._looks = Looks(self._clock.now())
        for node in list(self._client.records("", "Node").values()):
            self._meet(node)
        while True:
            self._hear()
            now = self._clock.now()
            self._look(now)
            self._empty(now)
            moments = [*self._due.values(), *self._turns()]
            await self._bell.wait((min(moments) - now) / SECOND if moments else FOREVER)

    def close(self) -> None:
        """It hears of nothing any more."""
        self._heartbeats.unfollow(self._bell.ring)
        self._client.close()

    # -- hearing

    def _hear(self) -> None:
        for event in self._leases.take():
            lease = event.record
            if lease.namespace == leases.NAMESPACE and self._is_news(lease):
                self._heartbeats.renew(lease.name, self._clock.now())
        for event in self._nodes.take():
            if event.type == "DELETED":
                self._forget(event.record)
            elif (held := self._held(event.record.name)) is not None and held.uid == event.record.uid:
                self._meet(held)
        for name in self._heartbeats.take():
            if (held := self._held(name)) is not None:
                self._meet(held)

    def _is_news(self, lease: Record) -> bool:
        """Whether a Lease tells a later renewal than is known: a kubelet of this cluster writes only what is."""
        known, told = self._heartbeats.of(lease.name), leases.renewed_at(lease)
        return known is None or (told is not None and told > known.last(self._clock.now()))

    def _meet(self, node: Record) -> None:
        """A node that is new, or of which something changed."""
        now, ready = self._clock.now(), nodes.status(node).condition("Ready")
        seen = self._seen.get(node.name)
        look = self._looks.at_or_after(now)
        if seen is None:
            seen = self._seen[node.name] = _Seen(look, look)
            self._recorder.record(
                node, "Normal", "RegisteredNode", f"Node {node.name} event: Registered Node {node.name} in Controller"
            )
        if (
            ready is not None
            and ready.last_heartbeat_time != seen.heartbeat
            and ready.reason not in (_STOPPED[0], _NEVER[0])
        ):
            seen.heartbeat, seen.posted = ready.last_heartbeat_time, look
        self._taint_by_conditions(node)
        self._arrange(node.name, now)

    def _forget(self, node: Record) -> None:
        self._seen.pop(node.name, None)
        self._due.pop(node.name, None)
        for zone in self._zones.values():
            zone.queue.pop(node.name, None)
        if any(zone.queue for zone in self._zones.values()):
            self._judge(self._clock.now())
        self._recorder.record(
            node, "Normal", "RemovingNode", f"Node {node.name} event: Removing Node {node.name} from Controller"
        )

    def _arrange(self, name: str, now: int) -> None:
        """When a node is to be looked at next, if ever."""
        node = self._held(name)
        if node is None or name not in self._seen:
            self._due.pop(name, None)
            return
        soon = self._looks.at_or_after(max(now, self._looked + 1))
        alarm, ready = self._alarm(name, now), nodes.ready(node)
        wanted = taints.no_execute(_status(ready)) if ready else ""
        held = [taint.key for taint in nodes.spec(node).taints if _evicts(taint.key, taint.effect)]
        is_unsettled = held != [wanted] if wanted else bool(held)
        is_turned = ready != self._seen[name].ready
        if is_turned or (is_unsettled and not self._is_queued(name, wanted)):
            self._due[name] = soon
        elif alarm is not None and ready != "Unknown":
            self._due[name] = max(alarm, soon)
        else:
            self._due.pop(name, None)

    def _alarm(self, name: str, now: int) -> int | None:
        """The look at which a node is Unknown if nothing is heard of it; None while it renews its lease."""
        renewals, seen = self._heartbeats.of(name), self._seen[name]
        if renewals is not None and renewals.silent is None:
            return None
        last = max(seen.first, seen.posted)
        if renewals is not None:
            last = max(last, self._looks.at_or_after(renewals.last(now)))
        grace = silence.GRACE if seen.heartbeat or renewals is not None else silence.START_UP_GRACE
        return self._looks.at_or_after(last + grace + 1)

    # -- looking

    def _look(self, now: int) -> None:
        due = sorted(name for name, at in self._due.items() if at <= now)
        if not due:
            return
        self._looked = now
        for name in due:
            node = self._held(name)
            if node is None:
                self._due.pop(name, None)
                continue
            observed = nodes.ready(node)
            alarm = self._alarm(name, now)
            if alarm is not None and now >= alarm and observed != "Unknown":
                self._find_silent(node)
                observed = observed if self._is_late else "Unknown"
            self._evict_by(name, _status(observed))
        self._judge(now)
        for name in due:
            if (node := self._held(name)) is not None and name in self._seen:
                self._seen[name].ready = nodes.ready(node)
            self._arrange(name, now)

    def _find_silent(self, node: Record) -> None:
        """The node is Unknown from now on, and its pods are not ready."""
        status, now = nodes.status(node), self._client.now()
        was_ready = nodes.ready(node) == "True"
        new = []
        for type in _OURS:
            held = status.condition(type)
            reason, message = _NEVER if held is None else _STOPPED
            beat = node.created if held is None else held.last_heartbeat_time
            if held is None or held.status != "Unknown":
                new.append(Condition(type, "Unknown", beat, now, reason, message))
        told = status.with_conditions(tuple(new))
        changed = self._client.merge(node, {"status": {"conditions": msgspec.to_builtins(told.conditions)}}, "status")
        if not was_ready:
            return
        what = f"Node {node.name} status is now: NodeNotReady"
        self._recorder.record(changed, "Normal", "NodeNotReady", what)
        for pod in self._client.store.table(self._client.resource("", "Pod")).on_node(node.name):
            self._unready(pod)

    def _unready(self, pod: Record) -> None:
        ready = pods.status(pod).condition("Ready")
        if ready is None or ready.status == "False":
            return
        false = msgspec.structs.replace(ready, status="False", last_transition_time=self._client.now())
        conditions = pods.status(pod).with_condition(false)
        self._client.merge(pod, {"status": {"conditions": msgspec.to_builtins(conditions)}}, "status")
        self._recorder.record(pod, "Warning", "NodeNotReady", "Node is not ready")

    # -- taints

    def _taint_by_conditions(self, node: Record) -> None:
        """The NoSchedule taints, at once."""
        spec = nodes.spec(node)
        conditions = {one.type: _status(one.status) for one in nodes.status(node).conditions}
        wanted = taints.no_schedule(conditions, is_unschedulable=spec.unschedulable)
        held = [taint.key for taint in spec.taints if taint.effect == "NoSchedule" and taint.key in taints.OURS]
        if sorted(held) != sorted(wanted):
            drop = {(key, "NoSchedule") for key in held if key not in wanted}
            self._swap(node, drop, [(key, "NoSchedule") for key in wanted if key not in held])

    def _evict_by(self, name: str, observed: Status) -> None:
        """What a look makes of the condition that it found: a swap at once, a place in the queue, or an end of both."""
        node = self._held(name)
        if node is None or not observed:
            return
        wanted = taints.no_execute(observed)
        held = [taint.key for taint in nodes.spec(node).taints if _evicts(taint.key, taint.effect)]
        zone = self._zone(node)
        if not wanted:
            zone.queue.pop(name, None)
            if held:
                self._swap(node, {(key, "NoExecute") for key in held}, [])
        elif held and wanted not in held:
            self._swap(node, {(key, "NoExecute") for key in held}, [(wanted, "NoExecute")])
        elif not held:
            zone.queue.setdefault(name)

    def _swap(self, node: Record, drop: set[tuple[str, str]], add: list[tuple[str, str]]) -> None:
        held = node.body.tree().get("spec")
        old = held.get("taints") if isinstance(held, dict) else None
        kept = [
            taint
            for taint in (old if isinstance(old, list) else [])
            if not isinstance(taint, dict) or (taint.get("key"), taint.get("effect")) not in drop
        ]
        now = self._client.now()
        added: list[Json] = [{"key": key, "effect": effect, "timeAdded": now} for key, effect in add]
        self._client.respec(node, {"taints": [*kept, *added] or None})

    # -- zones

    def _zone(self, node: Record) -> _Zone:
        labels = node.shared.labels
        key = ":".join(labels.get(name, "") for name in _ZONE)
        return self._zones.setdefault(key, _Zone())

    def _is_queued(self, name: str, wanted: str) -> bool:
        return bool(wanted) and any(name in zone.queue for zone in self._zones.values())

    def _judge(self, now: int) -> None:
        """The states of all zones, and how fast each is emptied then."""
        ready: dict[int, list[bool]] = {}
        zones: dict[int, _Zone] = {}
        for node in self._client.records("", "Node").values():
            if EXCLUDED not in node.shared.labels and node.name in self._seen:
                zone = self._zone(node)
                zones[id(zone)] = zone
                ready.setdefault(id(zone), []).append(nodes.ready(node) == "True")
        states = {key: taints.zone_state(found) for key, found in ready.items()}
        is_all = bool(states) and all(state == "FullDisruption" for state in states.values())
        for key, zone in zones.items():
            zone.pace = taints.pace(states[key], len(ready[key]), are_all_full=is_all)
        if is_all and not self._is_all_disrupted:
            self._spare_all()
        elif self._is_all_disrupted and not is_all:
            look = self._looks.at_or_after(now)
            for seen in self._seen.values():
                seen.posted = look
        self._is_all_disrupted = is_all

    def _spare_all(self) -> None:
        """No node at all is Ready, so it is rather the control plane that is cut off: nobody is evicted."""
        for node in list(self._client.records("", "Node").values()):
            held = {(taint.key, taint.effect) for taint in nodes.spec(node).taints if _evicts(taint.key, taint.effect)}
            if held:
                self._swap(node, held, [])

    def _turns(self) -> list[int]:
        """When a zone's next node is tainted."""
        return [
            max(zone.free, self._clock.now()) for zone in self._zones.values() if zone.queue and zone.pace is not None
        ]

    def _empty(self, now: int) -> None:
        for zone in self._zones.values():
            while zone.queue and zone.pace is not None and zone.free <= now:
                name = next(iter(zone.queue))
                del zone.queue[name]
                zone.free = now + zone.pace
                node = self._held(name)
                wanted = taints.no_execute(_status(nodes.ready(node))) if node is not None else ""
                if node is not None and wanted:
                    self._swap(node, set(), [(wanted, "NoExecute")])

    def _held(self, name: str) -> Record | None:
        return self._client.store.find(self._client.resource("", "Node"), "", name)


def _evicts(key: str, effect: str) -> bool:
    return effect == "NoExecute" and key in (taints.NOT_READY, taints.UNREACHABLE)


def _status(text: str) -> Status:
    return "True" if text == "True" else "False" if text == "False" else "Unknown" if text else ""
