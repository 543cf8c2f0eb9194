"""Why a pod has no place, or a target does not take it: the closed list that plans draw from."""

from enum import StrEnum


class Reason(StrEnum):
    """A member's value is what plans print; its docstring-like comment is what the reference page says."""

    # A target refuses the pod.
    TAINT = "UntoleratedTaint"  # a taint of the node or pool is not tolerated
    REQUIREMENTS = "IncompatibleRequirements"  # selector, node affinity or volume against what the target is
    TOPOLOGY = "UnsatisfiableTopology"  # spread, pod affinity or pod anti-affinity
    RESOURCES = "InsufficientResources"  # no room on the node, or no instance type is large enough
    OVERDRAWN = "OverdrawnNode"  # the node has less than nothing left of some resource, so it takes no pod
    HOST_PORT = "HostPortConflict"
    VOLUME_LIMIT = "VolumeLimitExceeded"  # the node's CSI driver attaches no more volumes
    INSTANCE_TYPE = "NoInstanceType"  # no type meets requirements, size and offering at once
    OFFERING = "NoOffering"  # no available offering in that zone and capacity type
    LIMITS = "LimitExceeded"  # the pool's limits leave no type
    NODE_LIMIT = "NodeLimitReached"
    MIN_VALUES = "MinValuesNotMet"
    RESERVED = "ReservedOfferingUnavailable"  # reserved capacity goes with the pod, none is left, so it waits
    EMPTY_POOL = "NoInstanceTypesInPool"  # the pool's requirements leave no type whatever the pod
    NO_POOL = "NoNodePool"  # no dynamic NodePool is ready, so nothing is placed at all
    # No place is sought.
    GATED = "SchedulingGated"
    NOT_UNSCHEDULABLE = "NotMarkedUnschedulable"  # the scheduler has not given the pod up
    NOMINATED = "Nominated"  # about to take a preempted place
    DAEMON = "OwnedByDaemonSet"
    STATIC = "OwnedByNode"
    OPTED_OUT = "OptedOut"  # demands that karpenter.sh/nodepool does not exist
    INVALID = "InvalidRequirement"
    VOLUME = "UnusableVolume"
    RESOURCE_CLAIM = "ResourceClaimsIgnored"  # dynamic resource allocation is not looked at
    NOT_SYNCED = "ClusterStateNotSynced"  # a NodeClaim is not launched yet, which stops all provisioning
    DROPPED = "NodeClaimDropped"  # the cheapest 600 types do not reach the minValues
