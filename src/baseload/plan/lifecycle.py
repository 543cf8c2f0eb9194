"""What is to be done next for a NodeClaim, its Node and its pods, as values that an executor carries out."""

from dataclasses import dataclass, field
from typing import Literal

from baseload.kube.types.core import Node, Pod
from baseload.kube.types.karpenter import NodeClaim
from baseload.values.duration import MINUTE

Kind = Literal["Normal", "Warning"]


@dataclass(frozen=True, slots=True)
class Told:
    """An event: what happened to an object, in Karpenter's words.

    `quiet` is how long another one of the same reason about the same object is kept back, whatever its words unless
    each is told by itself; `is_paced` says that it counts against the rate of nominations.
    """

    reason: str
    message: str
    type: Kind = "Normal"
    quiet: int = 2 * MINUTE
    is_paced: bool = False
    each_by_words: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """What a look at a claim comes to: the objects as they should be, or the end of the claim.

    `node` is None where nothing of the Node changes. `deletion` names why the claim is to go, "" where it stays.
    `again` is when to look again, in nanoseconds from now, where nothing else would cause a look.
    """

    claim: NodeClaim
    node: Node | None = None
    deletion: str = ""
    again: int | None = None
    told: tuple[Told, ...] = ()


@dataclass(frozen=True, slots=True)
class Drain:
    """One step of a drain: who is evicted, who is deleted with so many seconds of grace, and how many are left.

    `held` are pods that the drain waits for and does not touch: protected ones.
    """

    evict: tuple[Pod, ...] = ()
    delete: tuple[tuple[Pod, int], ...] = ()
    held: tuple[Pod, ...] = ()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class LaunchPool:
    """Instance types that may be launched in one subnet with one image."""

    subnet: str
    image: str
    types: tuple[str, ...]  # cheapest first


@dataclass(frozen=True, slots=True)
class Launch:
    """A request for one machine: what may be taken, and how to choose."""

    capacity_type: Literal["on-demand", "spot"]
    pools: tuple[LaunchPool, ...]
    security_groups: tuple[str, ...] = ()
    instance_profile: str = ""
    user_data: str = ""
    tags: dict[str, str] = field(default_factory=dict)
