"""What wakes a pod that was rejected: each plugin's view of what happened in the cluster (cluster-actors 1.7, 1.10)."""

from collections.abc import Callable
from dataclasses import dataclass

from baseload.decide.schedule import demands, resources, statuses
from baseload.decide.schedule.kinds import Kind, Pod
from baseload.decide.schedule.nodes import Facts, Node
from baseload.decide.schedule.queue import Hint, Waiting

_NEAR = (statuses.POD_TOPOLOGY_SPREAD, statuses.INTER_POD_AFFINITY)
_VOLUMES = (
    statuses.VOLUME_BINDING,
    statuses.VOLUME_RESTRICTIONS,
    statuses.NODE_VOLUME_LIMITS,
    statuses.VOLUME_ZONE,
)


def pod_gone(gone: Pod) -> Hint:
    """A pod that had a node, or the promise of one, is no more."""

    def wakes(entry: Waiting) -> bool:
        kind, plugins = entry.pod.kind, entry.plugins
        if statuses.NODE_RESOURCES_FIT in plugins:
            return True
        if statuses.NODE_PORTS in plugins and _shares_port(kind, gone.kind):
            return True
        if statuses.POD_TOPOLOGY_SPREAD in plugins and _is_spread_over(kind, gone):
            return True
        if statuses.INTER_POD_AFFINITY in plugins and _keeps_off(kind, gone):
            return True
        limited = statuses.NODE_VOLUME_LIMITS in plugins or statuses.VOLUME_RESTRICTIONS in plugins
        return limited and bool(gone.claims)

    return Hint((statuses.NODE_RESOURCES_FIT, statuses.NODE_PORTS, *_NEAR, *_VOLUMES), wakes)


def pod_placed(placed: Pod) -> Hint:
    """A pod has a node now, or is another than it was there."""

    def wakes(entry: Waiting) -> bool:
        kind, plugins = entry.pod.kind, entry.plugins
        if statuses.POD_TOPOLOGY_SPREAD in plugins and _is_spread_over(kind, placed):
            return True
        terms = kind.demands.affinity
        near = statuses.INTER_POD_AFFINITY in plugins and bool(terms)
        return near and all(term.matches(placed.namespace, placed.kind.labels) for term in terms)

    return Hint(_NEAR, wakes)


def pod_changed(before: Pod, after: Pod) -> Hint:
    """A pod on a node has other labels, or began to end."""
    was, is_now = pod_gone(before), pod_placed(after)

    def wakes(entry: Waiting) -> bool:
        narrowed = Waiting(entry.pod, entry.added, entry.number, plugins=entry.plugins & set(_NEAR))
        return was.wakes(narrowed) or is_now.wakes(narrowed)

    return Hint(_NEAR, wakes)


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that came, or is another than it was."""

    before: Facts | None
    after: Facts

    def wakes(self, entry: Waiting) -> bool:
        """Whether some plugin that rejected a pod might now let it pass."""
        return any(self._helps(plugin, entry.pod.kind) for plugin in sorted(entry.plugins))

    def _helps(self, plugin: str, kind: Kind) -> bool:
        match plugin:
            case statuses.NODE_RESOURCES_FIT:
                return self._has_more_room(kind)
            case statuses.TAINT_TOLERATION:
                return self._turns(lambda facts: _is_tolerated(kind, facts))
            case statuses.NODE_UNSCHEDULABLE:
                return self._turns(lambda facts: _is_open(kind, facts))
            case statuses.NODE_AFFINITY:
                return self._turns(lambda facts: kind.demands.place.matches(facts.name, facts.labels))
            case statuses.POD_TOPOLOGY_SPREAD:
                return self._changes_keys({spread.key for spread in kind.demands.hard_spread})
            case statuses.INTER_POD_AFFINITY:
                terms = (*kind.demands.affinity, *kind.demands.anti_affinity)
                return self.before is None or self._changes_keys({term.key for term in terms})
            case statuses.VOLUME_ZONE | statuses.VOLUME_BINDING:
                return self.before is None or self.before.labels != self.after.labels
        return self.before is None and plugin != statuses.DEFAULT_PREEMPTION

    def _turns(self, holds: Callable[[Facts], bool]) -> bool:
        """Whether something holds that did not."""
        return holds(self.after) and (self.before is None or not holds(self.before))

    def _has_more_room(self, kind: Kind) -> bool:
        empty = Node(0, self.after)
        empty.read(self.after)
        if not resources.fits_empty(kind.ask, empty):
            return False
        if self.before is None:
            return True
        old, new = self.before.allocatable, self.after.allocatable
        wanted = ("pods", *(resource for resource, _ in kind.ask.amounts))
        return any(new.get(resource, 0) > old.get(resource, 0) for resource in wanted)

    def _changes_keys(self, keys: set[str]) -> bool:
        if self.before is None:
            return all(key in self.after.labels for key in keys)
        old, new = self.before, self.after
        return old.taints != new.taints or any(old.labels.get(key) != new.labels.get(key) for key in keys)


def node_changed(before: Facts | None, after: Facts) -> Hint:
    """A node came, or is another than it was."""
    return Hint(statuses.FILTERS, NodeChange(before, after).wakes)


def node_gone(gone: Facts) -> Hint:
    """A node that is no more may make a spread more even."""

    def wakes(entry: Waiting) -> bool:
        keys = [spread.key for spread in entry.pod.kind.demands.hard_spread]
        spread = statuses.POD_TOPOLOGY_SPREAD in entry.plugins
        return spread and all(key in gone.labels for key in keys)

    return Hint((statuses.POD_TOPOLOGY_SPREAD,), wakes)


def storage_changed(namespace: str = "", claim: str = "") -> Hint:
    """A volume, a claim, a class or what a node can attach; `claim` of a namespace where it is about one."""

    def wakes(entry: Waiting) -> bool:
        if not any(plugin in entry.plugins for plugin in _VOLUMES):
            return False
        return not claim or (entry.pod.namespace == namespace and claim in entry.pod.claims)

    return Hint(_VOLUMES, wakes)


def _shares_port(kind: Kind, other: Kind) -> bool:
    held = other.demands.place.ports
    return any(port.clashes(taken) for port in kind.demands.place.ports for taken in held)


def _is_spread_over(kind: Kind, pod: Pod) -> bool:
    return pod.namespace == kind.namespace and any(
        spread.selector is not None and spread.selector.matches(pod.kind.labels) for spread in kind.demands.hard_spread
    )


def _keeps_off(kind: Kind, pod: Pod) -> bool:
    """Whether one of the two keeps the other off."""
    if any(term.matches(pod.namespace, pod.kind.labels) for term in kind.demands.anti_affinity):
        return True
    return any(term.matches(kind.namespace, kind.labels) for term in pod.kind.demands.anti_affinity)


def _is_tolerated(kind: Kind, facts: Facts) -> bool:
    hard = (taint for taint in facts.taints if taint.effect != "PreferNoSchedule")
    return all(kind.demands.place.tolerates(taint) for taint in hard)


def _is_open(kind: Kind, facts: Facts) -> bool:
    return not facts.is_unschedulable or kind.demands.place.tolerates(demands.UNSCHEDULABLE)
