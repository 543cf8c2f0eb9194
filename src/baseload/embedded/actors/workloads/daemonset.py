"""DaemonSets: a pod on every node that it belongs on.

What a node counts for is worked out when the node or one of its pods changes; the sums follow. So an event costs the
same however many nodes there are.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, cast

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads import daemon, history, making
from baseload.embedded.actors.workloads.controller import OF_SPEC, Workplace, said
from baseload.embedded.actors.workloads.daemon import Count, DaemonPod, Ground
from baseload.embedded.actors.workloads.history import LABEL, History
from baseload.embedded.actors.workloads.making import Tree
from baseload.embedded.actors.workloads.ownership import controller_of, ready_since
from baseload.embedded.actors.workloads.pod_controller import PodController
from baseload.embedded.actors.workloads.portions import portion
from baseload.embedded.actors.workloads.readings import DaemonSetSpec, DaemonSetStatus, RollingUpdate
from baseload.embedded.store.errors import NotFound, StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Body, Owner, Record
from baseload.kube.types.core import NodeSpec, PodSpec
from baseload.values import instant

BURST: Final = 250  # pods made or deleted in one sync
_GENERATION: Final = "deprecated.daemonset.template.generation"
_GENERATION_LABEL: Final = "pod-template-generation"
_HERE: Final = "node-that-it-is-for"  # stands for the node's name in the bytes of a pod


@dataclass(slots=True)
class _Book:
    """What is known of one DaemonSet, node by node."""

    uid: str
    body: Body | None = None
    hash: str = ""
    known: tuple[str, ...] = ()  # the hashes of its revisions, the oldest first
    pods: dict[str, dict[str, None]] = field(default_factory=dict)  # node -> keys of its pods
    counts: dict[str, Count] = field(default_factory=dict)  # node -> what it counts for
    sums: list[int] = field(default_factory=lambda: [0] * len(Count._fields))
    dirty: dict[str, None] = field(default_factory=dict)  # nodes to look at
    sick: dict[str, str] = field(default_factory=dict)  # node -> old pod to renew that is not available
    well: dict[str, str] = field(default_factory=dict)  # node -> old pod to renew that is
    failures: dict[str, tuple[int, int]] = field(default_factory=dict)  # node -> (back-off, since when)

    def put(self, node: str, new: Count | None) -> None:
        """A node counts for something else now."""
        old = self.counts.pop(node, None)
        if new is not None:
            self.counts[node] = new
        for index in range(len(self.sums)):
            self.sums[index] += (new[index] if new else 0) - (old[index] if old else 0)


class DaemonSets(PodController):
    """The DaemonSet controller."""

    component, group, kind = "daemonset-controller", "apps", "DaemonSet"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._pod, self._node = self.client.kind("", "Pod"), self.client.resource("", "Node")
        self._history = History(self.client, LABEL)
        self._books: dict[str, _Book] = {}
        self._bodies: dict[str, tuple[str, bytes]] = {}  # key -> (hash and uid, the JSON of a pod)

    def begin(self) -> None:
        super().begin()
        self.place.hear("", "Node", OF_SPEC, self._note_node)
        for pod in self.client.records("", "Pod").values():
            owner = controller_of(pod)
            if owner is not None and owner.kind == self.kind:
                self._file(owner, pod, is_gone=False)

    def note_pod(self, owner: Owner, event: Event) -> None:
        self._file(owner, event.record, is_gone=event.type == "DELETED")
        super().note_pod(owner, event)

    def _file(self, owner: Owner, pod: Record, *, is_gone: bool) -> None:
        book, node = self._book(f"{pod.namespace}/{owner.name}", owner.uid), target(pod)
        mine = controller_of(pod)
        if is_gone or mine is None or mine.uid != owner.uid:
            held = book.pods.get(node, {})
            held.pop(pod.key, None)
            if not held:
                book.pods.pop(node, None)
        else:
            book.pods.setdefault(node, {})[pod.key] = None
        book.dirty[node] = None

    def _note_node(self, event: Event) -> None:
        for key in self.client.records(self.group, self.kind):
            book = self._books.get(key)
            if book is not None:
                book.dirty[event.record.name] = None
            self.queue.add(key)

    def _book(self, key: str, uid: str) -> _Book:
        book = self._books.get(key)
        if book is None or book.uid != uid:
            book = self._books[key] = _Book(uid)
        return book

    def gone(self, key: str) -> None:
        super().gone(key)
        self._history.forget(key)
        self._books.pop(key, None)
        self._bodies.pop(key, None)

    # -- sync

    def sync(self, record: Record) -> None:
        spec = record.body.spec(DaemonSetSpec)
        if record.deletion is None and self.claim(record, self.pods.of(record.uid)):
            return
        held = said(record, DaemonSetStatus)
        revisions = self._history.of(record, (held.collision_count or 0) if held is not None else 0)
        book = self._book(record.key, record.uid)
        book.known = tuple([history.hash_of(revision, LABEL) for revision in revisions.all])
        self._turn_to(book, record, history.hash_of(revisions.present, LABEL))
        create, delete, failed, due = self._look(record, spec, book)
        if record.deletion is None:
            due = self._delete_failed(record, book, failed, due)
            if not create and not delete and not self.is_behind(record.key):
                create, delete = _update(spec, book)
            self._act(record, book, create, delete)
        self._tell(record, book, revisions.collisions)
        owned = self.pods.of(record.uid).pods.values()
        live = (f"{record.name}-{pod.shared.labels.get(LABEL, '')}" for pod in owned)
        self._history.clean(revisions, live, spec.revision_history_limit)
        if due is not None:
            self.queue.add_at(record.key, due)

    def _turn_to(self, book: _Book, record: Record, hash: str) -> None:
        """Has every node looked at again where the template or what decides is another one."""
        if book.body is record.body and book.hash == hash:
            return
        book.body, book.hash = record.body, hash
        for nodes in (self.client.records("", "Node"), book.pods, book.counts):
            book.dirty.update(dict.fromkeys(nodes))

    def _look(
        self, record: Record, spec: DaemonSetSpec, book: _Book
    ) -> tuple[list[str], list[str], dict[str, tuple[str, ...]], int | None]:
        """Looks at the nodes on which something changed: where to make pods, which to delete, which have failed."""
        template, surges = spec.template.spec, _surges(spec)
        tolerated = daemon.tolerations(template)
        create, delete, due = list[str](), list[str](), None
        failed: dict[str, tuple[str, ...]] = {}
        nodes, book.dirty = sorted(book.dirty), {}
        for name in nodes:
            found, later = self._on(name, book, spec.min_ready_seconds)
            due = _sooner(due, later)
            if later is not None:
                book.dirty[name] = None
            node = self.client.store.find(self._node, "", name)
            if node is None:
                delete.extend(pod.key for pod in found if not pod.is_bound and not pod.is_terminating)
                book.put(name, None)
                book.sick.pop(name, None)
                book.well.pop(name, None)
                continue
            belongs, may_stay = daemon.runs_on(template, tolerated, ground(node))
            verdict = daemon.on_node(found, belongs=belongs, may_stay=may_stay, surges=surges)
            if verdict.create:
                create.append(name)
            delete.extend(verdict.delete)
            if verdict.failed:
                failed[name] = verdict.failed
                book.dirty[name] = None
            if verdict.create or verdict.delete:
                book.dirty[name] = None  # until the deed is seen
            book.put(name, daemon.count(found, belongs=belongs))
            _mark(book, name, found)
        return create, delete, failed, due

    def _on(self, node: str, book: _Book, min_ready: int) -> tuple[list[DaemonPod], int | None]:
        """A node's pods, and when the next one that is ready will be available."""
        now, due, found = self.place.now, None, []
        records = self.client.records("", "Pod")
        for key in book.pods.get(node, ()):
            pod = records.get(key)
            if pod is None:
                continue
            phase, is_terminating = pods.status(pod).phase, pod.deletion is not None
            if is_terminating and phase in ("Succeeded", "Failed"):
                continue
            since = ready_since(pod)
            enough = since + min_ready * instant.SECOND if since is not None else None
            if enough is not None and enough > now:
                due = _sooner(due, enough)
            found.append(
                DaemonPod(
                    key,
                    pod.created,
                    history.counted(pod.shared.labels.get(LABEL, ""), book.known) == book.hash,
                    bool(pod.node),
                    phase == "Failed",
                    phase == "Succeeded",
                    since is not None,
                    enough is not None and enough <= now,
                    is_terminating,
                )
            )
        return found, due

    # -- acts

    def _act(self, record: Record, book: _Book, create: list[str], delete: list[str]) -> None:
        waiting = create[:BURST]

        def make() -> None:
            node = waiting.pop(0)
            body = self._body(record, book.hash).replace(_HERE.encode(), msgspec.json.encode(node)[1:-1])
            try:
                pod = self.client.create(self._pod, record.namespace, body, place=node)
            except StatusError as error:
                book.dirty[node] = None
                self.recorder.record(record, "Warning", "FailedCreate", f"Error creating: {error}")
                raise
            self.wrote(record.key, pod)
            self.recorder.record(record, "Normal", "SuccessfulCreate", f"Created pod: {pod.name}")

        error = making.slowly(len(waiting), make)[1]
        self._delete(record, delete[:BURST])
        if error is not None:
            raise error
        if len(create) > BURST or len(delete) > BURST:
            self.queue.add(record.key)

    def _delete(self, record: Record, keys: Iterable[str]) -> None:
        for key in keys:
            pod = self.client.records("", "Pod").get(key)
            if pod is None or pod.deletion is not None:
                continue
            try:
                self.wrote(record.key, self.client.delete(pod))
            except NotFound:
                continue
            self.recorder.record(record, "Normal", "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def _delete_failed(
        self, record: Record, book: _Book, failed: dict[str, tuple[str, ...]], due: int | None
    ) -> int | None:
        """Deletes the pods that failed, node by node later and later; when to look again."""
        now = self.place.now
        for node, keys in failed.items():
            wait, since = book.failures.get(node, (0, now))
            again = daemon.backed_off(since, wait, now)
            if again > now:
                due = _sooner(due, again)
                continue
            book.failures[node] = daemon.next_wait(wait, since, now), now
            for key in keys:
                name = key.partition("/")[2]
                message = f"Found failed daemon pod {record.namespace}/{name} on node {node}, will try to kill it"
                self.recorder.record(record, "Warning", "FailedDaemonPod", message)
            self._delete(record, keys)
        return due

    def _body(self, record: Record, hash: str) -> bytes:
        """The JSON of a pod, with a word in the place of its node's name."""
        mark = f"{record.uid} {hash}"
        known = self._bodies.get(record.key)
        if known is None or known[0] != mark:
            known = self._bodies[record.key] = mark, pod_body(record, hash)
        return known[1]

    def _tell(self, record: Record, book: _Book, collisions: int) -> None:
        sums = Count(*book.sums)
        status = DaemonSetStatus(
            sums.current,
            sums.misscheduled,
            sums.desired,
            sums.ready,
            record.generation,
            sums.updated,
            sums.available,
            sums.desired - sums.available,
            collisions or None,
        )
        self.write_status(record, status)


def _update(spec: DaemonSetSpec, book: _Book) -> tuple[list[str], list[str]]:
    """On which nodes to surge, and which old pods to delete: those that are not available first, and at any rate."""
    update = spec.update_strategy
    if update.type != "RollingUpdate" or not (book.sick or book.well):
        return [], []
    sums, told = Count(*book.sums), update.rolling_update or RollingUpdate(1)
    if _surges(spec):
        most = portion(told.max_surge, sums.desired, up=True)
        well = sorted(book.well)[: max(0, most - sums.surging)]
        return [*sorted(book.sick), *well], []
    most = portion(told.max_unavailable, sums.desired, up=True)
    well = sorted(book.well)[: max(0, most - sums.unavailable)]
    return [], [*(book.sick[node] for node in sorted(book.sick)), *(book.well[node] for node in well)]


def _surges(spec: DaemonSetSpec) -> bool:
    told = spec.update_strategy.rolling_update
    return told is not None and told.max_surge not in (None, 0, "0%")


def _mark(book: _Book, node: str, found: list[DaemonPod]) -> None:
    """Whether a node's pod is one to renew."""
    old = daemon.replaceable(found)
    for kept, is_available in ((book.sick, False), (book.well, True)):
        if old is not None and old.is_available is is_available:
            kept[node] = old.key
        else:
            kept.pop(node, None)


def _sooner(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def ground(node: Record) -> Ground:
    """A node as DaemonSets see it."""
    return Ground(node.name, node.shared.labels, node.body.spec(NodeSpec).taints)


def target(pod: Record) -> str:
    """The node that a pod is for: the one that it is on, or the one that its affinity names."""
    if pod.node:
        return pod.node
    affinity = pod.body.spec(PodSpec).affinity
    of_node = affinity.node_affinity if affinity is not None else None
    required = of_node.required_during_scheduling_ignored_during_execution if of_node is not None else None
    for term in required.node_selector_terms if required is not None else ():
        for one in term.match_fields:
            if one.key == "metadata.name" and one.values:
                return one.values[0]
    return ""


def pod_body(record: Record, hash: str) -> bytes:
    """The JSON of a pod, with a word in the place of its node's name."""
    labels = {LABEL: hash}
    generation = record.shared.annotations.get(_GENERATION)
    if generation:
        labels[_GENERATION_LABEL] = generation
    tree = making.pod_tree(record, making.template_of(record), labels)
    spec = dict(cast(Tree, tree["spec"]))
    affinity = dict(cast(Tree, spec.get("affinity") or {}))
    of_node = dict(cast(Tree, affinity.get("nodeAffinity") or {}))
    required = cast(Tree, of_node.get("requiredDuringSchedulingIgnoredDuringExecution") or {})
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [_HERE]}]}
    terms = [{**term, **here} for term in cast("list[Tree]", required.get("nodeSelectorTerms") or [{}])]
    of_node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    held = cast("list[object]", spec.get("tolerations") or [])
    told = daemon.tolerations(PodSpec(host_network=spec.get("hostNetwork") is True))
    tolerations = [one for one in msgspec.to_builtins(told) if one not in held]
    spec = {**spec, "affinity": {**affinity, "nodeAffinity": of_node}, "tolerations": [*held, *tolerations]}
    metadata = {"generateName": making.prefix(record.name), **cast(Tree, tree["metadata"])}
    return msgspec.json.encode({**tree, "metadata": metadata, "spec": spec})
