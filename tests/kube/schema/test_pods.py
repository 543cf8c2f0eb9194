"""Pods and the workloads that make them keep the rules of the API server that no schema can tell."""

import json

import pytest

from tests.kube import inputs
from tests.kube.inputs import Object

TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "-1"}}}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


def expression(operator: str, *values: str, key: str = "tier") -> Object:
    return {"key": key, "operator": operator, "values": list(values)}


def required(*expressions: Object) -> Object:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


AT = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]"


@pytest.mark.parametrize(
    ("requests", "limits", "fault"),
    [
        ({"cpu": "2"}, {"cpu": "1"}, 'requests.cpu: Invalid value: "2": must be less than or equal to cpu limit of 1'),
        ({"cpu": "100M"}, {}, 'requests.cpu: Invalid value: "100M": is more than any node can have'),
        ({"memory": "2Ei"}, {}, 'requests.memory: Invalid value: "2Ei": is more than any node can have'),
        ({}, {"nvidia.com/gpu": -1}, 'limits["nvidia.com/gpu"]: Invalid value: -1: must be greater than or equal to 0'),
        ({"memroy": "1Gi"}, {}, 'requests: Invalid value: "memroy": must be a standard resource for containers'),
        ({}, {"a b/c": 1}, 'limits: Invalid value: "a b/c": a resource\'s name is at most 63 letters'),
        ({"cpu": "1e30"}, {}, 'requests.cpu: Invalid value: overflow: "1e30" is more than 2^63-1'),
    ],
)
def test_amounts_are_possible(requests: Object, limits: Object, fault: str) -> None:
    pod = inputs.pod(containers=[inputs.container(requests=requests, limits=limits)])
    (found,) = inputs.wrong(pod)
    assert found.startswith(f"spec.containers[0].resources.{fault}")


def test_a_misspelt_resource_is_answered_with_the_one_that_was_meant() -> None:
    pod = inputs.pod(containers=[inputs.container(requests={"memroy": "1Gi"})])
    (fault,) = inputs.faults_of(json.dumps(pod))
    assert fault.allowed == 'did you mean "memory"?'


@pytest.mark.parametrize("replicas", [250_001, 2**31 - 1])
def test_no_workload_asks_for_more_pods_than_a_cluster_can_hold(replicas: int) -> None:
    assert inputs.wrong(inputs.deployment(replicas=replicas), validate="ignore") == [
        f"spec.replicas: Invalid value: {replicas}: is more than any cluster can hold: at most 250000"
    ]


def test_a_namespace_is_one_dns_label() -> None:
    (fault,) = inputs.wrong(inputs.pod(metadata={"namespace": "A B"}))
    assert fault.startswith('metadata.namespace: Invalid value: "A B": a lowercase RFC 1123 label must')


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"containers": []}, "containers: Required value"),
        ({"containers": [inputs.container(), inputs.container()]}, 'containers[1].name: Duplicate value: "c"'),
        ({"volumes": [{"name": "v"}, {"name": "v"}]}, 'volumes[1].name: Duplicate value: "v"'),
        ({"containers": [{**inputs.container(), "name": "C x"}]}, 'containers[0].name: Invalid value: "C x": a lower'),
        ({"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "-1"}}]}, "volumes[0].emptyDir.sizeLimit: Invalid value"),
        (
            {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}]},
            "volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests.storage: Invalid value",
        ),
        ({"nodeSelector": {"tier": "a b"}}, 'nodeSelector.tier: Invalid value: "a b": a label value is'),
        ({"overhead": {"cpu": "-1m"}}, 'overhead.cpu: Invalid value: "-1m": must be greater'),
        ({"affinity": required(expression("Inn"))}, f'{AT}.operator: Unsupported value: "Inn"'),
        ({"affinity": required(expression("In"))}, f"{AT}.values: Required value"),
        ({"affinity": required(expression("Exists", "x"))}, f"{AT}.values: Forbidden"),
        ({"affinity": required(expression("Gt", "1", "2"))}, f"{AT}.values: Required value: must be specified single"),
        ({"affinity": required(expression("Exists", key="a/b/c"))}, f'{AT}.key: Invalid value: "a/b/c"'),
        (
            {
                "affinity": {
                    "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM | {"topologyKey": ""}]}
                }
            },
            "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value",
        ),
        (
            {
                "affinity": {
                    "podAntiAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 0, "podAffinityTerm": TERM}]
                    }
                }
            },
            "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0",
        ),
        ({"tolerations": [{"value": "x"}]}, 'tolerations[0].operator: Invalid value: "Equal": operator must be Exists'),
        (
            {"tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]},
            'tolerations[0].value: Invalid value: "x": value must be empty',
        ),
        ({"tolerations": [{"key": "a", "effect": "NoSchedul"}]}, "tolerations[0].effect: Unsupported value"),
        (
            {"tolerations": [{"key": "a", "tolerationSeconds": 5, "effect": "NoSchedule"}]},
            "tolerations[0].effect: Invalid value",
        ),
        (
            {"topologySpreadConstraints": [SPREAD | {"maxSkew": 0}]},
            "topologySpreadConstraints[0].maxSkew: Invalid value: 0",
        ),
        (
            {"topologySpreadConstraints": [SPREAD | {"whenUnsatisfiable": "Never"}]},
            'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: '
            '"DoNotSchedule", "ScheduleAnyway"',
        ),
        ({"topologySpreadConstraints": [SPREAD, SPREAD]}, "topologySpreadConstraints[1]: Duplicate value"),
        (
            {"topologySpreadConstraints": [SPREAD | {"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"}]},
            "topologySpreadConstraints[0].minDomains: Invalid value: 2",
        ),
        (
            {"topologySpreadConstraints": [SPREAD | {"nodeTaintsPolicy": "Honour"}]},
            "topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value",
        ),
        (
            {"topologySpreadConstraints": [SPREAD | {"labelSelector": {"matchExpressions": [expression("Like")]}}]},
            "topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator: Unsupported value",
        ),
        (
            {"containers": [inputs.container() | {"ports": [{"containerPort": 80, "hostPort": 70000}]}]},
            "containers[0].ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
        ),
    ],
)
def test_what_the_api_server_refuses_of_a_pod(spec: Object, fault: str) -> None:
    (found,) = inputs.wrong(inputs.with_spec(inputs.pod(), spec))
    assert found.startswith(f"spec.{fault}")


@pytest.mark.parametrize(
    "spec",
    [
        {"tolerations": [{"key": "level", "operator": "Gt", "value": "low", "effect": "NoSchedule"}]},
        {"affinity": required(expression("Gt", "high"))},
        {"affinity": required(expression("In", "x", key="karpenter.sh/unheard-of"))},
        {"containers": [inputs.container(requests={"memory": "100m", "example.com/none": 0})]},
        {"topologySpreadConstraints": [SPREAD, SPREAD | {"whenUnsatisfiable": "ScheduleAnyway"}]},
    ],
)
def test_what_only_the_decision_can_judge_is_let_through(spec: Object) -> None:
    assert inputs.from_objects(inputs.with_spec(inputs.pod(), spec)).found


def test_faults_of_a_template_stand_under_the_template() -> None:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [inputs.container(requests={"cpu": "-1"})]},
    }
    assert inputs.wrong(inputs.deployment(template=template)) == [
        "spec.template.spec.containers[0].resources.requests.cpu: "
        'Invalid value: "-1": must be greater than or equal to 0'
    ]


def test_equal_wrong_specs_are_told_of_each_pod() -> None:
    wrong = [inputs.pod(name, overhead={"cpu": "-1"}) for name in "ab"]
    assert len(inputs.wrong(*wrong)) == 2


def test_a_workload_selects_the_pods_it_makes() -> None:
    (fault,) = inputs.wrong(inputs.deployment(selector={"matchLabels": {"app": "other"}}))
    assert fault == (
        'spec.template.metadata.labels: Invalid value: {"app": "web"}: `selector` does not match template `labels`'
    )


def test_counts_are_not_negative() -> None:
    assert inputs.wrong(inputs.deployment(replicas=-1)) == [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    ]


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({"name": "Web_1"}, "metadata.name"),
        ({"labels": {"a/b/c": "x"}}, "metadata.labels"),
        ({"labels": {"a": "x" * 64}}, "metadata.labels.a"),
        ({"annotations": {"a b": "x"}}, "metadata.annotations"),
        ({"creationTimestamp": "yesterday"}, "metadata.creationTimestamp"),
    ],
)
def test_metadata_is_well_formed(metadata: Object, path: str) -> None:
    (fault,) = inputs.wrong(inputs.pod(metadata=metadata))
    assert fault.startswith(f"{path}: Invalid value")


def test_a_budget_names_one_bound() -> None:
    budget: Object = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"}}
    budget["spec"] = {"minAvailable": 1, "maxUnavailable": "half"}
    assert inputs.wrong(budget) == [
        "spec: Invalid value: a map: minAvailable and maxUnavailable cannot be both set",
        'spec.maxUnavailable: Invalid value: "half": must be an integer or a percentage such as 50%',
    ]
