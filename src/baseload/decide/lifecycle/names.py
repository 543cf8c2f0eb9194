"""The keys by which Karpenter's objects speak to one another (disruption and lifecycle spec 1.1, 1.2)."""

from typing import Final

from baseload.kube.types.meta import Taint

FINALIZER: Final = "karpenter.sh/termination"
TERMINATION: Final = "karpenter.sh/nodeclaim-termination-timestamp"
"""The deadline after which nothing may hold the node: an annotation of the NodeClaim"""
DO_NOT_SYNC_TAINTS: Final = "karpenter.sh/do-not-sync-taints"
EXCLUDE_BALANCERS: Final = "node.kubernetes.io/exclude-from-external-load-balancers"

DISRUPTED: Final = Taint(key="karpenter.sh/disrupted", effect="NoSchedule")
UNREGISTERED: Final = Taint(key="karpenter.sh/unregistered", effect="NoExecute")

LAUNCHED: Final = "Launched"
REGISTERED: Final = "Registered"
INITIALIZED: Final = "Initialized"
READY: Final = "Ready"
DRAINED: Final = "Drained"
VOLUMES_DETACHED: Final = "VolumesDetached"
INSTANCE_TERMINATING: Final = "InstanceTerminating"
CONSISTENT: Final = "ConsistentStateFound"
CONSOLIDATABLE: Final = "Consolidatable"
DRIFTED: Final = "Drifted"
DISRUPTION_REASON: Final = "DisruptionReason"
VALIDATED: Final = "ValidationSucceeded"
CLASS_READY: Final = "NodeClassReady"
REGISTRATION_HEALTHY: Final = "NodeRegistrationHealthy"
