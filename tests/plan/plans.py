"""Hand-made plans: what a decision could come to, without one."""

from dataclasses import replace
from typing import Final

from baseload.plan.provision import (
    Buffer,
    Demand,
    Expanded,
    Fix,
    Nearest,
    Placement,
    PlannedClaim,
    ProvisionPlan,
    Rejection,
    StaticPool,
    Unschedulable,
)
from baseload.plan.reason import Reason
from baseload.values.quantity import MILLI, UNIT
from baseload.values.requirement import Requirement
from baseload.values.taint import Taint

MI: Final = 2**20 * UNIT

CLAIM: Final = PlannedClaim(
    name="default-1",
    node_pool="default",
    instance_type="c5.2xlarge",
    zone="us-east-1a",
    capacity_type="spot",
    price_per_hour=0.1496,
    estimated=True,
    labels={"karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "c5.2xlarge"},
    annotations={},
    taints=(Taint("team", "a", "NoSchedule"), Taint("boot", "", "NoExecute")),
    startup_taints=(Taint("boot", "", "NoExecute"),),
    requests={"cpu": 7500 * MILLI, "memory": 5120 * MI, "pods": 5 * UNIT},
    allocatable={"cpu": 7910 * MILLI, "memory": 14162 * MI, "pods": 58 * UNIT},
    fill={"cpu": 7500 / 7910, "memory": 5120 / 14162, "pods": 5 / 58},
    binding="cpu",
    requirements=(
        Requirement.of("karpenter.sh/capacity-type", "In", ["spot"]),
        Requirement.of("karpenter.k8s.aws/instance-cpu", "Gt", ["7"]),
    ),
    instance_types=("c5.2xlarge", "m5.2xlarge"),
    prices=(0.1496, 0.1766),
    estimates=(True, True),
    pods=tuple(f"default/inflate-x{number}" for number in range(1, 6)),
)

CONFLICT: Final = (
    Demand("Pod default/far-1", 'spec.nodeSelector["zone"]', "zone", "In", ("us-east-1f",)),
    Demand("NodePool default", "spec.template.spec.requirements[0]", "zone", "In", ("us-east-1a", "us-east-1b")),
)

FAR: Final = Unschedulable(
    pod="default/far-1",
    reason=Reason.REQUIREMENTS,
    message="no NodePool may launch in us-east-1f",
    conflict=CONFLICT,
    nearest=Nearest("nodePool/default", {"zone": "In [us-east-1f]"}),
    fix=Fix("Pod default/far-1", 'spec.nodeSelector["zone"]', "us-east-1f", "us-east-1a"),
    rejections=(Rejection("nodePool/default", Reason.REQUIREMENTS, "key zone"),),
)


def far(number: int) -> Unschedulable:
    """Another pod that fails as `FAR` does."""
    name = f"default/far-{number}"
    assert FAR.fix is not None
    return replace(
        FAR,
        pod=name,
        conflict=(replace(CONFLICT[0], object=f"Pod {name}"), CONFLICT[1]),
        fix=replace(FAR.fix, object=f"Pod {name}"),
    )


def plan(*claims: PlannedClaim, unschedulable: tuple[Unschedulable, ...] = ()) -> ProvisionPlan:
    """A plan with these nodes, on which their pods are placed, and these pods without a place."""
    placements = tuple(Placement(pod, node_claim=claim.name) for claim in claims for pod in claim.pods)
    pods = len(placements) + len(unschedulable)
    return ProvisionPlan(placements, claims, unschedulable, (), (), (), pods)


FULL: Final = replace(
    plan(CLAIM, unschedulable=(FAR, far(2))),
    placements=(*plan(CLAIM).placements, Placement("default/small", node="node-a")),
    static_pools=(StaticPool("fixed", 2), StaticPool("shrinking", -1)),
    buffers=(Buffer("default/spare", 3, "RequiresNewCapacity"),),
    expanded=(Expanded("Deployment default/inflate", CLAIM.pods),),
    pods=8,
    notes=("daemons use more than they request",),
)
"""a plan with something in every list"""
