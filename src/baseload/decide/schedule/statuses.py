"""What filters say: the reasons for which a node does not take a pod, and whether preemption could help (3)."""

from dataclasses import dataclass
from typing import Final

NODE_UNSCHEDULABLE: Final = "NodeUnschedulable"
NODE_NAME: Final = "NodeName"
TAINT_TOLERATION: Final = "TaintToleration"
NODE_AFFINITY: Final = "NodeAffinity"
NODE_PORTS: Final = "NodePorts"
NODE_RESOURCES_FIT: Final = "NodeResourcesFit"
VOLUME_RESTRICTIONS: Final = "VolumeRestrictions"
NODE_VOLUME_LIMITS: Final = "NodeVolumeLimits"
VOLUME_BINDING: Final = "VolumeBinding"
VOLUME_ZONE: Final = "VolumeZone"
POD_TOPOLOGY_SPREAD: Final = "PodTopologySpread"
INTER_POD_AFFINITY: Final = "InterPodAffinity"
DEFAULT_PREEMPTION: Final = "DefaultPreemption"
FILTERS: Final = (
    NODE_UNSCHEDULABLE,
    NODE_NAME,
    TAINT_TOLERATION,
    NODE_AFFINITY,
    NODE_PORTS,
    NODE_RESOURCES_FIT,
    VOLUME_RESTRICTIONS,
    NODE_VOLUME_LIMITS,
    VOLUME_BINDING,
    VOLUME_ZONE,
    POD_TOPOLOGY_SPREAD,
    INTER_POD_AFFINITY,
)
"""In the order in which a node is asked"""


@dataclass(frozen=True, slots=True)
class Status:
    """A filter's no. `resolvable`: removing pods from the node might help."""

    plugin: str
    reasons: tuple[str, ...]
    resolvable: bool


def _no(plugin: str, *reasons: str, resolvable: bool = False) -> Status:
    return Status(plugin, reasons, resolvable)


UNSCHEDULABLE: Final = _no(NODE_UNSCHEDULABLE, "node(s) were unschedulable")
OTHER_NAME: Final = _no(NODE_NAME, "node(s) didn't match the requested node name")
UNTOLERATED: Final = _no(TAINT_TOLERATION, "node(s) had untolerated taint(s)")
OTHER_NODE: Final = _no(NODE_AFFINITY, "node(s) didn't match Pod's node affinity/selector")
NOT_LOOKED_AT: Final = _no(NODE_AFFINITY, "node(s) didn't satisfy plugin(s) [NodeAffinity]")
NAMES_CONFLICT: Final = _no(NODE_AFFINITY, "pod affinity terms conflict")
PORT_TAKEN: Final = _no(NODE_PORTS, "node(s) didn't have free ports for the requested pod ports", resolvable=True)
SKEWED: Final = _no(POD_TOPOLOGY_SPREAD, "node(s) didn't match pod topology spread constraints", resolvable=True)
NO_DOMAIN: Final = _no(
    POD_TOPOLOGY_SPREAD, "node(s) didn't match pod topology spread constraints (missing required label)"
)
NOT_NEAR: Final = _no(INTER_POD_AFFINITY, "node(s) didn't match pod affinity rules")
TOO_NEAR: Final = _no(INTER_POD_AFFINITY, "node(s) didn't match pod anti-affinity rules", resolvable=True)
SHUNNED: Final = _no(INTER_POD_AFFINITY, "node(s) didn't satisfy existing pods anti-affinity rules", resolvable=True)
NO_VICTIMS: Final = _no(DEFAULT_PREEMPTION, "No preemption victims found for incoming pod")
NOT_HELPFUL: Final = _no(DEFAULT_PREEMPTION, "Preemption is not helpful for scheduling")
