"""From pods to shapes: each pod's kind and size, found once, and the topology groups that bind a kind.

All pods that an engine will ever place are known at its set-up, so the label keys that matter are too: those that some
selector reads, and those that some requirement names on a node.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from baseload.decide.fit.constraints import Constraints
from baseload.decide.fit.groups import Groups
from baseload.decide.fit.relax import relax
from baseload.decide.fit.running import Labels
from baseload.decide.fit.shape import Attachments, FitPod, HostUse, Kind, Size, ZoneUse, projected
from baseload.decide.fit.topology import GroupKind, HostGroup, ZoneGroup
from baseload.values.requirement import Requirements


def selector_keys(demands: Iterable[Constraints]) -> tuple[str, ...]:
    """The label keys of pods that any of these constraints reads."""
    keys: set[str] = set()
    for constraints in demands:
        for selector in constraints.selectors():
            keys.update(selector.keys())
    return tuple(sorted(keys))


def node_keys(demands: Iterable[Constraints], volumes: Iterable[tuple[Requirements, ...]]) -> frozenset[str]:
    """The label keys of nodes that any of these constraints or volumes names."""
    keys: set[str] = set()
    for constraints in demands:
        for requirements in (constraints.selector, *constraints.required, *(t for _, t in constraints.preferred)):
            keys.update(requirements)
        keys.update(spread.key for spread in constraints.spread)
        keys.update(term.key for term in (*constraints.affinity, *constraints.anti_affinity))
        weighted = (*constraints.preferred_affinity, *constraints.preferred_anti_affinity)
        keys.update(term.key for _, term in weighted)
    for alternatives in volumes:
        for requirements in alternatives:
            keys.update(requirements)
    return frozenset(keys)


class Kinds:
    """The kinds and sizes of one engine."""

    def __init__(self, groups: Groups, keys: tuple[str, ...], *, respect_preferences: bool, soft_taints: bool) -> None:
        self._groups: Final = groups
        self._keys: Final = keys
        self._respect: Final = respect_preferences
        self._soft_taints: Final = soft_taints
        self._kinds: Final[dict[tuple[object, ...], Kind]] = {}
        self._sizes: Final[dict[tuple[tuple[str, int], ...], Size]] = {}
        self._size_of: Final[dict[int, Size]] = {}  # id of a request, kept alive beside it, -> size
        self._demands: Final[dict[Constraints, int]] = {}
        self._demands_of: Final[dict[int, int]] = {}  # the same by id
        self._kept: Final[list[object]] = []  # what ids stand for must live as long as they do
        self._kind_of: Final[dict[int, Kind]] = {}  # id of a pod -> kind
        self._alike: Final[dict[tuple[str, int, int], Kind]] = {}  # of pods without volumes by ids of what they share
        self._labels: Final[dict[Labels, dict[str, str]]] = {}

    def size(self, pod: FitPod) -> Size:
        size = self._size_of.get(id(pod.requests))
        if size is None:
            load = tuple(sorted((resource, amount) for resource, amount in pod.requests.items() if amount > 0))
            size = self._sizes.get(load)
            if size is None:
                size = self._sizes[load] = Size(len(self._sizes), load)
            self._size_of[id(pod.requests)] = size
            self._kept.append(pod.requests)
        return size

    def kind(self, pod: FitPod) -> Kind:
        kind = self._kind_of.get(id(pod))
        if kind is None:
            alike = pod.namespace, id(pod.labels), id(pod.constraints)
            kind = None if pod.volumes or pod.attachments else self._alike.get(alike)
            if kind is None:
                labels = projected(pod.labels, self._keys)
                kind = self._kind(pod.namespace, labels, pod.constraints, pod.volumes, pod.attachments)
                if not (pod.volumes or pod.attachments):
                    self._alike[alike] = kind
            self._kind_of[id(pod)] = kind
            self._kept.append(pod)
        return kind

    def relaxed(self, kind: Kind) -> Kind | None:
        """The kind that a pod becomes when it gives up one preference more, None when there is none left."""
        if not kind.relaxed:
            kind.relaxed = True
            demands = relax(kind.constraints, soft_taints=self._soft_taints)
            if demands is not None:
                labels = projected(kind.labels, self._keys)
                volumes = kind.volumes
                kind.next = self._kind(kind.namespace, labels, demands, volumes, kind.attachments)
        return kind.next

    def chain(self, kind: Kind) -> Iterator[Kind]:
        """A kind and all that relaxation makes of it."""
        trial: Kind | None = kind
        while trial is not None:
            yield trial
            trial = self.relaxed(trial)

    def make_groups(self, kind: Kind) -> None:
        """The groups that a kind carries; new ones count the running pods."""
        kind.owned = self._groups.owned_by(kind.constraints, kind.namespace)
        kind.inverse = self._groups.inverse_of(kind.constraints)

    def bind(self, kind: Kind) -> None:
        """Works out the groups that bind and count a kind, anew when groups were added since."""
        if kind.generation == self._groups.generation:
            return
        self.make_groups(kind)
        kind.generation = self._groups.generation
        selecting = self._groups.selecting(kind.namespace, kind.labels)
        selected = tuple(g for g in selecting if g.kind is not GroupKind.INVERSE)
        binding = tuple(dict.fromkeys((*kind.owned, *(g for g in selecting if g.kind is GroupKind.INVERSE))))
        if selected == kind.selected and binding == kind.binding:
            return
        kind.selected, kind.binding = selected, binding
        own = frozenset(selecting)
        kind.zones = tuple(
            ZoneUse(g, kind.strict.get(g.key), int(g in own)) for g in binding if isinstance(g, ZoneGroup)
        )
        kind.hosts = tuple(HostUse(g, int(g in own)) for g in binding if isinstance(g, HostGroup))
        kind.plans.clear()
        kind.starts.clear()
        kind.node_entries.clear()
        kind.seen_node_classes = 0
        kind.forget_claims()

    def _number(self, demands: Constraints) -> int:
        """A number for equal constraints; hashing them anew for each pod would cost more than all the rest."""
        number = self._demands_of.get(id(demands))
        if number is None:
            number = self._demands.setdefault(demands, len(self._demands))
            self._demands_of[id(demands)] = number
            self._kept.append(demands)
        return number

    def _kind(
        self,
        namespace: str,
        labels: Labels,
        demands: Constraints,
        volumes: tuple[Requirements, ...],
        attachments: Attachments,
    ) -> Kind:
        attached = frozenset(attachments.items()) if attachments else None
        key = (namespace, labels, self._number(demands), volumes, attached)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = Kind(
                len(self._kinds),
                namespace,
                self._labels.setdefault(labels, dict(labels)),
                demands,
                volumes,
                attachments,
                respect_preferences=self._respect,
            )
        return kind
