"""The claims that a static pool makes of its template (disruption and lifecycle spec 16, 25)."""

from typing import Any

import msgspec

from baseload.decide.lifecycle.creation import claim_from_template
from baseload.decide.provision import pool_hash
from baseload.kube.types.karpenter import NodePool
from baseload.values.label import CORE_WELL_KNOWN


def test_a_claim_of_a_static_pool_says_what_the_template_says_and_leaves_the_type_open() -> None:
    requirements = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "example.com/rack", "operator": "In", "values": ["r2", "r1"]},
    ]
    template = {
        "metadata": {"labels": {"team": "a"}, "annotations": {"note": "x"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": requirements,
            "startupTaints": [{"key": "agent", "effect": "NoSchedule"}],
            "terminationGracePeriod": "1h",
        },
    }
    tree = {"metadata": {"name": "fixed", "uid": "u"}, "spec": {"template": template, "replicas": 2}}
    pool = msgspec.convert(tree, NodePool)

    made: Any = claim_from_template(pool, CORE_WELL_KNOWN)

    assert made["metadata"]["labels"] == {
        "example.com/rack": "r1",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        "karpenter.sh/nodepool": "fixed",
        "team": "a",
    }
    assert made["metadata"]["annotations"] == {"note": "x", **pool_hash.marks(pool)}
    assert made["metadata"]["finalizers"] == ["karpenter.sh/termination"]
    assert {(it["key"], *it["values"]) for it in made["spec"]["requirements"]} == {
        ("example.com/rack", "r1", "r2"),
        ("karpenter.k8s.aws/ec2nodeclass", "default"),
        ("karpenter.sh/capacity-type", "on-demand"),
        ("karpenter.sh/nodepool", "fixed"),
        ("team", "a"),
    }
    assert (made["spec"]["expireAfter"], made["spec"]["terminationGracePeriod"]) == ("720h", "1h")
