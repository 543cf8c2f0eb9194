"""Many objects of a kind are judged like few: the quick comparison lets nothing through that the slow one refuses."""

import json

from hypothesis import given
from hypothesis import strategies as st

from baseload.kube.schema import definitions, shape
from baseload.kube.schema.gate import Gate
from tests.kube import inputs
from tests.kube.inputs import Object

SCHEMA = definitions.of_kind("v1", "Pod")
assert SCHEMA is not None
GATE = Gate(SCHEMA)

POD: Object = {
    "metadata": {"name": "a", "labels": {"app": "web"}, "managedFields": [{"fieldsV1": {"f:spec": {}}}]},
    "spec": {
        "containers": [
            {"name": "c", "resources": {"requests": {"cpu": 1, "memory": "1Gi"}}, "ports": [{"containerPort": 1}]}
        ],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
        "terminationGracePeriodSeconds": 30,
    },
    "status": {"phase": "Running", "conditions": [{"lastTransitionTime": "2026-01-01T00:00:00Z"}]},
}
ODD: st.SearchStrategy[object] = st.sampled_from(
    ["x", 1, 1.5, True, None, [], {}, ["x"], {"x": 1}, 2**40, "2026-01-01"]
)


@given(inputs.changed(POD, ODD))
def test_what_passes_the_gate_has_the_right_shape(pod: Object) -> None:
    parts = [json.dumps(pod[name]).encode() if name in pod else b"" for name in ("metadata", "spec", "status")]
    if GATE.passes(*parts):
        assert SCHEMA is not None
        assert shape.compare(SCHEMA, pod).findings == []


def test_the_gate_lets_a_right_pod_through() -> None:
    assert GATE.passes(*(json.dumps(POD[name]).encode() for name in ("metadata", "spec", "status")))


def test_a_wrong_one_among_many_is_found() -> None:
    pods = [inputs.pod(f"web-{n}") for n in range(40)]
    pods[30] = inputs.pod("web-30", nodeSelectr={})
    pods[35] = inputs.pod("web-35", priority="high")
    pods[37] = {**inputs.pod("web-37"), "spce": {}}
    assert inputs.wrong(*pods) == [
        'spec.nodeSelectr: unknown field "spec.nodeSelectr"',
        'spec.priority: Invalid value: "high": must be of type integer, not string',
        'spce: unknown field "spce"',
    ]
