"""The disruption plan as a value: which nodes are given up, why, what replaces them, and what kept the others.

Prices are US dollars an hour, a pod is `namespace/name`. `plan.encode_disrupt` turns it into the JSON contract; field
names here are the contract's in snake_case.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, Literal, TypeVar

from baseload.kube.types.meta import Condition
from baseload.plan.provision import PlannedClaim, Rejection
from baseload.values import duration

T = TypeVar("T")
Mode = Literal["compatible", "optimal", "both"]
"""as Karpenter decides; or beyond it; or both, each told apart"""

EMPTY: Final = "Empty"
UNDERUTILIZED: Final = "Underutilized"
DRIFTED: Final = "Drifted"
"""The reasons of what is given up by choice; the forceful ones bring their own"""


class Method(StrEnum):
    """How a command was come to, in the order in which a pass tries them; the forceful ones stand beside a pass."""

    EMPTINESS = "Emptiness"
    STATIC_DRIFT = "StaticDrift"
    DRIFT = "Drift"
    MULTI_NODE = "MultiNodeConsolidation"
    SINGLE_NODE = "SingleNodeConsolidation"
    FORCEFUL = "Forceful"


class Kept(StrEnum):
    """Why a node is kept. Up to SEVERAL_BUDGETS no method considers it, up to NOT_CONSOLIDATABLE some do not."""

    IN_COMMAND = "AlreadyDisrupted"
    UNMANAGED = "NotManaged"
    NO_NODE = "NoNode"
    UNINITIALIZED = "NotInitialized"
    DELETING = "MarkedForDeletion"
    NOMINATED = "Nominated"
    NODE_MARK = "DoNotDisruptNode"
    NO_POOL_LABEL = "NoNodePoolLabel"
    NO_POOL = "NodePoolNotFound"
    POD_MARK = "DoNotDisruptPod"
    BUDGET_OF_PODS = "PodDisruptionBudget"
    SEVERAL_BUDGETS = "SeveralPodDisruptionBudgets"
    STATIC = "StaticNodePool"
    UNKNOWN_TYPE = "InstanceTypeNotFound"
    LABEL = "LabelMissing"
    NEVER = "ConsolidationDisabled"
    POLICY = "PolicyWhenEmpty"
    BUFFERED = "BufferPods"
    NOT_CONSOLIDATABLE = "NotConsolidatable"
    NOT_DRIFTED = "NotDrifted"
    BUDGET = "NodePoolBudget"
    REPLICAS = "MoreThanReplicas"
    NODE_LIMIT = "NodeLimitReached"
    NO_READY_POOL = "NoReadyNodePool"
    NO_PLACE = "PodsWithoutPlace"
    SEVERAL_NODES = "MoreThanOneNode"
    NOT_CHEAPER = "NotCheaper"
    MIN_VALUES = "MinValuesNotMet"
    SPOT_GATE = "SpotToSpotDisabled"
    SPOT_TYPES = "TooFewSpotTypes"
    SAME_TYPE = "SameInstanceType"
    SCORE = "ScoreTooLow"
    NO_TYPES = "NoInstanceTypes"
    OVER_LIMIT = "OverLimit"
    ALONE = "OnlyCandidate"
    PREFIX = "OutsideThePrefix"
    NOT_SYNCED = "ClusterStateNotSynced"


KEPT_MEANING: Final[Mapping[Kept, str]] = {
    Kept.IN_COMMAND: "A command that runs gives the node up already.",
    Kept.UNMANAGED: "The node has no NodeClaim, so it is none of Karpenter's.",
    Kept.NO_NODE: "The NodeClaim has no node yet.",
    Kept.UNINITIALIZED: "The node is not initialised.",
    Kept.DELETING: "The node is being deleted.",
    Kept.NOMINATED: "A pending pod is expected on the node.",
    Kept.NODE_MARK: 'The node carries karpenter.sh/do-not-disrupt: "true".',
    Kept.NO_POOL_LABEL: "The node lacks the label of its NodePool.",
    Kept.NO_POOL: "The node's NodePool is not there, of another provider, or has no instance types.",
    Kept.POD_MARK: "A pod on the node is protected by karpenter.sh/do-not-disrupt.",
    Kept.BUDGET_OF_PODS: "A PodDisruptionBudget lets no pod go that is on the node.",
    Kept.SEVERAL_BUDGETS: "Several PodDisruptionBudgets guard one pod on the node, which no eviction gets through.",
    Kept.STATIC: "The NodePool has a fixed number of nodes; of those only drifted ones are replaced.",
    Kept.UNKNOWN_TYPE: "The catalogue does not know the node's instance type, so it has no price.",
    Kept.LABEL: "The node lacks the label of its capacity type or zone, so it has no price.",
    Kept.NEVER: "The NodePool says consolidateAfter: Never.",
    Kept.POLICY: "The NodePool says WhenEmpty, and the node is not empty.",
    Kept.BUFFERED: "Pods of a CapacityBuffer are planned on the node.",
    Kept.NOT_CONSOLIDATABLE: "The NodeClaim is not Consolidatable: mostly it is within its consolidateAfter.",
    Kept.NOT_DRIFTED: "The NodeClaim has not drifted.",
    Kept.BUDGET: "The NodePool's disruption budgets let no more nodes go now.",
    Kept.REPLICAS: "The static NodePool has more nodes than replicas, which is mended first.",
    Kept.NODE_LIMIT: "The static NodePool's limit of nodes leaves no room for a replacement.",
    Kept.NO_READY_POOL: "No dynamic NodePool is ready, without which nothing is simulated.",
    Kept.NO_PLACE: "Some of its pods would find no place.",
    Kept.SEVERAL_NODES: "Its pods would need more than one new node.",
    Kept.NOT_CHEAPER: "No instance type that would do is certain to be cheaper.",
    Kept.MIN_VALUES: "The cheaper instance types do not reach the NodePool's minValues.",
    Kept.SPOT_GATE: "It is spot, and SpotToSpotConsolidation is off.",
    Kept.SPOT_TYPES: "Fewer than 15 cheaper spot instance types are left to choose from.",
    Kept.SAME_TYPE: "Together they would become what one of them is, at no lower price.",
    Kept.SCORE: "The policy Balanced wants a larger saving for what is disrupted.",
    Kept.NO_TYPES: "The requirements of the NodePool leave no instance type to launch.",
    Kept.OVER_LIMIT: "The NodePool has more than its limits already, so no replacement is created.",
    Kept.ALONE: "Multi-node consolidation needs two candidates at least.",
    Kept.PREFIX: "Multi-node consolidation tries only the first of its ranking together, this node not among them.",
    Kept.NOT_SYNCED: "A NodeClaim is not launched yet, which stops all disruption.",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that a command gives up."""

    node: str
    node_claim: str
    node_pool: str
    disruption_cost: float
    price_per_hour: float  # 0 where it is not known
    instance_type: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a pod of a candidate would go: a node, or a replacement of the plan by its name."""

    pod: str
    to: str


@dataclass(frozen=True, slots=True)
class Command:
    """What is started at once: nodes that go, and what is launched before they do."""

    reason: str
    method: Method
    candidates: tuple[Candidate, ...]
    replacements: tuple[PlannedClaim, ...] = ()
    pods: tuple[Moved, ...] = ()
    savings_per_hour: float = 0.0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A node that no method considered."""

    node: str
    reason: Kept
    message: str


@dataclass(frozen=True, slots=True)
class Tried:
    """A node that a method considered and kept; `pods` are those in the way, `rejections` why, where asked for."""

    node: str
    method: Method
    reason: Kept
    message: str
    pods: tuple[str, ...] = ()
    rejections: tuple[tuple[str, tuple[Rejection, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimStep:
    """What the lifecycle step did to a NodeClaim; `deleted` says why it goes, where it does."""

    name: str
    deleted: str | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class DrainStep:
    """The next step of draining the nodes that terminate; a pod that is deleted gets so many seconds of grace."""

    evict: tuple[str, ...] = ()
    delete: tuple[tuple[str, int], ...] = ()


NO_DRAIN: Final = DrainStep()


@dataclass(frozen=True, slots=True)
class Offering:
    instance_type: str
    zone: str
    capacity_type: str


@dataclass(frozen=True, slots=True)
class DisruptPlan:
    """What one pass would start now."""

    commands: tuple[Command, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    tried: tuple[Tried, ...] = ()
    node_claims: tuple[ClaimStep, ...] = ()
    drain: DrainStep = NO_DRAIN
    unavailable_offerings: tuple[Offering, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def savings_per_hour(self) -> float:
        return sum(command.savings_per_hour for command in self.commands)


class LoopKind(StrEnum):
    """What comes back where disruption goes in circles."""

    SAME_MOVE = "SameMove"
    SAME_PODS = "SamePods"
    LAUNCHED_AGAIN = "LaunchedAgain"
    LAUNCHED_UNUSED = "LaunchedUnused"


LOOP_MEANING: Final[Mapping[LoopKind, str]] = {
    LoopKind.SAME_MOVE: "The same pods leave nodes of the same shapes again and again.",
    LoopKind.SAME_PODS: "Each pod of a workload is moved again and again.",
    LoopKind.LAUNCHED_AGAIN: "Nodes are launched for pods that consolidation has just moved, again and again.",
    LoopKind.LAUNCHED_UNUSED: "Nodes are launched for pods and deleted as empty before any came, again and again.",
}


@dataclass(frozen=True, slots=True)
class Loop:
    """A circle: how often it came round, and how many nanoseconds lie between two times; 0 where time stood still."""

    kind: LoopKind
    about: str  # what comes round, in words that are the same each time
    times: int
    period: int

    @property
    def message(self) -> str:
        every = f", every {duration.format(self.period)}" if self.period else ""
        return f"{self.about}: {self.times} times{every}"


@dataclass(frozen=True, slots=True)
class End:
    """What passes came to. `loop` tells the passes (from 1 on) after which the nodes were alike.

    `repeated` is what came back on the way, be there an end or not.
    """

    nodes: int
    price_per_hour: float
    stable: bool
    loop: tuple[int, int] | None = None
    repeated: tuple[Loop, ...] = ()


@dataclass(frozen=True, slots=True)
class DisruptPasses:
    """Passes one upon the other, until one finds nothing to do."""

    passes: tuple[DisruptPlan, ...]
    end: End

    @property
    def going_round(self) -> tuple[Command, ...]:
        """The commands that lead from the nodes to these nodes again; none where passes end."""
        if self.end.loop is None:
            return ()
        since, until = self.end.loop
        return tuple(command for plan in self.passes[since:until] for command in plan.commands)


@dataclass(frozen=True, slots=True)
class Outlay:
    """What a mode comes to: dollars an hour for all nodes, nodes, and how many pods were moved to get there."""

    price_per_hour: float
    nodes: int
    moves: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both modes on one cluster. No end in which the pods that run go on running costs less than `bound`."""

    before: float
    compatible: Outlay
    optimal: Outlay
    bound: float

    @property
    def above_bound(self) -> float | None:
        """How much dearer than the bound the optimal mode's end is, as a share of the bound."""
        return self.optimal.price_per_hour / self.bound - 1 if self.bound > 0 else None


@dataclass(frozen=True, slots=True)
class Compared(Generic[T]):
    """The plan of each mode, and how they compare."""

    compatible: T
    optimal: T
    comparison: Comparison
