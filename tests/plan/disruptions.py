"""Hand-made disruption plans: what a decision could come to, without one."""

from dataclasses import replace
from typing import Final

from baseload.kube.types.meta import Condition
from baseload.plan.disrupt import (
    Candidate,
    ClaimStep,
    Command,
    Compared,
    Comparison,
    DisruptPasses,
    DisruptPlan,
    DrainStep,
    End,
    Kept,
    Loop,
    LoopKind,
    Method,
    Moved,
    Offering,
    Outlay,
    Skipped,
    Tried,
)
from baseload.plan.provision import Rejection
from baseload.plan.reason import Reason
from baseload.values.duration import SECOND
from tests.plan.plans import CLAIM

BUSY: Final = Candidate("node-a", "nc-a", "default", 5.0, 0.34, "c5.4xlarge")
IDLE: Final = Candidate("node-b", "nc-b", "default", 0.0, 0.17, "c5.2xlarge")

REPLACES: Final = Command(
    reason="Underutilized",
    method=Method.MULTI_NODE,
    candidates=(BUSY, IDLE),
    replacements=(CLAIM,),
    pods=(*(Moved(pod, "default-1") for pod in CLAIM.pods), Moved("default/web-1", "node-c")),
    savings_per_hour=0.3604,
)
EXPIRES: Final = Command("Expired", Method.FORCEFUL, (replace(IDLE, node="node-d", node_claim="nc-d"),))

FULL: Final = DisruptPlan(
    commands=(EXPIRES, REPLACES),
    skipped=(
        Skipped("node-c", Kept.POD_MARK, "pod default/db-0 carries the annotation karpenter.sh/do-not-disrupt"),
        Skipped("node-e", Kept.UNMANAGED, "it has no NodeClaim, so Karpenter does not manage it"),
        Skipped("node-f", Kept.UNMANAGED, "it has no NodeClaim, so Karpenter does not manage it"),
    ),
    tried=(
        Tried("node-g", Method.DRIFT, Kept.NO_PLACE, "not all pods would find a place: default/big", ("default/big",)),
        Tried(
            "node-h",
            Method.SINGLE_NODE,
            Kept.NO_PLACE,
            "not all pods would find a place: default/far",
            ("default/far",),
            (("default/far", (Rejection("nodePool/default", Reason.LIMITS, "cpu 1 left"),)),),
        ),
    ),
    node_claims=(
        ClaimStep("nc-d", "Expired", (Condition(type="Initialized", status="True", reason="Initialized"),)),
        ClaimStep("nc-x", "launch_timeout"),
    ),
    drain=DrainStep(("default/old-1", "default/old-2"), (("default/slow", 20),)),
    unavailable_offerings=(Offering("c5.2xlarge", "us-east-1a", "spot"),),
    notes=("something is odd",),
)
KEEPS: Final = DisruptPlan(tried=(Tried("node-c", Method.SINGLE_NODE, Kept.NOT_CHEAPER, "nothing is cheaper"),))
PASSES: Final = DisruptPasses((replace(FULL, skipped=(), tried=()), KEEPS), End(2, 0.3196, True))
LOOPS: Final = DisruptPasses((FULL, FULL, FULL), End(4, 1.0, False, (1, 2)))

COMES_BACK: Final = Loop(LoopKind.SAME_PODS, "the pods of default/Deployment/web move", 4, 90 * SECOND)
CIRCLES: Final = replace(LOOPS, end=replace(LOOPS.end, repeated=(COMES_BACK,)))
BOTH: Final = Compared(
    PASSES, replace(PASSES, end=End(2, 0.2, True)), Comparison(0.68, Outlay(0.3196, 2, 3), Outlay(0.2, 2, 5), 0.16)
)
ONE_PASS: Final = Compared(
    KEEPS, replace(FULL, skipped=(), tried=()), Comparison(0.5, Outlay(0.5, 3, 0), Outlay(0.3, 2, 4), 0.0)
)
