"""Equal pods are one kind: namespace, labels, what they ask for and demand; work is done per kind, not per pod."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from baseload.decide.schedule.asks import Ask
from baseload.decide.schedule.demands import Demands, Near

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Carried:
    """A term by which a pod that runs attracts others or keeps them off; weight 0 is required anti-affinity."""

    term: Near
    weight: int  # negative: keeps off


@dataclass(eq=False, slots=True)
class Kind:
    """What pods of one origin have alike. By identity: `Cluster.kind` makes one of equal ones."""

    namespace: str
    labels: Mapping[str, str]
    key: Labels
    ask: Ask
    demands: Demands
    carried: tuple[Carried, ...] = field(default=())


def carried_by(demands: Demands, hard_weight: int) -> tuple[Carried, ...]:
    """The terms by which a pod acts on those that come after it (3.8, 4.11)."""
    against = tuple(Carried(term, 0) for term in demands.anti_affinity)
    required = tuple(Carried(term, hard_weight) for term in demands.affinity if hard_weight)
    wanted = tuple(Carried(term, weight) for weight, term in demands.preferred_affinity)
    unwanted = tuple(Carried(term, -weight) for weight, term in demands.preferred_anti_affinity)
    return (*against, *required, *wanted, *unwanted)


@dataclass(eq=False, slots=True)
class Pod:
    """A pod that is bound, assumed to be, or nominated."""

    uid: str
    namespace: str
    name: str
    kind: Kind
    priority: int = 0
    started: str = ""
    """status.startTime; of pods that have none yet, later than all"""
    is_terminating: bool = False
    is_preempted: bool = False
    """Terminating because the scheduler preempted it"""
    claims: tuple[str, ...] = ()
    made_claims: tuple[str, ...] = ()
    """Those of `claims` that are made with the pod"""
    node: str = ""
