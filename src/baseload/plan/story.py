"""One pod's whole story as a value: what it asks for, where it goes or why it goes nowhere, and what else was open."""

from dataclasses import dataclass

from baseload.plan.provision import PlannedClaim, Rejection, Unschedulable


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that a pod asks of the place where it runs, and the field that says so."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """Where the pod goes when its place cannot be had: a node, or a NodeClaim; neither means nowhere."""

    without: str  # nodePool/NAME or node/NAME
    node: str | None = None
    claim: PlannedClaim | None = None
    rejections: tuple[Rejection, ...] = ()  # why not, where it goes nowhere


@dataclass(frozen=True, slots=True)
class PodStory:
    """At most one of `runs_on`, `node`, `claim` and `unschedulable` is there, except for a pod that has to move."""

    pod: str
    phase: str
    workload: str | None  # for which the pod was made
    requests: dict[str, int]
    asks: tuple[Ask, ...]
    runs_on: str | None = None
    node: str | None = None  # where it is placed: a node that is there
    claim: PlannedClaim | None = None  # where it is placed: a node to launch
    unschedulable: Unschedulable | None = None
    refusals: tuple[Rejection, ...] = ()  # nodes that are there and did not take a pod for which one is launched
    alternative: Alternative | None = None
