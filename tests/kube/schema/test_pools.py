"""Pools, claims, overlays, node classes and buffers keep the rules of their definitions and of Karpenter."""

import json

import pytest

from baseload.kube import manifests
from tests.kube import inputs
from tests.kube.inputs import Object


def requirement(operator: str, *values: str, key: str = "tier", **more: object) -> Object:
    return {"key": key, "operator": operator, "values": list(values), **more}


def of_kind(api_version: str, kind: str, **spec: object) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def node_class(**spec: object) -> Object:
    terms = [{"tags": {"discovery": "x"}}]
    given = {
        "role": "r",
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": terms,
        "securityGroupSelectorTerms": terms,
        **spec,
    }
    return of_kind("karpenter.k8s.aws/v1", "EC2NodeClass", **{k: v for k, v in given.items() if v is not None})


def test_a_pool_without_a_node_class_is_answered_with_the_lines_that_it_lacks() -> None:
    text = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"
    (fault,) = inputs.faults_of(text + "spec: {template: {spec: {requirements: []}}}\n")
    assert str(fault) == "stdin, document 1: NodePool default: spec.template.spec.nodeClassRef: Required value"
    assert fault.mend == (
        "add under spec.template.spec:",
        "      nodeClassRef:",
        "        group: karpenter.k8s.aws",
        "        kind: EC2NodeClass",
        "        name: default",
    )


@pytest.mark.parametrize(("names", "meant"), [(["gpu"], "gpu"), (["a", "b"], "default")])
def test_the_lines_name_the_only_node_class_of_the_input(names: list[str], meant: str) -> None:
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p"}}
    classes = [{**node_class(), "metadata": {"name": name}} for name in names]
    items = [{**pool, "spec": {"template": {"spec": {"requirements": []}}}}, *classes]
    (fault,) = inputs.faults_of(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert fault.mend[-1] == f"        name: {meant}"


@pytest.mark.parametrize("key", ["karpenter.k8s.aws/mine", "karpenter.kwok.sh/mine"])
def test_a_key_in_a_providers_domain_is_a_known_one(key: str) -> None:
    domain = key.partition("/")[0]
    pool = inputs.node_pool(template={"requirements": [requirement("Exists", key=key)]})
    assert inputs.wrong(pool) == [
        f'spec.template.spec.requirements[0].key: Invalid value: "{key}": label domain "{domain}" is restricted'
    ]
    template = {"metadata": {"labels": {key: "a"}}, "spec": inputs.node_pool()["spec"]["template"]["spec"]}  # type: ignore[index]
    (fault,) = inputs.wrong(inputs.with_spec(inputs.node_pool(), {"template": template}))
    assert fault.endswith(f'label domain "{domain}" is restricted')


def test_a_key_that_the_catalogue_carries_is_known() -> None:
    key = "karpenter.kwok.sh/instance-size"
    text = json.dumps(inputs.node_pool(template={"requirements": [requirement("Exists", key=key)]}))
    assert manifests.load(["-"], stdin=text.encode, well_known={key}).found


def test_a_claim_carries_the_label_of_its_node_class() -> None:
    key = "karpenter.k8s.aws/ec2nodeclass"
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    spec = {"nodeClassRef": reference, "requirements": [requirement("In", "default", key=key)]}
    assert inputs.from_objects(of_kind("karpenter.sh/v1", "NodeClaim", **spec)).found


def test_min_values_counts_known_values_only() -> None:
    demanded = requirement("In", "leased", "spot", key="karpenter.sh/capacity-type", minValues=2)
    assert inputs.wrong(inputs.node_pool(template={"requirements": [demanded]})) == [
        "spec.template.spec.requirements[0].minValues: Invalid value: 2: "
        "not enough valid values found in requirement, expected at least 2 of: on-demand, reserved, spot"
    ]


@pytest.mark.parametrize(
    "second", [requirement("In", "b"), requirement("NotIn", "a"), requirement("DoesNotExist"), requirement("Gt", "1")]
)
def test_requirements_that_contradict_each_other_are_bad_input(second: Object) -> None:
    (fault,) = inputs.wrong(inputs.node_pool(template={"requirements": [requirement("In", "a"), second]}))
    assert fault == (
        "spec.template.spec.requirements[1]: contradicts an earlier requirement on tier: no node can satisfy both"
    )


def test_a_label_that_must_be_absent_contradicts_no_list_of_other_values() -> None:
    both = [requirement("NotIn", "a"), requirement("DoesNotExist")]
    assert inputs.from_objects(inputs.node_pool(template={"requirements": both})).warnings == ()


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (requirement("In"), "values: Invalid value: a list: requirements with operator 'In' must have a value defined"),
        (requirement("Gt", "-1"), 'values: Invalid value: "-1": requirements operator'),
        (requirement("Gte", "a"), 'values: Invalid value: "a": requirements operator'),
        (requirement("Lt"), "values: Invalid value: a list: requirements operator"),
        (requirement("Is", "a"), 'operator: Unsupported value: "Is"'),
        (requirement("In", "a", minValues=2), "minValues: Invalid value: 2: requirements with 'minValues'"),
        (requirement("Exists", minValues=51), "minValues: Invalid value: 51:"),
        (requirement("Exists", key="karpenter.sh/nodepool"), "key: Invalid value"),
        (requirement("Exists", key="karpenter.sh/other"), 'key: Invalid value: "karpenter.sh/other": label domain'),
        (requirement("Exists", key="kubernetes.io/hostname"), "key: Invalid value"),
        (requirement("Exists", key="a b"), "key: Invalid value"),
        (requirement("In", "a b"), 'values[0]: Invalid value: "a b": is no label value'),
        (requirement("In", "spto", key="karpenter.sh/capacity-type"), 'values: Unsupported value: "spto": supported'),
    ],
)
def test_requirements_of_a_pool(written: Object, fault: str) -> None:
    (found,) = inputs.wrong(inputs.node_pool(template={"requirements": [written]}))
    assert found.startswith(f"spec.template.spec.requirements[0].{fault}")


def test_bounds_that_cross_are_legal_but_said() -> None:
    both = [requirement("Gt", "4"), requirement("Lt", "5")]
    (warning,) = inputs.from_objects(inputs.node_pool(template={"requirements": both})).warnings
    assert warning.path == "spec.template.spec.requirements[1]"
    assert "no node can satisfy both" in warning.message


def test_at_most_a_hundred_requirements() -> None:
    many = [requirement("Exists", key=f"k{n}") for n in range(101)]
    assert inputs.wrong(inputs.node_pool(template={"requirements": many})) == [
        "spec.template.spec.requirements: Too many: 101: must have at most 100 items"
    ]


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"replicas": 2, "weight": 5}, "spec.weight: Invalid value: 5: 'weight' is not supported on static NodePools"),
        (
            {"replicas": 2, "limits": {"cpu": 5, "nodes": 3}},
            "spec.limits: Invalid value: a map: only 'limits.nodes' is supported on static NodePools",
        ),
        ({"limits": {"cpu": "-5"}}, 'spec.limits.cpu: Invalid value: "-5": must be greater than or equal to 0'),
        (
            {"disruption": {"budgets": [{"nodes": "1", "schedule": "@daily"}]}},
            "spec.disruption.budgets[0]: Invalid value: a map: 'schedule' must be set with 'duration'",
        ),
    ],
)
def test_rules_of_a_pool(spec: Object, fault: str) -> None:
    assert inputs.wrong(inputs.with_spec(inputs.node_pool(), spec)) == [fault]


def test_a_static_pool_may_limit_its_nodes() -> None:
    assert inputs.from_objects(inputs.node_pool(replicas=2, limits={"nodes": 3})).found


def test_labels_of_a_template_are_not_karpenters_own() -> None:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    labels = {"karpenter.sh/nodepool": "x", "team": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"nodeClassRef": reference, "requirements": []}}
    assert inputs.wrong(of_kind("karpenter.sh/v1", "NodePool", template=template)) == [
        'spec.template.metadata.labels["karpenter.sh/nodepool"]: Invalid value: "karpenter.sh/nodepool": '
        'label "karpenter.sh/nodepool" is restricted'
    ]


def test_a_taint_stands_once_over_both_lists() -> None:
    taint = {"key": "a", "effect": "NoSchedule"}
    pool = inputs.node_pool(template={"taints": [taint], "startupTaints": [taint | {"value": "x"}]})
    assert inputs.wrong(pool) == ['spec.template.spec.startupTaints[0]: Duplicate value: "a:NoSchedule"']


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"price": "1", "priceAdjustment": "+5%"}, "spec: Invalid value: a map: cannot set both"),
        ({"capacity": {"cpu": 1}}, "spec.capacity.cpu: Invalid value: 1: invalid resource restricted"),
        ({"priceAdjustment": "5%"}, 'spec.priceAdjustment: Invalid value: "5%"'),
        ({"price": "cheap"}, 'spec.price: Invalid value: "cheap"'),
    ],
)
def test_rules_of_an_overlay(spec: Object, fault: str) -> None:
    (found,) = inputs.wrong(of_kind("karpenter.sh/v1alpha1", "NodeOverlay", requirements=[], **spec))
    assert found.startswith(fault)


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"role": None}, "spec: Invalid value: a map: must specify exactly one of ['role', 'instanceProfile']"),
        ({"instanceProfile": "p"}, "spec: Invalid value: a map: must specify exactly one of"),
        ({"amiSelectorTerms": [{"id": "ami-1"}]}, "spec: Invalid value: a map: must specify amiFamily if"),
        (
            {"amiSelectorTerms": [{"alias": "al2023@x", "id": "ami-1"}]},
            "spec.amiSelectorTerms[0]: Invalid value: a map: 'id'",
        ),
        ({"subnetSelectorTerms": [{}]}, "spec.subnetSelectorTerms[0]: Invalid value: a map: expected at least one"),
        ({"kubelet": {"maxPod": 110}}, 'spec.kubelet.maxPod: unknown field "spec.kubelet.maxPod"'),
        ({"kubelet": {"kubeReserved": {"gpu": "1"}}}, 'spec.kubelet.kubeReserved.gpu: Unsupported value: "gpu"'),
        (
            {"kubelet": {"evictionHard": {"memory.available": "lots"}}},
            'spec.kubelet.evictionHard["memory.available"]: Invalid value: "lots" is not a quantity',
        ),
        (
            {"kubelet": {"evictionHard": {"memory.available": "101%"}}},
            'spec.kubelet.evictionHard["memory.available"]: Invalid value: "101%"',
        ),
        ({"kubelet": {"evictionSoft": {"mem": "1Gi"}}}, 'spec.kubelet.evictionSoft.mem: Unsupported value: "mem"'),
        ({"kubelet": {"kubeReserved": {"cpu": "-1"}}}, 'spec.kubelet.kubeReserved.cpu: Invalid value: "-1"'),
        (
            {"blockDeviceMappings": [{"ebs": {}}]},
            "spec.blockDeviceMappings[0].ebs: Invalid value: a map: snapshotID or",
        ),
        (
            {"blockDeviceMappings": [{"rootVolume": True}] * 2},
            "spec.blockDeviceMappings: Invalid value: a list: must have",
        ),
        ({"tags": {"karpenter.sh/nodepool": "x"}}, 'spec.tags["karpenter.sh/nodepool"]: Invalid value'),
        ({"metadataOptions": {"httpPutResponseHopLimit": 65}}, "spec.metadataOptions.httpPutResponseHopLimit: Invalid"),
    ],
)
def test_rules_of_a_node_class(spec: Object, fault: str) -> None:
    found = inputs.wrong(node_class(**spec))
    assert found[0].startswith(fault)


@pytest.mark.parametrize("max_pods", [110, "min(250, max_pods)"])
def test_max_pods_is_a_number_or_an_expression(max_pods: object) -> None:
    assert inputs.from_objects(node_class(kubelet={"maxPods": max_pods})).found


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"podTemplateRef": {"name": "a"}}, "spec: Invalid value: a map: If podTemplateRef is set"),
        (
            {"podTemplateRef": {"name": "a"}, "replicas": 1, "scalableRef": {"kind": "Deployment", "name": "w"}},
            "spec: Invalid value: a map: You must define either",
        ),
        ({"replicas": -1}, "spec.replicas: Invalid value: -1"),
    ],
)
def test_rules_of_a_buffer(spec: Object, fault: str) -> None:
    (found,) = inputs.wrong(of_kind("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", **spec))
    assert found.startswith(fault)


@pytest.mark.parametrize(
    ("field", "written"), [("price", "9" * 400), ("priceAdjustment", "+" + "9" * 400 + "%"), ("price", "1000001")]
)
def test_a_price_is_one_that_a_machine_can_have(field: str, written: str) -> None:
    overlay = of_kind("karpenter.sh/v1alpha1", "NodeOverlay", requirements=[requirement("Exists")], **{field: written})
    (fault,) = inputs.wrong(overlay, validate="ignore")
    assert fault.startswith(f"spec.{field}: Invalid value:")
    assert fault.endswith("is absurd: at most 1000000")


def test_a_buffer_is_no_larger_than_a_cluster() -> None:
    buffer = of_kind("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", podTemplateRef={"name": "t"}, replicas=2**31 - 1)
    (fault,) = inputs.wrong(buffer)
    assert fault.startswith("spec.replicas: Invalid value: 2147483647: is more than any cluster can hold")


def test_a_buffer_is_no_absurd_share_of_its_workload() -> None:
    workload = {"apiGroup": "apps", "kind": "Deployment", "name": "w"}
    buffer = of_kind("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", scalableRef=workload, percentage=2**31 - 1)
    assert inputs.wrong(buffer, validate="ignore") == [
        "spec.percentage: Invalid value: 2147483647: is absurd: at most 10000"
    ]
