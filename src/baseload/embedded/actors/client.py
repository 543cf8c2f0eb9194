"""The API as actors in this process use it: objects as records, changes by class, the hot writes without JSON.

What is made or changed as users do it (a pod, a scale, a Job) goes the way of every request, with admission, checks and
managers, and pods of one template are made alike. What is written over and over (a binding, a status) is written as a
record, with its manager's entry renewed. Everything happens at once: nothing here is awaited.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Final, cast

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.managed import Outlines, own, renewed
from baseload.embedded.actors.pods import Condition, Written
from baseload.embedded.api import alike, evictions, verbs
from baseload.embedded.api.alike import Likeness
from baseload.embedded.api.call import JSON, MERGE, Call
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.target import Target
from baseload.embedded.store import deletion, errors, rules
from baseload.embedded.store import record as records
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Body, Json, Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.rules import Part
from baseload.embedded.store.subscription import Subscription, Wants
from baseload.kube.merge import apply as applying
from baseload.kube.merge import managers as entries
from baseload.kube.merge.tree import Object
from baseload.values import instant

_SENT: Final = {"content-type": JSON}
_MERGED: Final = {"content-type": MERGE}
_MANY: Final = 1 << 10  # JSON of objects that are made alike, remembered at most


class ActorClient:
    """One actor at the API, under the name by which managedFields know it."""

    def __init__(self, cluster: Cluster, manager: str) -> None:
        self.cluster, self.store, self.manager = cluster, cluster.store, manager
        self._query: Mapping[str, str] = {"fieldManager": manager}
        self._outlines: dict[Resource, Outlines] = {}
        self._kinds: dict[tuple[str, str], ServedKind] = {}  # Kubernetes' own, which never change
        self._many: dict[tuple[str, bytes], tuple[Target, tuple[Likeness, str] | None]] = {}  # what is made alike
        self._second, self._moment = -1, ""
        self._subscriptions: list[tuple[Resource, Subscription]] = []

    # -- reading

    def kind(self, group: str, name: str) -> ServedKind:
        """A kind in the version in which it is stored."""
        known = self._kinds.get((group, name))
        if known is not None:
            return known
        found = self.cluster.kinds.named(group, name)
        assert found is not None, f"{name} is not served"
        kind = self.cluster.kinds.of_resource(found.resource)
        if not kind.is_custom:
            self._kinds[group, name] = kind
        return kind

    def resource(self, group: str, name: str) -> Resource:
        return self.kind(group, name).resource

    def records(self, group: str, name: str) -> Mapping[str, Record]:
        """All objects of a kind by their keys, to look at and not to keep: it is the store's own table."""
        resource = self.resource(group, name)
        self.cluster.refresh(resource, "", "")
        return self.store.table(resource).records

    def subscribe(
        self, group: str, name: str, classes: Iterable[str], ring: Callable[[], None], wants: Wants | None = None
    ) -> Subscription:
        """The changes of some classes from now on, as far as they are wanted.

        `ring` and `wants` may only take a note.
        """
        resource = self.resource(group, name)
        subscription = self.store.subscribe(resource, classes, ring, wants)
        self._subscriptions.append((resource, subscription))
        return subscription

    def close(self) -> None:
        """It hears of nothing any more."""
        while self._subscriptions:
            self.store.unsubscribe(*self._subscriptions.pop())

    def now(self) -> str:
        """The time as objects carry it."""
        second = self.cluster.clock.now() // instant.SECOND
        if second != self._second:
            self._second, self._moment = second, instant.format(second * instant.SECOND)
        return self._moment

    # -- the way of every request

    def create(self, kind: ServedKind, namespace: str, body: bytes, *, place: str = "") -> Record:
        """A new object from its JSON. Raises what the API refuses.

        `place`: the name in it that alone tells it from others that are made from the same template.
        """
        return verbs.create(self.cluster, Target(kind, namespace), self._call("POST", _SENT, body), place=place)

    def create_alike(self, kind: ServedKind, namespace: str, body: bytes) -> Record:
        """One of several new objects from the same JSON: what became of the first is kept for the others."""
        known = self._many.get((namespace, body))
        if known is None:
            if len(self._many) >= _MANY:
                self._many.clear()
            target = Target(kind, namespace)
            known = self._many[namespace, body] = target, alike.likeness(target, self._call("POST", _SENT, body))
            if known[1] is not None:
                self.cluster.alike.expect(known[1][0])
        if known[1] is not None:
            draft = self.cluster.alike.draft(self.store, known[0], *known[1], self.now())
            if draft is not None:
                return self.cluster.written(self.store.create(draft))
        return self.create(kind, namespace, body)

    def merge(self, old: Record, change: object, subresource: str = "") -> Record:
        """A merge patch of an object, or of one of its subresources; nothing where the object took another's name."""
        kind = self.cluster.kinds.of_resource(old.resource)
        target = Target(kind, old.namespace, old.name, subresource)
        rules.check_preconditions(self.store.get(old.resource, old.namespace, old.name), old.uid, 0)
        return verbs.patch(self.cluster, target, self._call("PATCH", _MERGED, msgspec.json.encode(change)))[0]

    def delete(self, old: Record, options: Options = deletion.DEFAULT) -> Record:
        """Deletes that very object."""
        held = self.store.find(old.resource, old.namespace, old.name)
        if held is not None and held.uid != old.uid:
            options = Options(options.grace_seconds, options.propagation, old.uid, options.version)  # it is refused
        removal = self.store.delete(old.resource, old.namespace, old.name, options)
        self.cluster.removed(removal.record)
        return removal.record

    def evict(self, pod: Record, grace_seconds: int | None = None) -> None:
        """Evicts a pod; TooManyRequests where its budget has nothing left."""
        tree = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod.name}}
        asked = {} if grace_seconds is None else {"deleteOptions": {"gracePeriodSeconds": grace_seconds}}
        target = Target(self.cluster.kinds.of_resource(pod.resource), pod.namespace, pod.name, "eviction")
        body = msgspec.json.encode({**tree, **asked})
        evictions.evict(self.cluster, target, self._call("POST", _SENT, body))

    def _call(self, method: str, headers: Mapping[str, str], body: bytes) -> Call:
        return Call(method, self._query, headers, body)

    # -- hot writes

    def write_status(
        self,
        old: Record,
        status: Written,
        outline: Hashable,
        *,
        owned: Callable[[], Written] | None = None,
        key: str = "",
    ) -> Record:
        """An object with another status. `outline` stands for which fields that status has.

        `owned` gives what of it the manager owns, where that is not all, with the stand-in for `key` in it.
        """
        outlines = self._outlines.get(old.resource)
        if outlines is None:
            kind = self.cluster.kinds.of_resource(old.resource)
            outlines = self._outlines[old.resource] = Outlines(kind.type, self.manager)
        managed = renewed(old.managed, outlines.entry(outline, self.now(), owned or (lambda: status), key))
        record = self.store.tell(old, status, managed)
        self.store.tidy()
        return record

    def annotate(self, old: Record, annotations: Mapping[str, str]) -> Record:
        """An object with further annotations, which its generation does not count."""

        def annotated(held: Record) -> Record:
            common = held.shared
            told = {**common.annotations, **annotations}
            shared = records.shared(common.labels, told, common.owners, common.generate_name)
            return msgspec.structs.replace(held, shared=shared)

        return self._changed(old, annotated, "marks")

    def rewrite(self, old: Record, body: Body) -> Record:
        """An object with other sections, which the caller knows to be right."""
        return self._changed(old, lambda held: held.with_body(body), "main")

    def respec(self, old: Record, changes: Mapping[str, Json]) -> Record:
        """An object with some fields of its spec others, which the caller knows to be right; None takes one away."""
        held = self.store.get(old.resource, old.namespace, old.name)
        rules.check_preconditions(held, old.uid, 0)
        tree, kept = held.body.tree(), entries.decoded(records.section(held.managed) or b"[]")
        before = tree.get("spec", {})
        if kept is None or not isinstance(before, dict):
            return self.merge(old, {"spec": changes})
        after = {name: value for name, value in {**before, **changes}.items() if value is not None}
        managed = applying.told_after_update(
            kept,
            {"spec": cast(Object, before)},
            {"spec": cast(Object, after)},
            kind=self.cluster.kinds.of_resource(old.resource).type,
            manager=self.manager,
            now=self.cluster.clock.now(),
            subresource="",
        )
        if managed is None:
            return held
        body = records.body(msgspec.json.encode({**tree, "spec": after})[1:-1])
        return self._changed(held, lambda it: msgspec.structs.replace(it, body=body, managed=managed), "main")

    def drop_finalizer(self, old: Record, finalizer: str) -> Record:
        """An object that one finalizer less holds; it goes where that was the last that held it."""

        def dropped(held: Record) -> Record:
            kept = tuple(name for name in held.finalizers if name != finalizer)
            return msgspec.structs.replace(held, finalizers=kept)

        return self._changed(old, dropped, "main")

    def scale(self, old: Record, replicas: int, annotations: Mapping[str, str]) -> Record:
        """An object of another size, with annotations that tell why.

        Whoever set both before changes nothing but the time of its entry in managedFields.
        """
        mine = own(old.managed, self.manager, b'"f:replicas"', *(f'"f:{name}"'.encode() for name in annotations))
        if mine is None:
            return self.merge(old, {"metadata": {"annotations": annotations}, "spec": {"replicas": replicas}})
        managed = renewed(old.managed, msgspec.structs.replace(mine, time=self.now()))
        tree = old.body.tree()
        tree["spec"] = {**cast(dict[str, Json], tree["spec"]), "replicas": replicas}
        body = records.body(msgspec.json.encode(tree)[1:-1])

        def scaled(held: Record) -> Record:
            common = held.shared
            told = {**common.annotations, **annotations}
            shared = records.shared(common.labels, told, common.owners, common.generate_name)
            return msgspec.structs.replace(held, shared=shared, body=body, managed=managed)

        return self._changed(old, scaled, "main", version=old.version)

    def bind(self, pod: Record, node: str) -> Record:
        """A pod that runs on a node from now on. Conflict where it runs already, or is being deleted."""
        if pod.node or pod.deletion is not None:
            why = f'pod {pod.name} is already assigned to node "{pod.node}"' if pod.node else "pod is being deleted"
            raise errors.conflict(pod.resource, pod.name, why)
        held = self.store.get(pod.resource, pod.namespace, pod.name)
        told = pods.status(held)
        conditions = told.with_condition(_scheduled(self.now()))
        status = msgspec.structs.replace(told, conditions=conditions, nominated_node_name="")
        record = self.store.tell(held if held.uid == pod.uid else pod, status, held.managed, node)
        self.store.tidy()
        return record

    def _changed(self, old: Record, function: Callable[[Record], Record], part: Part, *, version: int = 0) -> Record:
        """The change of that very object in its present state, or with `version` in that one alone."""
        record = self.store.change(
            old.resource, old.namespace, old.name, function, part, uid=old.uid, version=version, exact=True
        )
        self.store.tidy()
        return record


@lru_cache(maxsize=64)
def _scheduled(now: str) -> Condition:
    """One for all pods that are bound within a second."""
    return Condition("PodScheduled", "True", last_transition_time=now)
