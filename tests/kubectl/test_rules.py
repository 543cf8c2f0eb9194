"""The rules and required fields of Karpenter's, Argo CD's and Tailscale's kinds, as kubectl tells of them."""

import json
from typing import Any, Final

import pytest

from tests.kubectl import manifests, printed
from tests.kubectl.conftest import Kubectl
from tests.kubectl.recorded import Recorded

REQUIREMENTS: Final = ("spec", "template", "spec", "requirements")
POOL: Final[dict[str, Any]] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [],
            }
        }
    },
}
NODE_CLASS: Final[dict[str, Any]] = {
    "apiVersion": "karpenter.k8s.aws/v1",
    "kind": "EC2NodeClass",
    "metadata": {"name": "default"},
    "spec": {
        "role": "nodes",
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "main"}}],
        "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "main"}}],
    },
}
CONNECTOR: Final[dict[str, Any]] = {
    "apiVersion": "tailscale.com/v1alpha1",
    "kind": "Connector",
    "metadata": {"name": "office"},
    "spec": {"exitNode": True},
}
APPLICATION: Final[dict[str, Any]] = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Application",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "project": "default",
        "source": {"repoURL": "https://example.com/web.git", "path": "deploy"},
        "destination": {"server": "https://kubernetes.default.svc", "namespace": "web"},
    },
}
UNCHECKED: Final = (
    "* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the "
    "existing errors to complete validation"
)


def changed(manifest: dict[str, Any], path: str, value: object) -> str:
    """The manifest as JSON with one field set, or without it where the value is None."""
    tree = json.loads(json.dumps(manifest))
    at = tree
    *above, last = path.split(".")
    for name in above:
        at = at.setdefault(name, {})
    if value is None:
        del at[last]
    else:
        at[last] = value
    return json.dumps(tree)


def required(*requirements: dict[str, Any]) -> str:
    return changed(POOL, "spec.template.spec.requirements", list(requirements))


IN_TEMPLATE: Final = "spec.template.spec"
NEEDS_VALUE: Final = "requirements with operator 'In' must have a value defined"
ONE_NUMBER: Final = "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value"
BROKEN: Final = {
    "a requirement without values": (
        required({"key": "a", "operator": "In", "values": []}),
        f"{IN_TEMPLATE}.requirements: Invalid value: {NEEDS_VALUE}",
    ),
    "a requirement whose values are left out": (
        required({"key": "a", "operator": "Gt"}),
        f'{IN_TEMPLATE}.requirements: Invalid value: "array": no such key: values evaluating rule: {ONE_NUMBER}',
    ),
    "a bound that is no number": (
        required({"key": "a", "operator": "Gt", "values": ["-1"]}),
        f"{IN_TEMPLATE}.requirements: Invalid value: {ONE_NUMBER}",
    ),
    "fewer values than minValues": (
        required({"key": "a", "operator": "In", "values": ["x"], "minValues": 2}),
        f"{IN_TEMPLATE}.requirements: Invalid value: requirements with 'minValues' must have at least that many values "
        "specified in the 'values' field",
    ),
    "a restricted label in a requirement": (
        required({"key": "karpenter.sh/nodepool", "operator": "Exists"}),
        f'{IN_TEMPLATE}.requirements[0].key: Invalid value: "karpenter.sh/nodepool": label "karpenter.sh/nodepool" is '
        "restricted",
    ),
    "a label of the provider's that it does not know": (
        required({"key": "karpenter.k8s.aws/instance-famly", "operator": "Exists"}),
        f'{IN_TEMPLATE}.requirements[0].key: Invalid value: "karpenter.k8s.aws/instance-famly": label domain '
        '"karpenter.k8s.aws" is restricted',
    ),
    "a restricted label of the nodes": (
        changed(POOL, "spec.template.metadata", {"labels": {"kubernetes.io/hostname": "a"}}),
        'spec.template.metadata.labels: Invalid value: label "kubernetes.io/hostname" is restricted',
    ),
    "a budget with a schedule and no duration": (
        changed(POOL, "spec.disruption", {"budgets": [{"nodes": "0", "schedule": "@daily"}]}),
        "spec.disruption.budgets: Invalid value: 'schedule' must be set with 'duration'",
    ),
    "weight on a static pool": (
        changed(json.loads(changed(POOL, "spec.replicas", 1)), "spec.weight", 5),
        "spec: Invalid value: 'weight' is not supported on static NodePools",
    ),
    "an empty group": (
        changed(POOL, f"{IN_TEMPLATE}.nodeClassRef.group", ""),
        f'{IN_TEMPLATE}.nodeClassRef.group: Invalid value: "": group may not be empty',
    ),
    "days in consolidateAfter": (
        changed(POOL, "spec.disruption", {"consolidateAfter": "1d"}),
        'spec.disruption.consolidateAfter: Invalid value: "1d": spec.disruption.consolidateAfter in body should match '
        r"'^(([0-9]+(s|m|h))+|Never)$'",
    ),
    "days in expireAfter": (
        changed(POOL, f"{IN_TEMPLATE}.expireAfter", "30d"),
        f'{IN_TEMPLATE}.expireAfter: Invalid value: "30d": {IN_TEMPLATE}.expireAfter in body should match '
        r"'^(([0-9]+(s|m|h))+|Never)$'",
    ),
    "neither a role nor a profile": (
        changed(NODE_CLASS, "spec.role", None),
        "spec: Invalid value: must specify exactly one of ['role', 'instanceProfile']",
    ),
    "an unknown family in an alias": (
        changed(NODE_CLASS, "spec.amiSelectorTerms", [{"alias": "ubuntu@latest"}]),
        'spec.amiSelectorTerms[0].alias: Invalid value: "ubuntu@latest": family is not supported, must be one of the '
        "following: 'al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025'",
    ),
    "a connector that connects nothing": (
        changed(CONNECTOR, "spec", {}),
        "spec: Invalid value: A Connector needs to have at least one of exit node, subnet router or app connector "
        "configured.",
    ),
    "a hostname for several replicas": (
        changed(CONNECTOR, "spec", {"exitNode": True, "hostname": "office", "replicas": 2}),
        "spec: Invalid value: The hostname field cannot be specified when replicas is greater than 1.",
    ),
}


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: str(case).replace(" ", "-"))
def test_an_object_that_breaks_a_rule_is_refused_in_a_real_server_s_words(kubectl: Kubectl, case: str) -> None:
    manifest, said = BROKEN[case]
    tree = json.loads(manifest)
    head = f'The {tree["kind"]} "{tree["metadata"]["name"]}" is invalid: '
    assert kubectl.refused("apply", "-f", "-", stdin=manifest) == f"{head}{said}\n"


def test_an_application_without_a_project_is_refused(kubectl: Kubectl) -> None:
    said = kubectl.refused("apply", "-f", "-", stdin=changed(APPLICATION, "spec.project", None))
    assert said == 'The Application "web" is invalid: spec.project: Required value\n'


def test_rules_are_not_looked_at_while_something_is_missing(kubectl: Kubectl) -> None:
    broken = changed(json.loads(required({"key": "a", "operator": "In"})), f"{IN_TEMPLATE}.nodeClassRef", None)
    said = kubectl.refused("apply", "-f", "-", stdin=broken)
    assert said == f'The NodePool "default" is invalid: \n* {IN_TEMPLATE}.nodeClassRef: Required value\n{UNCHECKED}\n'


def test_the_node_class_of_a_pool_may_change_but_not_to_another_kind(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=json.dumps(POOL))
    kubectl("apply", "-f", "-", stdin=changed(POOL, f"{IN_TEMPLATE}.nodeClassRef.name", "other"))
    said = kubectl.refused("apply", "-f", "-", stdin=changed(POOL, f"{IN_TEMPLATE}.nodeClassRef.group", "example.com"))
    assert said == (
        f'The NodePool "default" is invalid: {IN_TEMPLATE}.nodeClassRef: Invalid value: '
        "nodeClassRef.group is immutable\n"
    )


def test_a_dynamic_pool_cannot_be_made_static(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=json.dumps(POOL))
    said = kubectl.refused("scale", "nodepool", "default", "--replicas=3")
    assert said == (
        'The NodePool "default" is invalid: spec: Invalid value: Cannot transition NodePool between static (replicas '
        "set) and dynamic (replicas unset) provisioning modes\n"
    )


def test_applied_objects_of_every_kind_are_unchanged_the_second_time(kubectl: Kubectl) -> None:
    documents = "\n".join(map(json.dumps, (POOL, NODE_CLASS, CONNECTOR, APPLICATION)))
    kubectl("apply", "-f", "-", stdin=documents)
    assert kubectl("apply", "-f", "-", stdin=documents).splitlines() == [
        "nodepool.karpenter.sh/default unchanged",
        "ec2nodeclass.karpenter.k8s.aws/default unchanged",
        "connector.tailscale.com/office unchanged",
        "application.argoproj.io/web unchanged",
    ]


CONNECTED: Final = {
    "status": {
        "subnetRoutes": "10.0.0.0/8",
        "isExitNode": True,
        "conditions": [
            {
                "type": "ConnectorReady",
                "status": "True",
                "reason": "ConnectorCreated",
                "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ],
    }
}
SYNCED: Final = {
    "status": {"sync": {"status": "Synced", "revision": "0a1b2c"}, "health": {"status": "Healthy"}},
}


def test_custom_tables_have_the_columns_of_a_real_server(kubectl: Kubectl, recorded: Recorded) -> None:
    for manifest in (POOL, NODE_CLASS, CONNECTOR, APPLICATION):
        kubectl("create", "-f", "-", stdin=json.dumps(manifest))
        kubectl("create", "-f", "-", stdin=changed(manifest, "metadata.name", "second"))
    kubectl("create", "-f", "-", stdin=manifests.NODE_CLAIM)
    kubectl("patch", "connector", "office", "--subresource=status", "--type=merge", "-p", json.dumps(CONNECTED))
    kubectl("patch", "application", "web", "--type=merge", "-p", json.dumps(SYNCED))
    commands = (
        "get connector",
        "get cn office",
        "get applications",
        "get apps -o wide",
        "get nodepool",
        "get nodepool -o wide",
        "get nodeclaim",
        "get ec2nodeclass",
        "get ec2nodeclass -o wide",
        "get app,cn",
    )
    shown = [f"$ kubectl {command}\n{printed.without_ages(kubectl(*command.split()))}" for command in commands]
    recorded("custom-tables.txt", "\n".join(shown))
