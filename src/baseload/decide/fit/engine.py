"""The engine: which of many pods go where, one after the other, as Karpenter's scheduler decides it.

Pods queue by size. One that finds no place gives up one preference and is tried again; when none is left it goes,
whole again, to the end of the queue, until a whole round has brought nothing (provisioning spec 5.5, 6). The set-up
is made once for a cluster; a solve leaves no trace in it, so simulations without some of its nodes can follow each
other at once.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from baseload.decide.fit.attempt import OPEN, Closed, Pass, ReservationsExhausted
from baseload.decide.fit.base import Base, Cluster, Rules
from baseload.decide.fit.planned import Claim
from baseload.decide.fit.running import Bound
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.shape import FitPod, Kind, Size
from baseload.decide.fit.topology import GroupKind, ZoneGroup
from baseload.decide.fit.why import Refusal, refusals

MOST_TOLD: Final = 20_000
"""Reasons of single nodes and claims, over all pods that failed."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What a solve comes to."""

    on_nodes: Sequence[tuple[FitPod, int]]  # the place of the node
    claims: Sequence[Claim]
    failed: Sequence[tuple[FitPod, Sequence[Refusal]]]  # with every target's no, where these were asked for


class Fit:
    """A cluster ready for fitting. `pods` are all that it will ever have to place, running ones included."""

    def __init__(self, cluster: Cluster, pods: Sequence[FitPod], sets: Sets, rules: Rules) -> None:
        self.base: Final = Base(cluster, pods, sets, rules)
        self._solves = 0

    def solve(self, pods: Sequence[FitPod], *, most_reasons: int | None = MOST_TOLD, closed: Closed = OPEN) -> Fitted:
        """Places pods on the cluster as it stands, some of them on no node that is closed to them.

        Of those that failed every NodePool says why, and up to so many single nodes and claims; with None nobody does.
        """
        return self._run(self._begin(closed), pods, most_reasons)

    def simulate(
        self,
        removed: Sequence[int],
        displaced: Sequence[Bound],
        pending: Sequence[FitPod] = (),
        *,
        most_reasons: int | None = None,
        closed: Closed = OPEN,
    ) -> Fitted:
        """Places pods as though some nodes (by place) were gone: pending ones, and those that ran there."""
        pods = [*pending, *(bound.pod for bound in displaced)]
        self._prepare(pods)
        run = self._begin(closed)
        for place in removed:
            self.base.nodes.active &= ~(1 << place)
            run.give_back(self.base.cluster.hosts[place])
        self._withdraw(run, displaced)
        unregistered = self._unregister(removed, pods)
        try:
            return self._run(run, pods, most_reasons)
        finally:
            for group, domain in unregistered:
                group.register(domain)

    def depends_on_the_first(self, pods: Sequence[FitPod]) -> bool:
        """Whether it matters for these pods which pod came first: a group that binds one of them would be another."""
        if not self.base.groups.ambiguous:
            return False
        self._prepare(pods)
        chains = (
            trial for kind in dict.fromkeys(map(self.base.kinds.kind, pods)) for trial in self.base.kinds.chain(kind)
        )
        return any(use.group.contested for trial in chains for use in trial.zones)

    def _prepare(self, pods: Sequence[FitPod]) -> None:
        """Makes every group that these pods may come to carry, so that what is taken away is taken from all of them."""
        kinds = dict.fromkeys(map(self.base.kinds.kind, pods))
        chains = [trial for kind in kinds for trial in self.base.kinds.chain(kind)]
        for trial in chains:
            if trial.generation < 0:
                self.base.kinds.make_groups(trial)
        for trial in chains:
            self.base.bind(trial)

    def _begin(self, closed: Closed) -> Pass:
        self._solves += 1
        return Pass(self.base, self._solves, closed)

    def _run(self, run: Pass, pods: Sequence[FitPod], most_reasons: int | None = None) -> Fitted:
        kinds = self.base.kinds
        by_age = sorted(pods, key=attrgetter("created", "uid"))
        shaped = [(pod, kinds.kind(pod), kinds.size(pod)) for pod in by_age]
        for kind in dict.fromkeys(kind for _, kind, _ in shaped):
            for group in kind.owned:
                group.awake = self._solves
        ranks = {order: rank for rank, order in enumerate(sorted({size.order for _, _, size in shaped}))}
        queue = deque(sorted(shaped, key=lambda one: ranks[one[2].order]))  # the larger first, then the older (6.1)
        tried: dict[int, int] = {}  # id of a pod -> the queue's length when it went back to the end
        while queue:
            if tried and tried.get(id(queue[0][0])) == len(queue):
                break  # a whole round without progress
            pod, kind, size = queue.popleft()
            if not self._place(run, pod, kind, size):
                queue.append((pod, kind, size))
                tried[id(pod)] = len(queue)
        refused = {} if most_reasons is None else self._refusals(run, queue, most_reasons // max(1, len(queue)))
        failed = [(pod, refused.get((kind.number, run.shape(pod, size)), ())) for pod, kind, size in queue]
        run.roll_back()
        return Fitted(run.on_nodes, run.claims.all, failed)

    def _refusals(
        self, run: Pass, queue: Sequence[tuple[FitPod, Kind, Size]], most: int
    ) -> dict[tuple[int, int], Sequence[Refusal]]:
        """Why each shape that failed was refused: by every pool, and by as many hosts as can be told for each."""
        found: dict[tuple[int, int], Sequence[Refusal]] = {}
        for pod, kind, size in queue:
            key = (kind.number, run.shape(pod, size))
            if key not in found:
                last = kind
                while last.next is not None:
                    last = last.next
                self.base.bind(last)
                found[key] = tuple(refusals(self.base, run, last, size, most=most, closed=run.closed_to(pod)))
        return found

    def _place(self, run: Pass, pod: FitPod, kind: Kind, size: Size) -> bool:
        """Tries a pod, less one preference more each time; a shape that failed is not tried while nothing changed."""
        shape = run.shape(pod, size)
        if kind.failures and kind.failures.get(shape) == _stamp(run, kind):
            return False
        trial: Kind | None = kind
        try:
            while trial is not None:
                if run.place(pod, trial, size):
                    return True
                trial = self.base.kinds.relaxed(trial)
        except ReservationsExhausted:
            return False
        kind.failures[shape] = _stamp(run, kind)
        return False

    def _withdraw(self, run: Pass, displaced: Sequence[Bound]) -> None:
        """Pods that are to be placed anew no longer count where they ran."""
        groups, nodes = self.base.groups, self.base.cluster.nodes
        for bound in displaced:
            kind, node = self.base.kinds.kind(bound.pod), nodes.get(bound.node)
            counting = (*kind.selected, *groups.counting_all(kind.namespace)) if bound.counts else ()
            for group in (*counting, *kind.inverse):
                if node is not None:
                    run.books.withdraw(group, node)

    def _unregister(self, removed: Sequence[int], pods: Sequence[FitPod]) -> list[tuple[ZoneGroup, str]]:
        """Domains that only a removed node lends are unknown without it."""
        kinds, groups = self.base.kinds, self.base.groups
        alike = dict.fromkeys(map(kinds.kind, pods))
        concerned = {use.group: None for kind in alike for trial in kinds.chain(kind) for use in trial.zones}
        gone: list[tuple[ZoneGroup, str]] = []
        for place in removed:
            node = self.base.cluster.nodes.get(self.base.cluster.hosts[place].name)
            for group in concerned:
                if node is None or group.kind is GroupKind.INVERSE or not node.registers:
                    continue
                if (domain := groups.domain(group, node)) is not None:
                    group.forget(domain, nodes=1)
                    gone.append((group, domain))
        return gone


def _stamp(run: Pass, kind: Kind) -> tuple[int, int]:
    """What a failure depends on: a pod that failed fails again while this is the same, since hosts only fill up."""
    versions = 0
    trial: Kind | None = kind
    while trial is not None:
        versions += sum(use.group.version for use in trial.zones) + sum(use.group.version for use in trial.hosts)
        trial = trial.next
    return run.epoch, versions
