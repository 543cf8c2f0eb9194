"""One node's story as a value: whether it is given up, what blocks that, and the nearest change that would free it.

`plan.encode_node_story` turns it into JSON. Prices are US dollars an hour, moments RFC 3339.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from baseload.plan.disrupt import Command, Kept, Method
from baseload.plan.provision import Field, Fix, Rejection


class Verdict(StrEnum):
    """What a method does with the node."""

    TAKEN = "Disrupted"  # in this pass
    LATER = "Possible"  # it could, but this pass ends with another command, or its turn does not come
    KEPT = "Kept"  # it looked at it, and found that it has to stay
    PASSED_OVER = "NotConsidered"


@dataclass(frozen=True, slots=True)
class Rule:
    """A field of the user's objects that decides, what it holds, and the numbers that it is held against.

    `until`: when it ceases to hold by itself. `written_in`: the workload's field that it comes from.
    """

    object: str
    path: str
    value: Field
    facts: Mapping[str, Field] = field(default_factory=dict)
    until: str | None = None
    written_in: str | None = None


@dataclass(frozen=True, slots=True)
class Wall:
    """What keeps the node: the reason, the rules behind it, the pods in the way and who refused them."""

    reason: Kept
    message: str
    rules: tuple[Rule, ...] = ()
    pods: tuple[str, ...] = ()
    facts: Mapping[str, Field] = field(default_factory=dict)
    rejections: tuple[tuple[str, tuple[Rejection, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class MethodStory:
    """One method. `command` is what it starts or could start; `message` why it does not start it in this pass."""

    method: Method
    verdict: Verdict
    wall: Wall | None = None
    command: Command | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """Fields to change, and what then becomes of the node: proved by deciding again.

    Where no single field frees it, they are several, none of which can be left out. `written_in`: for each fix the
    field of the workload that its pod has it from, where there is one.
    """

    fixes: tuple[Fix, ...]
    method: Method
    command: Command
    written_in: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """A moment at which the node is free without any change, if nothing else happens."""

    until: str
    message: str
    method: Method
    command: Command


@dataclass(frozen=True, slots=True)
class Taker:
    """A way in which the node may go, whatever protects its pods."""

    how: str  # Expiration | Interruption | NodeRepair | Drift | ManualDeletion
    is_possible: bool
    message: str
    rule: Rule | None = None
    when: str | None = None  # the moment, where there is one


@dataclass(frozen=True, slots=True)
class PendingPod:
    """A pod that was pending before any move, which every simulation takes along.

    It vetoes nothing, but may take the room. `is_in_the_way`: without it the node would be free; None where that was
    not tried.
    """

    pod: str
    is_in_the_way: bool | None


@dataclass(frozen=True, slots=True)
class NodeStory:
    """`forced` is the command that takes the node without asking; `note` stops the whole pass."""

    node: str
    node_claim: str | None
    node_pool: str | None
    instance_type: str
    capacity_type: str
    zone: str
    price_per_hour: float
    now: str
    is_candidate: bool
    pods: tuple[str, ...]  # that would have to move
    methods: tuple[MethodStory, ...]
    forced: Command | None = None
    walls: tuple[Wall, ...] = ()  # one behind the other, up to the first for which no change is known
    change: Change | None = None
    wait: Wait | None = None
    cost_per_hour: float = 0.0  # of leaving it as it is
    takers: tuple[Taker, ...] = ()
    pending: tuple[PendingPod, ...] = ()
    note: str = ""
    is_cut_short: bool = False  # the input is so large that not every change was tried

    @property
    def taken(self) -> MethodStory | None:
        """The method that gives the node up in this pass."""
        return next((told for told in self.methods if told.verdict is Verdict.TAKEN), None)
