"""Which nodes may be given up, and for each of the others the first thing that forbids it (disruption spec 8).

Node checks come first and hold for every method. Checks of pods hold for the graceful methods; drift passes over them
where the NodeClaim itself has a grace period, which ends whatever its pods do.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt import costs
from baseload.decide.disrupt.guards import Block, Guards
from baseload.decide.provision.pods import DO_NOT_DISRUPT, is_reschedulable
from baseload.decide.provision.pools import is_supported
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.statenode import StateNode
from baseload.model.view import View
from baseload.plan.disrupt import Kept
from baseload.values.label import CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL


@dataclass(frozen=True, eq=False)
class Candidate:
    """A node that may be given up, as far as the node itself goes."""

    state: StateNode
    claim: NodeClaim
    pool: NodePool
    table: InstanceTypes
    pods: tuple[Pod, ...]  # all that are bound and not finished
    held: tuple[Kept, str, str] | None  # what forbids a graceful disruption: reason, words, the pod
    now: int

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def pool_name(self) -> str:
        return self.pool.metadata.name

    @property
    def instance_type(self) -> str:
        return self.state.labels.get(INSTANCE_TYPE, "")

    @property
    def capacity_type(self) -> str:
        return self.state.labels.get(CAPACITY_TYPE, "")

    @cached_property
    def type_mask(self) -> int:
        """The node's type in its pool's table; 0 where it is unknown."""
        return costs.place_of(self.table, self.instance_type)

    @cached_property
    def reschedulable(self) -> tuple[Pod, ...]:
        """The pods that would come up elsewhere."""
        return tuple(filter(is_reschedulable, self.pods))

    @cached_property
    def price(self) -> float:
        return costs.of_node(self.state.labels, self.table) or 0.0

    @cached_property
    def move_cost(self) -> float:
        return costs.of_move(self.reschedulable)

    @property
    def is_empty(self) -> bool:
        return costs.is_empty(self.move_cost)

    @property
    def disruption_cost(self) -> float:
        return costs.of_disruption(self.pods, self.claim, self.now)

    @property
    def rank(self) -> tuple[float, str]:
        """The dearer for what it disrupts, the earlier (9.6); names break ties."""
        return -self.price / self.move_cost, self.name

    @property
    def has_grace_period(self) -> bool:
        """Whether its end is certain, which waives what pods say against drift."""
        return bool(self.claim.spec.termination_grace_period)


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """A node that was looked at: a candidate, or what forbids that any method considers it."""

    state: StateNode
    candidate: Candidate | None
    block: Block | None


@dataclass(frozen=True, slots=True)
class Busy:
    """Nodes that are taken: by commands that run, and by pending pods that are expected there."""

    in_command: Collection[str] = ()
    nominated: Collection[str] = ()


NOBODY_BUSY: Final = Busy()


class Survey:
    """Looks at the nodes of a view."""

    def __init__(self, view: View, tables: Mapping[str, InstanceTypes], now: int, busy: Busy = NOBODY_BUSY) -> None:
        self._view: Final = view
        self._tables: Final = tables
        self._now: Final = now
        self._busy: Final = busy
        self._guards: Final = Guards(view, now)
        self._pools: Final = {pool.metadata.name: pool for pool in view.node_pools if is_supported(pool)}

    def looked(self) -> Iterator[Looked]:
        """Every node that Karpenter tracks, by name."""
        for state in sorted(self._view.state_nodes, key=lambda state: state.name):
            if (block := self._block(state)) is not None:
                yield Looked(state, None, block)
            else:
                yield Looked(state, self._candidate(state), None)

    def _candidate(self, state: StateNode) -> Candidate:
        assert state.node is not None
        assert state.claim is not None
        pods = self._view.pods_on.get(state.node.metadata.name, ())
        pool = self._pools[state.pool]
        table = self._tables[state.pool]
        return Candidate(state, state.claim, pool, table, pods, self._guards.block(pods), self._now)

    def _block(self, state: StateNode) -> Block | None:
        """What forbids that the node is given up, whatever its pods say; checks in Karpenter's order."""
        if state.name in self._busy.in_command:
            return Kept.IN_COMMAND, "a command that runs gives it up already"
        if state.claim is None:
            return Kept.UNMANAGED, "it has no NodeClaim, so Karpenter does not manage it"
        if state.node is None:
            return Kept.NO_NODE, f"NodeClaim {state.claim.metadata.name} has no node yet"
        return self._of_managed(state) or self._of_pool(state)

    def _of_managed(self, state: StateNode) -> Block | None:
        assert state.node is not None
        if not state.initialized:
            return Kept.UNINITIALIZED, "it is not initialised"
        if state.marked_for_deletion:
            return Kept.DELETING, "it is being deleted"
        if state.name in self._busy.nominated:
            return Kept.NOMINATED, "a pending pod is expected on it"
        if state.node.metadata.annotations.get(DO_NOT_DISRUPT) == "true":
            return Kept.NODE_MARK, f'it carries the annotation {DO_NOT_DISRUPT}: "true"'
        return None

    def _of_pool(self, state: StateNode) -> Block | None:
        name = state.labels.get(NODEPOOL)
        if name is None:
            return Kept.NO_POOL_LABEL, f"it lacks the label {NODEPOOL}"
        if name not in self._pools:
            return Kept.NO_POOL, f"NodePool {name} is not there, or of a provider that is not known"
        table = self._tables.get(name)
        if table is None or not table.names:
            return Kept.NO_POOL, f"NodePool {name} has no instance types"
        return None
