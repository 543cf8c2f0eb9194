"""Why a pod has no place, or a target does not take it: the closed list that plans draw from."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """The members up to NO_POOL are a target's, the others say why no place is sought at all."""

    TAINT = "UntoleratedTaint"
    REQUIREMENTS = "IncompatibleRequirements"
    TOPOLOGY = "UnsatisfiableTopology"
    RESOURCES = "InsufficientResources"
    OVERDRAWN = "OverdrawnNode"
    HOST_PORT = "HostPortConflict"
    VOLUME_LIMIT = "VolumeLimitExceeded"
    WINDOW = "WithinConsolidateAfter"
    INSTANCE_TYPE = "NoInstanceType"
    OFFERING = "NoOffering"
    LIMITS = "LimitExceeded"
    NODE_LIMIT = "NodeLimitReached"
    MIN_VALUES = "MinValuesNotMet"
    RESERVED = "ReservedOfferingUnavailable"
    EMPTY_POOL = "NoInstanceTypesInPool"
    NO_POOL = "NoNodePool"
    GATED = "SchedulingGated"
    NOT_UNSCHEDULABLE = "NotMarkedUnschedulable"
    NOMINATED = "Nominated"
    DAEMON = "OwnedByDaemonSet"
    STATIC = "OwnedByNode"
    OPTED_OUT = "OptedOut"
    INVALID = "InvalidRequirement"
    VOLUME = "UnusableVolume"
    RESOURCE_CLAIM = "ResourceClaimsIgnored"
    NOT_SYNCED = "ClusterStateNotSynced"
    DROPPED = "NodeClaimDropped"


Why = tuple[Reason, str]
"""a reason, and the same in words that name what is concerned"""

MEANING: Final[Mapping[Reason, str]] = {
    Reason.TAINT: "A taint of the node or NodePool is not tolerated.",
    Reason.REQUIREMENTS: "nodeSelector, node affinity or the place of a volume goes against what the target is.",
    Reason.TOPOLOGY: "A topology spread, pod affinity or pod anti-affinity term leaves no domain.",
    Reason.RESOURCES: "The node has no room, or no instance type is large enough with its daemons.",
    Reason.OVERDRAWN: "The node has less than nothing left of some resource, so it takes no pod at all.",
    Reason.HOST_PORT: "The host port is taken.",
    Reason.VOLUME_LIMIT: "The node's CSI driver attaches no more volumes.",
    Reason.WINDOW: "The pods of the node changed less than consolidateAfter ago, so it takes none that are moved.",
    Reason.INSTANCE_TYPE: "No instance type meets requirements, size and offering at once.",
    Reason.OFFERING: "No available offering is in that zone and of that capacity type.",
    Reason.LIMITS: "What the NodePool's limits leave allows none of the types that would do.",
    Reason.NODE_LIMIT: "The NodePool's limit of nodes is used up.",
    Reason.MIN_VALUES: "Too few different values are left for a requirement with minValues.",
    Reason.RESERVED: "Reserved capacity goes with the pod but none is left, so it waits and does not fall back.",
    Reason.EMPTY_POOL: "The NodePool's own requirements leave no instance type.",
    Reason.NO_POOL: "No dynamic NodePool is ready, so nothing is placed, not even on existing nodes.",
    Reason.GATED: "Scheduling gates hold the pod.",
    Reason.NOT_UNSCHEDULABLE: "The scheduler has not given the pod up.",
    Reason.NOMINATED: "The pod is about to take a preempted place.",
    Reason.DAEMON: "A DaemonSet ties the pod to its node; nodes are planned with room for it.",
    Reason.STATIC: "The pod is a static pod of a node.",
    Reason.OPTED_OUT: "The pod demands that karpenter.sh/nodepool does not exist.",
    Reason.INVALID: "The pod's demands on nodes are not valid.",
    Reason.VOLUME: "A volume claim of the pod is missing, lost, being deleted or not bound as it should be.",
    Reason.RESOURCE_CLAIM: "The pod uses ResourceClaims, which are not looked at (ignoreDraRequests).",
    Reason.NOT_SYNCED: "A NodeClaim is not launched yet, which stops all provisioning.",
    Reason.DROPPED: "The cheapest 600 types do not reach the minValues, so the NodeClaim is not created.",
}
