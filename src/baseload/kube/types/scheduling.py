"""Readings of the scheduling group."""

from baseload.kube.types.meta import ObjectMeta, Wire


class PriorityClass(Wire, frozen=True):
    metadata: ObjectMeta
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""
