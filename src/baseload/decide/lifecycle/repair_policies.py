"""Which conditions of a node mean that it is unwell, as its provider says (disruption and lifecycle spec 27.6)."""

from dataclasses import dataclass
from typing import Final

from baseload.kube.types.karpenter import NodeClassReference
from baseload.values.duration import MINUTE


@dataclass(frozen=True, slots=True)
class Policy:
    """A condition of nodes that is bad in a status, once it has lasted so many nanoseconds."""

    type: str
    status: str
    tolerated: int


AWS: Final = (
    Policy("Ready", "False", 30 * MINUTE),
    Policy("Ready", "Unknown", 30 * MINUTE),
    Policy("AcceleratedHardwareReady", "False", 10 * MINUTE),
    Policy("StorageReady", "False", 30 * MINUTE),
    Policy("NetworkingReady", "False", 30 * MINUTE),
    Policy("KernelReady", "False", 30 * MINUTE),
    Policy("ContainerRuntimeReady", "False", 30 * MINUTE),
)
KWOK: Final = (Policy("Ready", "False", 10 * MINUTE), Policy("Ready", "Unknown", 10 * MINUTE))


def policies_of(ref: NodeClassReference) -> tuple[Policy, ...]:
    """The policies of the provider that a NodeClass is of."""
    return KWOK if ref.group == "karpenter.kwok.sh" else AWS
